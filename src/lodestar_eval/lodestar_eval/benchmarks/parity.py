"""Benchmark: agreement of the headless robot, which the other benchmarks use, with the running nodes."""

from __future__ import annotations

import argparse
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.live.parity.comparison import Comparison

_GRIDS, _ENTITIES, _GOALS = 0.98, 0.95, 0.90  # bars of issue 14


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--worlds", default="apartment,office", help="kinds of building (default both)")
    parser.add_argument(
        "--seeds", type=seed_list, default=seed_list("1-3"), help="of each kind (default 1-3)"
    )
    parser.add_argument(
        "--time-limit", type=positive_seconds, default=300.0, help="simulated s (default 300)"
    )
    parser.add_argument(
        "--bag", type=Path, action="append", default=[], help="compare this recording instead"
    )
    parser.add_argument("--keep", action="store_true", help="keep the recordings (about 10 MB a second)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.live.parity.comparison import compare
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.recordings import BadRecording

    phrases = phrase_book()
    runs: list[Comparison] = []
    for name, bag in _bags(options, folder, progress):
        try:
            runs.append(compare(name, bag, phrases))
        except BadRecording as error:
            raise BadOptions(str(error)) from error
        progress(runs[-1].line())
        if not (options.keep or options.bag):
            shutil.rmtree(bag)
    return _result(runs)


def _bags(
    options: argparse.Namespace, folder: Path, progress: Callable[[str], None]
) -> Iterator[tuple[str, Path]]:
    """Yield (name, bag) of each run; a run is recorded when the iterator reaches it."""
    if options.bag:
        for bag in options.bag:
            yield bag.stem, bag
        return
    from lodestar_bringup.places import StackError
    from lodestar_eval.live.parity.live_run import record_run

    for world in (part.strip() for part in options.worlds.split(",")):
        for seed in options.seeds.values:
            progress(f"{world} {seed}: running the nodes ...")
            try:
                yield (
                    f"{world} {seed}",
                    record_run(world, seed, folder / f"{world}_{seed}", options.time_limit),
                )
            except StackError as error:
                raise BadOptions(f"{world} {seed}: {error}") from error


def _result(runs: list[Comparison]) -> Result:
    goals = sum(run.goals for run in runs)
    metrics = {
        "grids_agree": mean([run.grid for run in runs]),
        "entity_f1": mean([run.entities.f1 for run in runs]),
        "goals_equal": sum(run.equal for run in runs) / goals if goals else math.nan,
        "goals": float(goals),
    }
    bars = (
        Bar("cells on which the grids agree, mean of the runs", metrics["grids_agree"], _GRIDS),
        Bar("F1 of entities, mean of the runs", metrics["entity_f1"], _ENTITIES),
        Bar("share of decisions with equal goals", metrics["goals_equal"], _GOALS),
    )
    columns = (
        "run",
        "grids agree",
        "entities: both",
        "live",
        "headless only",
        "F1",
        "goals",
        "equal",
        "dropped",
    )
    rows = tuple(run.row() for run in runs)
    table = Table("The nodes and the headless robot on the same sensor messages", columns, rows)
    return Result(metrics, bars, (table,), (), _NOTES)


_NOTES = (
    "The nodes run over DDS and are recorded; the headless robot hears the recorded sensor messages and nothing else.",
    "Grids: cells that either knows, equal where both say unknown, free or occupied. Entities: matched one to one by "
    "noun and an IoU of 0.25 at least; ids do not count. Goals: each live question is put to the headless experts with "
    "the grid and the scene of the stamps that the live nodes had, and without answers that came too late there; after "
    "each decision the headless robot goes on from the live choice, so that one difference does not count again.",
)

BENCHMARK = Benchmark("parity", "The nodes against the headless robot, on recorded runs.", _add_options, _run)
