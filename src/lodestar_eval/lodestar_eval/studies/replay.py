"""Study: agreement of a replay through the nodes with the recorded run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Row, Study


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


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    if options.recording:
        return [(path.name, options.rate, options.out, path) for path in options.recording]
    worlds = [part.strip() for part in options.worlds.split(",")]
    seeds = options.seeds.values
    return [
        (f"{one} {seed}", options.rate, options.out, one, seed, options.time_limit)
        for one in worlds
        for seed in seeds
    ]


def _measure(name: str, rate: float, out: Path, *source: Any) -> list[Row]:
    """Return the agreement of a recorded run with its replay. source: the recording, or what is recorded first.

    grid: share of known cells that agree. both, live, replayed: numbers of entities in both maps, in the recorded one
    alone, and in the replayed one alone. inputs: recorded images and clouds; lost: those that a recorder beside the
    nodes did not receive during the replay.
    """
    from lodestar_bringup.places import StackError
    from lodestar_eval.live.parity.agreement import entity_agreement, grid_agreement
    from lodestar_eval.live.replay_run import record_live, replay, seen_in

    folder = out / name.replace(" ", "_")
    try:
        recording = source[0] if len(source) == 1 else record_live(source[0], source[1], folder, source[2])
        live = seen_in(recording)
        again = seen_in(replay(recording, folder, rate))
    except StackError as error:
        raise BadOptions(str(error)) from error
    things = entity_agreement(live.entities, again.entities)
    return [{
        "run": name, "grid": grid_agreement(live.grid, again.grid), "both": things.found, "live": things.missed,
        "replayed": things.spurious, "f1": things.f1, "inputs": live.inputs, "lost": live.inputs - again.inputs,
        "gaps": live.gaps + again.gaps,
    }]  # fmt: skip


BENCHMARK = Study(
    "replay",
    "A recorded run through the nodes, against live.",
    _add_options,
    _cases,
    _measure,
    numbers=(Number("grids_agree", "grid"), Number("entity_f1", "f1"), Number("lost", over=sum)),
    bars=(  # of issue 18
        Limit("grids_agree", 0.98, name="cells on which the grids agree, mean of the runs"),
        Limit("entity_f1", 0.95, name="F1 of entities, mean of the runs"),
    ),
    columns=("run", "grid", "both", "live", "replayed", "f1", "inputs", "lost", "gaps"),
    notes=(
        "The run is recorded by the node `recorder` (`record:=true`) and played by the node `player` to the nodes of "
        "`replay.launch.py`, which hear the sensors and nothing of what the live nodes concluded.",
        "Grids: cells that either knows, equal where both say unknown, free or occupied, at the end of both. Entities: "
        "active ones, matched one to one by noun and an IoU of 0.25 at least; ids do not count. lost: images and "
        "clouds that a recorder beside the replaying nodes did not hear.",
    ),
)
