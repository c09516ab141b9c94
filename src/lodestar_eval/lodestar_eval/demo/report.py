"""summary.json, map.png, pictures of arrivals, decisions.jsonl and report.md of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lodestar_eval.demo.arrivals import Arrival
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.strip import save_strip
from lodestar_eval.demo.unfinished import PAGE
from lodestar_eval.map_records import MapPicture
from lodestar_eval.maps import save_map
from lodestar_eval.metrics import spl
from lodestar_eval.registry import Table
from lodestar_eval.report import finite_or_none, markdown_table, number

STRIP = "strip.png"
_TARGET_COLOR = (214, 69, 69)


def summary_of(record: RunRecord) -> dict[str, Any]:
    """Return the contents of summary.json. distance_m: footprint to the nearest target's box, in plan."""
    measurable = np.isfinite(record.shortest)
    return {
        "directive": record.directive,
        "world": record.world,
        "seed": record.seed,
        "success": bool(record.success),
        "claimed_success": bool(record.claimed_success),
        "distance_m": _rounded(record.distance),
        "path_length_m": _rounded(record.path_length),
        "spl": _rounded(
            spl(record.success, record.shortest, record.path_length) if measurable else float("nan")
        ),
        "duration_s": _rounded(record.duration),
        "wall_s": _rounded(record.wall),
        "first_decision_s": _rounded(record.first_decision),
        "real_time_factor": _rounded(record.real_time_factor),
        "decisions": record.decisions_by_expert(),
        "coverage": _rounded(record.coverage),
        "collisions": int(record.collisions),
        "peak_pss_mib": _rounded(record.peak_pss_mib, 0),
        "error_code": int(record.error_code),
        "error_msg": record.error_msg,
    }


def write_demo_report(record: RunRecord, folder: Path, arrivals: Sequence[Arrival]) -> Path:
    """Write all files of the report to `folder`; return the page that joins them."""
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
        save_strip(record.grown, record.path, record.start, record.targets, record.begun, folder / STRIP)
    pictures = {}
    for place, arrival in enumerate(arrivals, 1):
        name = "arrival.png" if len(arrivals) == 1 else f"arrival_{place}.png"
        save_arrival(arrival, folder / name)
        pictures[name] = arrival.caption
    page = folder / PAGE
    page.write_text(_page(record, summary, pictures), encoding="utf-8")
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
    font = next(
        font
        for font in map(_font, range(20, 0, -1))
        if font.getlength(arrival.caption) <= width - 32 or font.size <= 9
    )
    ImageDraw.Draw(canvas).text((16, height + 12), arrival.caption, fill=(244, 245, 247), font=font)
    canvas.save(file)


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """Return the summary as an aligned table for a terminal."""
    return [f"  {label:<22}{value}" for label, value in _rows(summary)]


def _rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    decisions = ", ".join(f"{name} {count}" for name, count in summary["decisions"].items()) or "none"
    error = f"{summary['error_code']} {summary['error_msg']}".strip() if summary["error_code"] else "none"
    return [
        ("directive", summary["directive"]),
        ("world, seed", f"{summary['world']}, {summary['seed']}"),
        ("success (true)", "yes" if summary["success"] else "no"),
        ("success (claimed)", "yes" if summary["claimed_success"] else "no"),
        ("distance to target", _with_unit(summary["distance_m"], "m")),
        ("path length", _with_unit(summary["path_length_m"], "m")),
        ("SPL", _with_unit(summary["spl"], "")),
        ("simulated time", _with_unit(summary["duration_s"], "s")),
        ("wall time", _with_unit(summary["wall_s"], "s")),
        ("first decision after", _with_unit(summary["first_decision_s"], "s")),
        ("real-time factor", _with_unit(summary["real_time_factor"], "")),
        ("decisions", decisions),
        (
            "coverage",
            "–" if summary["coverage"] is None else f"{100 * summary['coverage']:.0f} % of the floor",
        ),
        ("collisions", str(summary["collisions"])),
        ("peak memory (PSS)", _with_unit(summary["peak_pss_mib"], "MiB")),
        ("error", error),
    ]


def _page(record: RunRecord, summary: dict[str, Any], pictures: dict[str, str]) -> str:
    table = Table("Summary", ("", ""), tuple(_rows(summary)))
    lines = [f"# {'Found' if record.success else 'Not found'}: “{record.directive}”", ""]
    if record.verdict:
        lines += [record.verdict, ""]
    lines += markdown_table(table)
    if pictures:
        lines += ["## On arrival", "", "What was meant is outlined, by ground truth.", ""]
        for name, caption in pictures.items():
            lines += [f"![{caption}]({name})", "", caption, ""]
    lines += ["## What it knew and where it went", "", "![Grid, path, entities and goals](map.png)", ""]
    if record.grown:
        lines += [f"![The map as it grew]({STRIP})", ""]
    lines += [
        "## Decisions",
        "",
        "Every decision with its context, arms and reward: [decisions.jsonl](decisions.jsonl)",
        "",
    ]
    return "\n".join(lines)


def _subtitle(record: RunRecord, summary: dict[str, Any]) -> str:
    outcome = "found" if record.success else ("claimed, but wrong" if record.claimed_success else "not found")
    spl_text = f", SPL {summary['spl']:.2f}" if summary["spl"] is not None else ""
    return (
        f"{record.world}, seed {record.seed}: {outcome} after {record.duration:.0f} s and "
        f"{record.path_length:.1f} m{spl_text}"
    )


def _with_unit(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{number(value)} {unit}".rstrip()


def _rounded(value: float, digits: int = 3) -> float | None:
    plain = finite_or_none(value)
    return None if plain is None else round(plain, digits)


def _font(size: int) -> ImageFont.FreeTypeFont:
    from matplotlib import font_manager

    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
