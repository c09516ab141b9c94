"""Benchmark: agreement of a replay through the nodes with the recorded run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

_GRIDS, _ENTITIES = 0.98, 0.95  # bars of issue 18


@dataclass(frozen=True)
class ReplayedRun:
    """Agreement of a recorded run with its replay. grid: share of known cells that agree. both, live,
    replayed: numbers of entities in both maps, in the recorded one, and in the replayed one.
    """

    name: str
    grid: float
    both: int
    live: int
    replayed: int
    f1: float
    inputs: int  # number of recorded images and clouds
    lost: int  # inputs that a recorder beside the nodes did not receive during the replay
    gaps: int


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--worlds", default="apartment", help="kinds of building (default apartment)")
    parser.add_argument("--seeds", type=seed_list, default=seed_list("1"), help="of each kind (default 1)")
    parser.add_argument(
        "--time-limit", type=positive_seconds, default=120.0, help="of a run, simulated s (default 120)"
    )
    parser.add_argument("--rate", type=positive_seconds, default=1.0, help="of the replay (default 1)")
    parser.add_argument(
        "--recording", type=Path, action="append", default=[], help="replay this recording instead"
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_bringup.places import StackError

    runs = []
    try:
        for name, recording in _recordings(options, folder, progress):
            runs.append(_compared(name, recording, folder / name.replace(" ", "_"), options.rate))
            progress(f"{name}: grids agree on {runs[-1].grid:.1%}, F1 of entities {runs[-1].f1:.3f}")
    except StackError as error:
        raise BadOptions(str(error)) from error
    return result_of(runs)


def _recordings(
    options: argparse.Namespace, folder: Path, progress: Callable[[str], None]
) -> Iterator[tuple[str, Path]]:
    """Yield (name, recording) of each run; a run is recorded when the iterator reaches it."""
    if options.recording:
        yield from ((path.name, path) for path in options.recording)
        return
    from lodestar_eval.live.replay_run import record_live

    for world in (part.strip() for part in options.worlds.split(",")):
        for seed in options.seeds.values:
            name = f"{world} {seed}"
            progress(f"{name}: running the nodes ...")
            yield name, record_live(world, seed, folder / name.replace(" ", "_"), options.time_limit)


def _compared(name: str, recording: Path, folder: Path, rate: float) -> ReplayedRun:
    from lodestar_eval.live.parity.agreement import entity_agreement, grid_agreement
    from lodestar_eval.live.replay_run import replay, seen_in

    live = seen_in(recording)
    again = seen_in(replay(recording, folder, rate))
    things = entity_agreement(live.entities, again.entities)
    return ReplayedRun(
        name,
        grid_agreement(live.grid, again.grid),
        things.found,
        things.missed,
        things.spurious,
        things.f1,
        live.inputs,
        live.inputs - again.inputs,
        live.gaps + again.gaps,
    )


def result_of(runs: list[ReplayedRun]) -> Result:
    """Return the metrics, pass thresholds and table of the replays."""
    metrics = {
        "grids_agree": mean([run.grid for run in runs]),
        "entity_f1": mean([run.f1 for run in runs]),
        "lost": float(sum(run.lost for run in runs)),
    }
    bars = (
        Bar("cells on which the grids agree, mean of the runs", metrics["grids_agree"], _GRIDS),
        Bar("F1 of entities, mean of the runs", metrics["entity_f1"], _ENTITIES),
    )
    columns = ("run", "grids agree", "entities: both", "live", "replay only", "F1", "inputs", "lost", "gaps")
    rows = tuple(
        (
            run.name, f"{run.grid:.3f}", str(run.both), str(run.live), str(run.replayed), f"{run.f1:.3f}",
            str(run.inputs), str(run.lost), str(run.gaps),
        )
        for run in runs
    )  # fmt: skip
    table = Table("A replay through the nodes and the run that was recorded", columns, rows)
    return Result(metrics, bars, (table,), (), _NOTES)


_NOTES = (
    "The run is recorded by the node `recorder` (`record:=true`) and played by the node `player` to the nodes of "
    "`replay.launch.py`, which hear the sensors and nothing of what the live nodes concluded.",
    "Grids: cells that either knows, equal where both say unknown, free or occupied, at the end of both. Entities: "
    "active ones, matched one to one by noun and an IoU of 0.25 at least; ids do not count. lost: images and clouds "
    "that a recorder beside the replaying nodes did not hear.",
)

BENCHMARK = Benchmark("replay", "A recorded run through the nodes, against live.", _add_options, _run)
