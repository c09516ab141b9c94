"""Benchmark: failures induced on the path to a known object: share overcome, and share with the right diagnosis."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from lodestar_eval.options import MEASURED, add_search_options
from lodestar_eval.registry import BadOptions, Benchmark, Result
from lodestar_eval.report import write_csv

ROWS = (
    "full",
    "blind_retry",
    "no_validation",
    "no_diagnosis",
    "no_belief_correction",
    "no_constraint_state",
    "no_semantic_graph",
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_search_options(parser, "1-20", MEASURED, 300.0, 0.06, of="of buildings, whose kind follows from it")
    parser.add_argument("--rows", type=_names, default=("full",), help=f"of {', '.join(ROWS)} (default full)")
    parser.add_argument(
        "--causes", type=_names, default=(), help="such as DOOR_CLOSED,TARGET_GONE (default all)"
    )
    parser.add_argument("--maps", type=Path, metavar="FOLDER", help="keeps the toured maps for the next run")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.worldmodel.outcomes import Cause
    from lodestar_eval.recovery_runs import Job, outcomes_of
    from lodestar_eval.recovery_scenarios import CAUSES
    from lodestar_eval.recovery_tables import result_of

    unknown = [row for row in options.rows if row not in ROWS]
    if unknown:
        raise BadOptions(f"there is no row {unknown[0]!r}; there are {', '.join(ROWS)}")
    try:
        causes = tuple(Cause(name) for name in options.causes) or CAUSES
    except ValueError as error:
        raise BadOptions(f"{error}; there are {', '.join(cause.value for cause in CAUSES)}") from error
    bad = [cause.value for cause in causes if cause not in CAUSES]
    if bad:
        raise BadOptions(
            f"{bad[0]} cannot be induced; there are {', '.join(cause.value for cause in CAUSES)}"
        )
    maps = None if options.maps is None else options.maps / options.noise
    if maps is not None:
        maps.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    jobs = [
        Job(seed, options.rows, causes, options.limit_time, options.answer_time, maps, options.noise)
        for seed in options.seeds.values
    ]
    found = []
    for runs in outcomes_of(jobs, options.jobs):
        found += runs
        for run in runs:
            progress(run.line)
        write_csv(folder / "recovery.csv", [run.row() for run in found])
    return result_of(found, time.perf_counter() - began)


BENCHMARK = Benchmark(
    "recovery",
    "Induced failures of searches for known things: success, diagnosis, seconds and metres lost, per cause.",
    _add_options,
    _run,
)
