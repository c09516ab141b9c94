"""Report of a demo run: summary.json, map.png, pictures of arrivals, decisions.jsonl and report.md."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lodestar_eval.demo.arrivals import Arrival
from lodestar_eval.demo.film import save_film
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.unfinished import PAGE
from lodestar_eval.map_records import MapPicture
from lodestar_eval.maps import save_map
from lodestar_eval.metrics import spl
from lodestar_eval.registry import Table
from lodestar_eval.report import finite_or_none, markdown_table, number

FILM = "run.gif"
_NAMERS = {
    "measured": "the simulator's labels, with the errors that NanoDet and Objectron's SSD were measured to make",
    "profile": "the simulator's labels",
    "nanodet": "NanoDet and Objectron's SSD",
    "network": "the packaged network",
}
_UNITS = ("m", "s", "mib")  # at the end of names in the summary
_TARGET_COLOR = (214, 69, 69)


def summary_of(record: RunRecord) -> dict[str, Any]:
    """Return the contents of summary.json. distance_m: horizontal, from footprint to the nearest target's
    box.
    """
    path_share = (
        spl(record.success, record.shortest, record.path_length) if np.isfinite(record.shortest) else None
    )
    values = {
        "directive": record.directive, "world": record.world, "seed": record.seed, "success": bool(record.success),
        "claimed_success": bool(record.claimed_success), "distance_m": record.distance,
        "path_length_m": record.path_length, "spl": path_share, "duration_s": record.duration, "wall_s": record.wall,
        "first_decision_s": record.first_decision, "real_time_factor": record.real_time_factor,
        "decisions": record.decisions_by_expert(), "coverage": record.coverage, "collisions": int(record.collisions),
        "peak_pss_mib": record.peak_pss_mib, "error_code": int(record.error_code), "error_msg": record.error_msg,
    }  # fmt: skip
    return {name: _rounded(value) if isinstance(value, float) else value for name, value in values.items()}


def write_demo_report(record: RunRecord, folder: Path, arrivals: Sequence[Arrival]) -> Path:
    """Write all files of the report to `folder`; return the path of the page that joins them."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = summary_of(record)
    (folder / "summary.json").write_text(
        json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )
    with (folder / "decisions.jsonl").open("w", encoding="utf-8") as lines:
        for decision in record.decisions:
            lines.write(json.dumps(decision, ensure_ascii=False) + "\n")
    entities = tuple(record.entities.values())
    picture = MapPicture(
        record.grid, record.path[:, 1:3], record.start, entities, record.goals(), record.targets,
        title=f"“{record.directive}”", subtitle=_subtitle(record, summary),
    )  # fmt: skip
    save_map(picture, folder / "map.png")
    if record.grown:
        save_film(record, folder / FILM)
    pictures = {}
    for place, arrival in enumerate(arrivals, 1):
        name = "arrival.png" if len(arrivals) == 1 else f"arrival_{place}.png"
        save_arrival(arrival, folder / name)
        pictures[name] = arrival.caption
    page = folder / PAGE
    page.write_text(_page(record, summary, pictures, folder), encoding="utf-8")
    return page


def save_arrival(arrival: Arrival, file: Path) -> None:
    """Write the view with the target outlined and a caption below; a small view is enlarged twice."""
    view, mask = arrival.view, arrival.mask
    factor = 2 if view.shape[1] < 800 else 1
    height, width = view.shape[0] * factor, view.shape[1] * factor
    image = cv2.resize(view, (width, height), interpolation=cv2.INTER_CUBIC)
    if mask.any():
        large = cv2.resize(mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)
        contours, _ = cv2.findContours(large, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(image, contours, -1, (255, 255, 255), 6, cv2.LINE_AA)
        cv2.drawContours(image, contours, -1, _TARGET_COLOR, 3, cv2.LINE_AA)
    canvas = Image.new("RGB", (width, height + 46), (31, 41, 51))
    canvas.paste(Image.fromarray(np.ascontiguousarray(image)), (0, 0))
    sizes = map(_font, range(20, 8, -1))
    fits = next((one for one in sizes if one.getlength(arrival.caption) <= width - 32), _font(9))
    ImageDraw.Draw(canvas).text((16, height + 12), arrival.caption, fill=(244, 245, 247), font=fits)
    canvas.save(file)


def closing_lines(record: RunRecord, folder: Path, perception: str, problem: str = "") -> list[str]:
    """Return the closing lines of a run for the screen. problem: error in writing the report, "" = none."""
    named = _NAMERS.get(perception, perception)
    robot = f"The robot says: {record.error_msg}" if record.error_msg and not record.ending else ""
    return [
        " ".join(
            filter(None, (f"{_heading(record)}.", *record.ending.splitlines()[:1], record.verdict, robot))
        ),
        f"It took {record.duration:.0f} s and {record.path_length:.1f} m. {_looked(record)}",
        f"Asked of models: nothing of a language or vision model; {named} named the things.",
        *([problem] if problem else []),
        f"Picture: {folder / 'map.png'}",
        f"Report:  {folder / PAGE} (logs: {folder / 'log'})",
        f"Next:    {next_step(record, folder)}",
    ]


def next_step(record: RunRecord, folder: Path) -> str:
    """Return the command to try next, and why."""
    again = f"make demo DIRECTIVE={shlex.quote(record.directive)} WORLD={record.world} SEED="
    if record.ending:
        return f"{again}{record.seed} (the same again)"
    if record.targets and not record.claimed_entities:
        return f"{again}{record.seed + 1} (in another building)"
    out = "" if folder == Path("out/demo") else f" OUT={folder}"
    return f'make ask QUESTION="what did you do?"{out} (what it remembers)'


def _heading(record: RunRecord) -> str:
    """Return the outcome in a word or two."""
    if record.ending:
        return "Not finished"
    return "Found" if record.success else "Not found"


def _looked(record: RunRecord) -> str:
    """Return a sentence with the area of known floor, the number of things, and the share looked at well."""
    area = 0.0 if record.grid is None else record.grid.free_area
    share = (
        ""
        if np.isnan(record.searched)
        else f"; it looked well at {record.searched:.0%} of what it can come to"
    )
    return f"The robot knows {area:.0f} m² of floor and {len(record.entities)} things{share}."


def _rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the summary as rows of a table: name with unit, and value."""
    rows = []
    for name, value in summary.items():
        stem, _, unit = name.rpartition("_")
        if isinstance(value, dict):
            value = ", ".join(f"{key} {count}" for key, count in value.items())
        said = "–" if value is None else number(value) if isinstance(value, float) else str(value)
        said = ("no", "yes")[value] if isinstance(value, bool) else said
        rows.append(((f"{stem} ({unit})" if unit in _UNITS else name).replace("_", " "), said))
    return rows


def _page(record: RunRecord, summary: dict[str, Any], pictures: dict[str, str], folder: Path) -> str:
    table = Table("Summary", ("", ""), tuple(_rows(summary)))
    lines = [f"# {_heading(record)}: “{record.directive}”", ""]
    ending, _, log = record.ending.partition("\n")
    for text in (ending, f"```\n{log}\n```" if log else "", record.verdict):
        lines += [text, ""] if text else []
    lines += ["## What was looked at", "", _looked(record), ""]
    for told in record.told.splitlines():
        lines += [f"> {told}"]
    rooms: Any = Counter()  # m² by name
    for name, area in record.rooms:
        rooms[name or "a room without a name yet"] += area
    lines += ["", *(f"- {name}: {area:.0f} m²" for name, area in rooms.most_common()), ""]
    lines += markdown_table(table)
    if pictures:
        lines += ["## On arrival", "", "What was meant is outlined, by ground truth.", ""]
        for name, caption in pictures.items():
            lines += [f"![{caption}]({name})", "", caption, ""]
    lines += ["## What it knew and where it went", "", "![Grid, path, entities and goals](map.png)", ""]
    if record.grown:
        lines += [f"![The map as it grew]({FILM})", ""]
    lines += [
        "## Decisions",
        "",
        "Every decision with its context, arms and reward: [decisions.jsonl](decisions.jsonl)",
        "",
        "## Next",
        "",
        f"`{next_step(record, folder)}`; the nodes' logs are in [log](log).",
        "",
    ]
    return "\n".join(lines)


def _subtitle(record: RunRecord, summary: dict[str, Any]) -> str:
    outcome = (
        "claimed, but wrong" if record.claimed_success and not record.success else _heading(record).lower()
    )
    spl_text = f", SPL {summary['spl']:.2f}" if summary["spl"] is not None else ""
    return (
        f"{record.world}, seed {record.seed}: {outcome} after {record.duration:.0f} s and "
        f"{record.path_length:.1f} m{spl_text}"
    )


def _rounded(value: float) -> float | None:
    plain = finite_or_none(value)
    return None if plain is None else round(plain, 3)


def _font(size: int) -> ImageFont.FreeTypeFont:
    from matplotlib import font_manager

    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
