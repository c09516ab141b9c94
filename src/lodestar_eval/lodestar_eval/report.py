"""Writer of a benchmark's report files, NAME.json and NAME.md."""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lodestar_eval.registry import Result, Table


def write_report(
    folder: Path,
    name: str,
    summary: str,
    arguments: Sequence[str],
    options: dict[str, Any],
    machine: dict[str, Any],
    result: Result,
) -> tuple[Path, Path]:
    """Write NAME.json and NAME.md to `folder`. NaN and infinity become null, so that the JSON is strict.

    arguments: as typed, for the page; options: all values, for the JSON.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "benchmark": name,
        "config": {"options": options, **result.config},
        "machine": machine,
        "metrics": {key: finite_or_none(value) for key, value in result.metrics.items()},
        "bars": [
            {"name": bar.name, "value": finite_or_none(bar.value), "bound": bar.bound, "holds": bar.holds}
            for bar in result.bars
        ],
    }
    json_path = folder / f"{name}.json"
    json_path.write_text(json.dumps(data, indent=2, allow_nan=False, default=str) + "\n", encoding="utf-8")
    markdown_path = folder / f"{name}.md"
    markdown_path.write_text(markdown(name, summary, arguments, machine, result), encoding="utf-8")
    return json_path, markdown_path


def write_csv(file: Path, rows: Sequence[Mapping[str, Any]], missing: object = "") -> None:
    """Write rows by column name, with all columns that any row has. missing: value of a column that a row lacks.

    An earlier file stays as it is until the new one is complete.
    """
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), restval=missing)
    writer.writeheader()
    writer.writerows(rows)
    unfinished = file.with_suffix(".part")
    unfinished.write_bytes(out.getvalue().encode())
    unfinished.replace(file)


def markdown(
    name: str, summary: str, arguments: Sequence[str], machine: dict[str, Any], result: Result
) -> str:
    """Return the Markdown report: command, pass thresholds, metrics, tables and pictures."""
    command = shlex.join(["python", "-m", "lodestar_eval", name, *arguments])
    lines = [f"# {name}", "", summary, "", "```", command, "```", ""]
    if result.bars:
        rows = [(b.name, number(b.value), b.rule, "yes" if b.holds else "**no**") for b in result.bars]
        lines += markdown_table(Table("Bars", ("bar", "value", "bound", "holds"), tuple(rows)))
    metrics = tuple((key, number(value)) for key, value in result.metrics.items())
    lines += markdown_table(Table("Metrics", ("metric", "value"), metrics))
    for table in result.tables:
        lines += markdown_table(table)
    for note in result.notes:
        lines += [note, ""]
    for plot in result.plots:
        lines += [f"![{plot.caption}]({plot.file})", "", plot.caption, ""]
    lines += [
        "## Machine",
        "",
        f"{machine.get('processor')}, {machine.get('cores')} cores, {machine.get('memory_gib')} GiB, "
        f"{machine.get('system')}, Python {machine.get('python')}; "
        + ", ".join(f"{key} {value}" for key, value in machine.get("libraries", {}).items()),
        "",
    ]
    return "\n".join(lines)


def markdown_table(table: Table) -> list[str]:
    """Return the lines of one table under its heading."""
    escaped = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in table.rows]
    return [
        f"## {table.title}",
        "",
        "| " + " | ".join(table.columns) + " |",
        "|" + "---|" * len(table.columns),
        *("| " + " | ".join(row) + " |" for row in escaped),
        "",
    ]


def number(value: float) -> str:
    """Return a number with four significant figures, a dash for NaN."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0.0 else "−∞"
    if float(value).is_integer() and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def finite_or_none(value: float) -> float | int | None:
    """Return the value as a plain number; None for NaN and infinity, which JSON lacks."""
    value = value.item() if hasattr(value, "item") else value
    return value if math.isfinite(value) else None
