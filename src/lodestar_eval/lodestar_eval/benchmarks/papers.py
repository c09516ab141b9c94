"""Benchmark: the page that sets recorded figures beside those of the papers that Lodestar combines."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import yaml

from lodestar_eval.metrics import share_interval
from lodestar_eval.registry import BadOptions, Benchmark, Result

FOLDER = Path(__file__).resolve().parents[4] / "docs" / "measurements"
PAGE, SOURCE = "papers.md", "papers.yaml"
_AGE = timedelta(days=14)  # a figure is old that lies so far before the newest one of the page; chosen
_VERDICTS = {"why": "Not comparable", "comparable": "Comparable", "missing": "Not measured"}
_HEAD = """\
# Measurements: beside the papers

{opening}

## {newest}: five papers

Rows in bold name a table of the paper and what keeps ours apart from it. Intervals are of 95 %. A count without one
on its page has the exact interval here; another figure without brackets has no recorded one. A figure is **old** if it
lies {days} days before the newest one here, or before the newest change of its area: {changes}.
"""
_PAPER = """
### {name}

| measure | the paper | ours | recorded |
|---|---|---|---|
"""
_END = """
## How to run it

```bash
python -m lodestar_eval papers
```

It writes this page from [papers.yaml](papers.yaml), and refuses a figure that is not in the named line.

## What served for choices

The linked pages say it for each figure.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    """Add no options: the page always has the same source and file."""


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    text = page_of(yaml.safe_load((FOLDER / SOURCE).read_text(encoding="utf-8")))
    (FOLDER / PAGE).write_text(text, encoding="utf-8")
    progress(f"written: {FOLDER / PAGE}")
    return Result({"old": text.count(", **old**"), "not comparable": text.count("**Not comparable**")})


def page_of(source: Mapping[str, Any]) -> str:
    """Return the Markdown page made from the records of `papers.yaml`.

    Raises BadOptions for a figure that is not where its record says, and for a table with no or several
    verdicts.
    """
    tables = [table for paper in source["papers"] for table in paper["tables"]]
    days = [section(**_place(t, row))[1] for t in tables for row in t["rows"] if "figures" in row]
    changes = source["changes"]
    text = _HEAD.format(
        opening=source["opening"].strip(), newest=max(days), days=_AGE.days,
        changes="; ".join(f"{area} {c['date']} ({c['what']})" for area, c in changes.items()),
    )  # fmt: skip
    for paper in source["papers"]:
        rows = [row for table in paper["tables"] for row in _rows(table, changes, max(days) - _AGE)]
        text += _PAPER.format(name=paper["name"]) + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return text + _END


def _rows(
    table: Mapping[str, Any], changes: Mapping[str, Any], oldest: date
) -> Iterator[tuple[str, str, str, str]]:
    verdicts = [f"**{word}**: {table[key]}." for key, word in _VERDICTS.items() if key in table]
    if len(verdicts) != 1:
        raise BadOptions(f"{table['table']}: give one of {', '.join(_VERDICTS)}")
    settings = [f"{key.capitalize()}: {table[key]}." for key in ("theirs", "ours") if key in table]
    yield " ".join([f"**{table['table']}**.", *settings, *verdicts]), "", "", ""
    for row in table["rows"]:
        ours: list[str] = []
        recorded = ""
        if "figures" in row:
            place = row.get("from", table.get("from"))
            lines, day = section(**_place(table, row))
            ours = [quoted(lines, start, figure) for start, figure in row["figures"]]
            commit = quoted(lines, "", str(place["commit"])) if "commit" in place else "no commit recorded"
            old = ", **old**" if day < max(oldest, changes[place["of"]]["date"]) else ""
            recorded = f"[{place['page']}]({place['page']}.md), {day}, {commit}{old}"
        ours += [row["note"]] if "note" in row else []
        yield row["measure"], row.get("paper", "–"), "; ".join(ours) or "not measured", recorded


def _place(table: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, str]:
    place = row.get("from", table.get("from"))
    return {"page": place["page"], "under": place["under"]}


def section(page: str, under: str) -> tuple[list[str], date]:
    """Return the section whose heading begins with `under`: its lines, without bold marks, and its date.

    Raises BadOptions unless the page has exactly one such section.
    """
    parts = (FOLDER / f"{page}.md").read_text(encoding="utf-8").replace("**", "").split("\n## ")[1:]
    found = [part.splitlines() for part in parts if part.startswith(under)]
    if len(found) != 1:
        raise BadOptions(f"{page}.md: {len(found)} headings begin with {under!r}, not one")
    return found[0], date.fromisoformat(found[0][0][:10])


def quoted(lines: list[str], start: str, figure: str) -> str:
    """Return the figure; to a count such as "9 of 10" its exact interval is added.

    Raises BadOptions unless a line that contains `start` also has the figure, not as part of a longer one.
    """
    whole = re.compile(rf"(?<![\w.,+-]){re.escape(figure)}(?!\w|[.,]\d)")
    if not any(start in line and whole.search(line) for line in lines):
        raise BadOptions(f"{lines[0]!r} has no line with {start!r} and {figure!r}")
    if not (count := re.fullmatch(r"(\d+) of (\d+)", figure)):
        return figure
    low, high = share_interval(int(count[1]), int(count[2]))
    return f"{figure} ({low:.2f} to {high:.2f})"


BENCHMARK = Benchmark(
    "papers", "Recorded figures beside those of the papers, written as a page.", _add_options, _run
)
