"""The place from which the robot looks once more at what shut the way to a known thing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

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
