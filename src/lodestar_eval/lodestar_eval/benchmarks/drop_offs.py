"""Search for objects beside and beyond descending stairs and holes, on a map of 3-D points, without a fall."""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_int, positive_seconds, seed_list
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.episode import Episode
    from lodestar_sim.tasks import Task
    from lodestar_sim.worlds import World

WORLDS = ("apartment?stairs=1", "office?stairs=1", "apartment?hole=1", "office?hole=1")
_SUCCESS_BOUND = 0.90  # if a path exists
_WITHIN = 3.0  # m from the robot within which no drop-off may ever be free
_EVERY = 1.0  # s between two checks of the grid


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=positive_int, default=20, help="episodes (default 20)")
    parser.add_argument(
        "--floor", choices=("on", "off"), default="on", help="the floor layer of the map (default on)"
    )
    parser.add_argument("--first-seed", type=positive_int, default=301, help="of the buildings (default 301)")
    parser.add_argument(
        "--only",
        type=seed_list,
        default=None,
        metavar="SEEDS",
        help="these seeds instead of all from the first on, as 302,304",
    )
    parser.add_argument(
        "--limit-time",
        type=positive_seconds,
        default=400.0,
        metavar="S",
        help="simulated seconds (default 400)",
    )


class FloorWatch:
    """Count free cells of the grid without ground, near the robot and anywhere."""

    def __init__(self, world: World) -> None:
        self.near = self.anywhere = 0  # most at one time
        self._terrain = world.terrain
        self._due = 0.0

    def observe(self, episode: Episode) -> None:
        """Check the grid if a check is due."""
        now = episode.simulator.time
        if now < self._due or self._terrain is None:
            return
        self._due = now + _EVERY
        grid = episode.robot.grid
        points = grid.points_of(np.argwhere(grid.free))
        offsets = 0.05 * np.array(
            [[1, 1], [1, -1], [-1, 1], [-1, -1]]
        )  # wholly over it, with a cell's corners
        over = np.all([np.isnan(self._terrain.at(points + offset)) for offset in offsets], axis=0)
        away = np.linalg.norm(points - episode.simulator.true_pose[:2], axis=1)
        self.anywhere = max(self.anywhere, int(over.sum()))
        self.near = max(self.near, int((over & (away <= _WITHIN)).sum()))


def tasks(
    runs: int, first_seed: int, only: Sequence[int] | None = None
) -> Iterator[tuple[str, int, str, World, Task]]:
    """Yield building, seed, place, world and task; kinds of buildings and places alternate. A seed without a task is
    left out. only: these seeds instead of all from the first on; each keeps its building and place.
    """
    from lodestar_eval.drop_tasks import PLACES, drop_task
    from lodestar_sim.worlds import WorldError, world_from_spec

    found = 0
    for number in only if only is not None else itertools.count(first_seed):
        if found == runs:
            return
        index = number - first_seed
        spec, place = WORLDS[index % len(WORLDS)], PLACES[index // len(WORLDS) % len(PLACES)]
        try:
            world = world_from_spec(spec, number)
            yield spec, number, place, world, drop_task(world, number, place)
        except WorldError:
            continue
        found += 1


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.assembly.config import changed
    from lodestar_eval.episode import EpisodeRunner
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.pictures import picture_of
    from lodestar_eval.settings import EpisodeSettings, robot_config

    robot = changed(robot_config(), mapping__octomap__floor__enabled=options.floor == "on")
    settings = EpisodeSettings(robot=robot, time_limit=options.limit_time)
    outcomes: list[EpisodeOutcome] = []
    watches: list[FloorWatch] = []
    only = options.only.values if options.only is not None else None
    expected = options.runs if only is None else min(len(only), options.runs)
    for spec, seed, place, world, task in tasks(options.runs, options.first_seed, only):
        watch = FloorWatch(world)
        run = EpisodeRunner(phrase_book(), settings, observer=watch.observe).run(world, task, seed)
        outcome = replace(run.outcome, world=spec, setting=place)
        outcomes.append(outcome)
        watches.append(watch)
        if not outcome.success:
            picture_of(run, folder / "maps" / f"seed_{seed:03d}.png")
        progress(
            f"[{len(outcomes):2d}/{expected}] {spec} seed {seed} {place}: "
            f"{'found' if outcome.success else 'FAILED'} {outcome.directive!r}, {outcome.falls} falls, "
            f"{outcome.path_length:.1f} m of {outcome.shortest:.1f} m, {outcome.speed:.1f}x, "
            f"free over the edge {watch.near} near, {watch.anywhere} anywhere"
            + ("" if outcome.success else f" — {outcome.failure}")
        )
    _write_rows(outcomes, watches, folder)
    return result_of(outcomes, watches)


def _write_rows(outcomes: list[EpisodeOutcome], watches: list[FloorWatch], folder: Path) -> None:
    rows = [
        outcome.row() | {"free_near": watch.near, "free_anywhere": watch.anywhere}
        for outcome, watch in zip(outcomes, watches)
    ]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with (folder / "drop_offs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)


def result_of(outcomes: list[EpisodeOutcome], watches: list[FloorWatch]) -> Result:
    """Return metrics, bars and the table of all runs."""
    possible = [o for o in outcomes if np.isfinite(o.shortest)]
    simulated, busy = sum(o.duration for o in outcomes), sum(o.cpu for o in outcomes)
    metrics = {
        "episodes": len(outcomes),
        "falls": sum(o.falls for o in outcomes),
        "sr": mean([float(o.success) for o in possible]),
        "spl": mean([o.spl for o in possible]),
        "collisions": sum(o.collisions for o in outcomes),
        "speed": simulated / busy if busy > 0.0 else float("nan"),
        "free_near_cells": max((watch.near for watch in watches), default=0),
        "free_anywhere_cells": max((watch.anywhere for watch in watches), default=0),
        "runs_free_anywhere": sum(watch.anywhere > 0 for watch in watches),
    }
    rows = tuple(
        (
            o.world, str(o.seed), o.setting, o.directive, "yes" if o.success else "no", str(o.falls),
            f"{o.duration:.0f}", f"{o.path_length:.1f}", f"{o.shortest:.1f}", str(watch.near), str(watch.anywhere),
            o.failure,
        )
        for o, watch in zip(outcomes, watches)
    )  # fmt: skip
    columns = (
        "building", "seed", "target", "directive", "found", "falls", "s", "m", "shortest m", "free near",
        "free anywhere", "failure",
    )  # fmt: skip
    return Result(
        metrics,
        (
            Bar("falls", metrics["falls"], 0.0, at_least=False),
            Bar("success where a way exists", metrics["sr"], _SUCCESS_BOUND),
            Bar(
                f"cells over an edge that were free within {_WITHIN:g} m",
                metrics["free_near_cells"],
                0.0,
                False,
            ),
        ),
        (Table("Runs", columns, rows),),
        notes=(
            "A fall: a foot or the middle of the robot where the ground is gone; the episode ends there. "
            "The shortest way leads around the opening.",
        ),
    )


BENCHMARK = Benchmark(
    "drop-offs",
    "things beside and beyond stairs and holes, on a map of 3-D points: falls and success",
    _add_options,
    _run,
)
