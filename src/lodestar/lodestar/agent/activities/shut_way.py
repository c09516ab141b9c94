"""Finds what shut the way to a known thing, and the place from which the robot looks at it once more."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.errands.words import name_of
from lodestar.experts.config import ReachConfig
from lodestar.experts.reach import Reach
from lodestar.grid.config import ViewpointConfig
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import FREE, OccupancyGrid2D
from lodestar.grid.paths import NoPath, plan_path
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.scene.records import Entity
from lodestar.worldmodel.way_change import blockage_of, newly_occupied

_AWAY = 1.2  # m before what shuts the way: the camera sees all of a door from there; ours
_POLL = 1.0  # s between two looks while the robot stands before it


@dataclass
class ShutWay:
    """A way that something came into. name: of the thing that it leads to. place: (3,) in map, the pose before it.

    since: loop time since which the robot stands there, seconds; None = not yet. looked: loop time of the last look.
    """

    entity_id: int
    name: str
    place: np.ndarray
    since: float | None = None
    looked: float = -math.inf


class ShutWayWatch:
    """Finds the shut way to a known thing, and tells for how long it is worth standing before it."""

    def __init__(self, context: LoopContext, search: TargetSearch) -> None:
        self._context, self._search = context, search

    def shut(self, run: DirectiveRun) -> ShutWay | None:
        """Return what shut the way to a thing that fits and that was gone to before; None where nothing did."""
        facts = self._context.facts
        if not self._context.config.recovery.enabled:
            return None
        fitting = {entity.id for entity in self._search.accepted(self._search.look(run))} | set(
            run.errand.given_up
        )
        known = next((i for i in run.errand.grids if i in fitting and i in facts.entities), None)
        place = None if known is None else self._place(run, known)
        return (
            None if known is None or place is None else ShutWay(known, name_of(facts.entities[known]), place)
        )

    def is_over(self, way: ShutWay) -> bool:
        """Return whether the robot has stood before it for long enough."""
        patience = self._context.config.recovery.shut_patience
        return way.since is None or self._context.now - way.since >= patience

    def is_open(self, run: DirectiveRun, way: ShutWay) -> bool:
        """Return whether nothing is in the way any more; it is looked at once per second."""
        now = self._context.now
        if now - way.looked < _POLL:
            return False
        way.looked = now
        return self._place(run, way.entity_id) is None

    def _place(self, run: DirectiveRun, entity_id: int) -> np.ndarray | None:
        facts, config = self._context.facts, self._context.config
        entity, before = facts.entity(entity_id), run.errand.grids.get(entity_id)
        if entity is None or before is None or facts.grid is None or facts.pose is None:
            return None
        return place_before_shut_way(before, facts.grid, facts.pose, entity, config.viewpoints, config.reach)


def place_before_shut_way(
    before: OccupancyGrid2D,
    now: OccupancyGrid2D,
    robot: np.ndarray,
    entity: Entity,
    viewpoints: ViewpointConfig,
    reach: ReachConfig,
) -> np.ndarray | None:
    """Return the pose (3,) in map that faces what came into the way to a thing; None where nothing did or none does.

    before: the grid when the way was open. now: the newest one. robot: (3,) in map.
    """
    opened = _without(now, newly_occupied(before, now))
    views = [view.map_from_camera for view in entity.views]
    try:
        found = Reach(opened, robot, reach).viewpoints(entity.box_min, entity.box_max, views, (), viewpoints)
        way = plan_path(opened, robot[:2], found[0].pose[:2], reach.travel)
    except (NoViewpoint, NoPath):
        return None
    blockage = blockage_of(opened, now, way, robot)
    if blockage is None:
        return None
    goals = _facing(way, np.array(blockage.center))
    return next((goal for goal in goals if footprint_free(now, goal)), None)


def _without(grid: OccupancyGrid2D, cells: np.ndarray) -> OccupancyGrid2D:
    """Return the grid with some cells, (rows, columns) bool, free."""
    return replace(grid, cells=np.where(cells, np.int8(FREE), grid.cells))


def _facing(way: np.ndarray, center: np.ndarray) -> Iterator[np.ndarray]:
    """Yield poses (3,) on a way (N, 2) that face a place on it: the nearest one from `_AWAY` first, its begin last."""
    away = np.hypot(*(way - center).T)
    before = way[: int(away.argmin()) + 1][::-1]
    far = before[away[: len(before)][::-1] >= _AWAY]
    for spot in (*far, way[0]):
        yield np.array([*spot, math.atan2(center[1] - spot[1], center[0] - spot[0])])
