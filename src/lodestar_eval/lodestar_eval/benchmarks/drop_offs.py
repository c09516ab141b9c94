"""Benchmark: search beside and beyond descending stairs and holes without a fall, on a map of 3-D points."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import Bar, Benchmark, Result, Table
from lodestar_eval.report import write_csv

if TYPE_CHECKING:
    from lodestar_eval.episode import Episode
    from lodestar_sim.tasks import Task
    from lodestar_sim.worlds import World

WORLDS = ("apartment?stairs=1", "office?stairs=1", "apartment?hole=1", "office?hole=1")
_FIRST = 301  # seed of the first kind of building and place
_SUCCESS_BOUND = 0.90  # bar on success, over tasks with a path
_WITHIN = 3.0  # metres, distance from the robot within which no drop-off may be marked free
_EVERY = 1.0  # s between two checks of the grid


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--floor", choices=("on", "off"), default="on", help="the floor layer of the map (default on)"
    )
    parser.add_argument(
        "--seeds", type=seed_list, default="301-321", help="kind and place follow from each (default 301-321)"
    )
    parser.add_argument(
        "--limit-time",
        type=positive_seconds,
        default=400.0,
        metavar="S",
        help="simulated seconds (default 400)",
    )


class FloorWatch:
    """Counts map cells marked free over a drop-off, near the robot and anywhere."""

    def __init__(self, world: World) -> None:
        self.near = self.anywhere = 0  # greatest number of such cells in one check
        self._terrain = world.terrain
        self._due = 0.0

    def observe(self, episode: Episode) -> None:
        """Count the wrongly free cells of the robot's grid, once per check interval."""
        now = episode.simulator.time
        if now < self._due or self._terrain is None:
            return
        self._due = now + _EVERY
        grid = episode.robot.grid
        points = grid.points_of(np.argwhere(grid.free))
        # a cell counts if all of its corners lie over the drop-off
        offsets = 0.05 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
        over = np.all([np.isnan(self._terrain.at(points + offset)) for offset in offsets], axis=0)
        away = np.linalg.norm(points - episode.simulator.true_pose[:2], axis=1)
        self.anywhere = max(self.anywhere, int(over.sum()))
        self.near = max(self.near, int((over & (away <= _WITHIN)).sum()))


def tasks(seeds: Iterable[int]) -> Iterator[tuple[str, int, str, World, Task]]:
    """Yield building, seed, place ("beside" or "beyond" the drop-off), world and task of each seed that has a task.

    Kinds of buildings and places alternate from seed to seed.
    """
    from lodestar_eval.drop_tasks import PLACES, drop_task
    from lodestar_sim.worlds import WorldError, world_from_spec

    for seed in seeds:
        index = seed - _FIRST
        spec, place = WORLDS[index % len(WORLDS)], PLACES[index // len(WORLDS) % len(PLACES)]
        try:
            world = world_from_spec(spec, seed)
            yield spec, seed, place, world, drop_task(world, seed, place)
        except WorldError:
            continue


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
    for spec, seed, place, world, task in tasks(options.seeds.values):
        watch = FloorWatch(world)
        run = EpisodeRunner(phrase_book(), settings, observer=watch.observe).run(world, task, seed)
        outcome = replace(run.outcome, world=spec, setting=place)
        outcomes.append(outcome)
        watches.append(watch)
        if not outcome.success:
            picture_of(run, folder / "maps" / f"seed_{seed:03d}.png")
        progress(
            f"[{len(outcomes):2d}] {spec} seed {seed} {place}: "
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
    write_csv(folder / "drop_offs.csv", rows)


def result_of(outcomes: list[EpisodeOutcome], watches: list[FloorWatch]) -> Result:
    """Return metrics, pass thresholds and the table of all runs."""
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
