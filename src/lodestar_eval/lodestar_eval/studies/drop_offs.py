"""Study: search beside and beyond descending stairs and holes without a fall, on a map of 3-D points."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar_eval.metrics import share
from lodestar_eval.options import add_jobs_option, positive_seconds, seed_list
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, count

if TYPE_CHECKING:
    from lodestar_eval.episode import Episode
    from lodestar_sim.worlds import World

WORLDS = ("apartment?stairs=1", "office?stairs=1", "apartment?hole=1", "office?hole=1")
_FIRST = 301  # seed of the first kind of building and place
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
        "--limit-time", type=positive_seconds, default=400.0, metavar="S",
        help="simulated seconds (default 400)",
    )  # fmt: skip
    add_jobs_option(parser)


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


def kind_of(seed: int) -> tuple[str, str]:
    """Return building and place of the target of a seed, which alternate from seed to seed."""
    from lodestar_eval.drop_tasks import PLACES

    index = seed - _FIRST
    return WORLDS[index % len(WORLDS)], PLACES[index // len(WORLDS) % len(PLACES)]


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    for seed in options.seeds.values:
        yield *kind_of(seed), seed, options.floor == "on", options.limit_time, options.out


def _measure(spec: str, place: str, seed: int, floor: bool, limit: float, folder: Path) -> list[Row]:
    from lodestar.assembly.config import changed
    from lodestar_eval.drop_tasks import drop_task
    from lodestar_eval.episode import EpisodeRunner
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.pictures import picture_of
    from lodestar_eval.settings import EpisodeSettings, robot_config
    from lodestar_sim.worlds import world_from_spec

    world = world_from_spec(spec, seed)
    task = drop_task(world, seed, place)
    robot = changed(robot_config(), mapping__octomap__floor__enabled=floor)
    watch = FloorWatch(world)
    settings = EpisodeSettings(robot=robot, time_limit=limit)
    run = EpisodeRunner(phrase_book(), settings, observer=watch.observe).run(world, task, seed)
    outcome = run.outcome.under(place, run.outcome.policy, spec)
    if not outcome.success:
        picture_of(run, folder / "maps" / f"seed_{seed:03d}.png")
    hidden = {"_spl": outcome.spl}
    return [outcome.row() | {"free_near": watch.near, "free_anywhere": watch.anywhere} | hidden]


def _speed(rows: Rows) -> dict[str, float]:
    return {"speed": share(sum(row["duration"] for row in rows), sum(row["cpu"] for row in rows))}


def _has_way(row: Row) -> bool:
    return bool(np.isfinite(row["shortest"]))


BENCHMARK = Study(
    "drop-offs",
    "things beside and beyond stairs and holes, on a map of 3-D points: falls and success",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("episodes", "seed", count),
        Number("falls", over=sum),
        Number("sr", "success", where=_has_way),
        Number("spl", "_spl", where=_has_way),
        Number("collisions", over=sum),
        Whole(_speed),
        Number("free_near_cells", "free_near", max),
        Number("free_anywhere_cells", "free_anywhere", max),
        Number("runs_free_anywhere", lambda row: row["free_anywhere"] > 0, sum),
    ),
    bars=(
        Limit("falls", 0.0, at_least=False),
        Limit("sr", 0.90, name="success where a way exists"),
        Limit("free_near_cells", 0.0, False, f"cells over an edge that were free within {_WITHIN:g} m"),
    ),
    columns=(
        "world", "seed", "setting", "directive", "success", "falls", "duration", "path_length", "shortest",
        "free_near", "free_anywhere", "failure",
    ),
    notes=(
        "A fall: a foot or the middle of the robot where the ground is gone; the episode ends there. "
        "The shortest way leads around the opening.",
    ),
)  # fmt: skip
