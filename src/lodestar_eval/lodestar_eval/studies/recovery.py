"""Study: failures induced on the path to a known object: share overcome, and share with the right diagnosis."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from lodestar_eval.metrics import cluster_interval, defined, mean
from lodestar_eval.options import MEASURED, add_search_options
from lodestar_eval.registry import BadOptions, Table
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, buildings, count, percentile

FULL = "full"
ROWS = (
    FULL,
    "blind_retry",
    "no_validation",
    "no_diagnosis",
    "no_belief_correction",
    "no_constraint_state",
    "no_semantic_graph",
)
NO_EVENT = "NO_EVENT"  # used as the cause of runs without an event
_BY, _BY_CAUSE = ("row_name",), ("cause", "row_name")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_search_options(parser, "1-20", MEASURED, 300.0, 0.06, of="of buildings, whose kind follows from it")
    parser.add_argument("--rows", type=_names, default=(FULL,), help=f"of {', '.join(ROWS)} (default full)")
    parser.add_argument(
        "--causes", type=_names, default=(), help="such as DOOR_CLOSED,TARGET_GONE (default all)"
    )
    parser.add_argument("--maps", type=Path, metavar="FOLDER", help="keeps the toured maps for the next run")


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    from lodestar.worldmodel.outcomes import Cause
    from lodestar_eval.recovery_scenarios import CAUSES

    known = ", ".join(cause.value for cause in CAUSES)
    if unknown := [row for row in options.rows if row not in ROWS]:
        raise BadOptions(f"there is no row {unknown[0]!r}; there are {', '.join(ROWS)}")
    try:
        causes = tuple(Cause(name) for name in options.causes) or CAUSES
    except ValueError as error:
        raise BadOptions(f"{error}; there are {known}") from error
    if bad := [cause.value for cause in causes if cause not in CAUSES]:
        raise BadOptions(f"{bad[0]} cannot be induced; there are {known}")
    # text, because the files of a `Path` belong to the case, and the case writes these
    maps = "" if options.maps is None else str(options.maps / options.noise)
    if maps:
        Path(maps).mkdir(parents=True, exist_ok=True)
    for _, seed, settings in buildings(options):
        yield seed, settings, options.rows, causes, maps


def _measure(seed: int, settings: Any, names: tuple[str, ...], causes: Any, maps: str) -> Iterator[Row]:
    from lodestar_eval.recovery_runs import runs_of

    yield from runs_of(seed, settings, names, causes, Path(maps) if maps else None)


def _is_plain(row: Row) -> bool:
    return row["cause"] == NO_EVENT


def _is_disturbed(row: Row) -> bool:
    return row["cause"] != NO_EVENT


def _is_full(row: Row) -> bool:
    return _is_disturbed(row) and row["row_name"] == FULL


def _is_right_within(count: int) -> Callable[[Row], bool | None]:
    """Return a function that tells whether one of the first diagnoses of a row names the cause.

    It returns None for a row without diagnoses. count: number of the diagnoses that count.
    """
    return lambda row: row["cause"] in row["diagnoses"].split()[:count] if row["diagnoses"] else None


def _lost(column: str) -> Callable[[Row], list[float]]:
    """Return a function that reads a column of a row whose NaN is no value."""
    return lambda row: defined([row[column]])


def _of_disturbed(by: tuple[str, ...], hidden: str) -> Iterator[Number]:
    """Yield the numbers of the runs with an event. hidden: begins the names of those that are no metrics."""
    yield Number(f"{hidden}runs", "seed", count, _is_disturbed, by, digits=0)
    yield Number("tsr", "success", where=_is_disturbed, by=by)
    yield Number(f"{hidden}cda", _is_right_within(1), where=_is_disturbed, by=by)
    yield Number(f"{hidden}cda_3", _is_right_within(4), where=_is_disturbed, by=by)
    yield Number("lost_s", _lost("lost_s"), percentile(50), _is_disturbed, by, digits=1)
    yield Number("lost_m", _lost("lost_m"), percentile(50), _is_disturbed, by, digits=1)


def _over(rows: Rows) -> dict[str, float]:
    """Return the task success rate (TSR) of the full robot minus that of each variant, over the runs of both,
    with buildings resampled.
    """
    runs: dict[tuple[int, str], dict[str, bool]] = {}
    for row in filter(_is_disturbed, rows):
        runs.setdefault((row["seed"], row["cause"]), {})[row["row_name"]] = row["success"]
    names = dict.fromkeys(name for run in runs.values() for name in run)
    metrics: dict[str, float] = {}
    for name in [name for name in names if name != FULL and FULL in names]:
        apart: dict[int, list[float]] = {}
        for (seed, _), run in runs.items():
            if {FULL, name} <= run.keys():
                apart.setdefault(seed, []).append(float(run[FULL]) - float(run[name]))
        low, high = cluster_interval(list(apart.values()), np.random.default_rng(0))
        key = f"tsr_over.{name}"
        metrics |= {key: mean(list(chain(*apart.values()))), f"{key}_low": low, f"{key}_high": high}
    return metrics


def _confusion(rows: Rows) -> list[Table]:
    """Return the table of first diagnoses by induced cause."""
    seen = Counter(
        (row["cause"], (row["diagnoses"].split() or ["none"])[0]) for row in filter(_is_full, rows)
    )
    causes = list(dict.fromkeys(row["cause"] for row in filter(_is_disturbed, rows)))
    named = list(dict.fromkeys([*causes, *sorted({name for _, name in seen})]))
    lines = tuple((cause, *(str(seen[cause, name] or "") for name in named)) for cause in causes)
    return [Table("First diagnosis (columns) by induced cause (rows)", ("induced", *named), lines)]


BENCHMARK = Study(
    "recovery",
    "Induced failures of searches for known things: success, diagnosis, seconds and metres lost, per cause.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("no_event.runs", "seed", count, _is_plain),
        Number("no_event.sr", "success", where=_is_plain),
        Number("false_recoveries", lambda row: bool(row["recoveries"]), where=_is_plain),
        *_of_disturbed(_BY, ""),
        *_of_disturbed(_BY_CAUSE, "_"),
        Number("_diagnosed", lambda row: bool(row["diagnoses"]), sum, _is_disturbed, _BY_CAUSE, digits=0),
        Number("cda", _is_right_within(1), where=_is_full, by=("cause",)),
        Number("cda_3", _is_right_within(4), where=_is_full, by=("cause",)),
        Number("diagnosed", lambda row: bool(row["diagnoses"]), where=_is_full, by=("cause",)),
        Whole(_over),
    ),
    bars=(
        Limit("tsr.full", 0.90),
        Limit("cda.full", 0.75),
        Limit("cda_3.full", 0.85),
        Limit("false_recoveries", 0.02, at_least=False),
        Limit("lost_s.full", 30.0, at_least=False),
        Limit("tsr_over.blind_retry_low", 1e-9),
    ),
    tables=_confusion,
    notes=(
        "Success is stated per cause before the run: the thing is found, or the search ends with the right code. "
        "CDA counts the runs in which a diagnosis was made; in the others nothing failed, because the robot drove "
        "round the event or never met it. Lost seconds and metres: the median over searches that found the thing, "
        "against the same search without an event.",
    ),
    left_out="because nothing in the building suits the search",
)
