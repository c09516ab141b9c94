"""Poses for recoveries: a step aside, a viewpoint past an obstacle, and a place before a blocked path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lodestar.experts.config import ReachConfig
from lodestar.experts.reach import Reach
from lodestar.geometry.boxes import nearest_point_on_box
from lodestar.grid.config import VIEWPOINT_STRICT_IGNORE, ViewpointConfig
from lodestar.grid.footprint import footprint_free, footprints_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar.grid.paths import NoPath, plan_path
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.grid.visibility import sight_between
from lodestar.scene.records import Entity
from lodestar.worldmodel.way_change import blockage_of, newly_occupied

DIRECTIONS = 8


def retreat(
    grid: OccupancyGrid2D, pose: np.ndarray, distance: float, tried: Sequence[np.ndarray] = ()
) -> np.ndarray | None:
    """Return the pose (3,) with the most clearance `distance` metres away, with the same heading.

    None if the footprint fits nowhere, there and halfway. tried: poses of earlier retreats, whose directions
    are excluded.
    """
    angles = pose[2] + np.arange(DIRECTIONS) * (2.0 * math.pi / DIRECTIONS)
    steps = np.stack([np.cos(angles), np.sin(angles), np.zeros(DIRECTIONS)], axis=1) * distance
    ends = pose + steps
    fits = footprints_free(grid, ends) & footprints_free(grid, pose + steps / 2.0)
    cells = grid.cells_of(ends)
    fits &= grid.contains(cells)
    for old in tried:
        fits &= np.hypot(ends[:, 0] - old[0], ends[:, 1] - old[1]) > distance / 2.0
    if not fits.any():
        return None
    inside = np.where(fits[:, None], cells, 0)
    room = np.where(fits, np.minimum(obstacle_distance(grid)[inside[:, 0], inside[:, 1]], 10.0), -1.0)
    return ends[int(room.argmax())]


_MARGIN = 0.05  # m before the object within which a new cell may belong to it: error of its box
_ROUND = math.pi  # rad: a hidden object is looked at from any side
_SHOWS = 0.2  # minimum visible share of an object's outline; as in the simulator's check, ours


def is_hidden(grids: Sequence[OccupancyGrid2D], now: OccupancyGrid2D, xy: np.ndarray, entity: Entity) -> bool:
    """Return whether a new obstacle hides the nearest point or the centre of an object.

    grids: from before the obstacle appeared. now: newest grid. xy: (2+,) in map, viewpoint.
    """
    start = np.asarray(xy, np.float64)[:2]
    nearest = nearest_point_on_box(start, entity.box_min[:2], entity.box_max[:2])
    ends = np.stack([nearest, np.asarray(entity.mean, np.float64)[:2]])
    return any(not sight_between(_new(before, now), start, ends, _MARGIN).all() for before in grids)


def viewpoint_beyond(
    grids: Sequence[OccupancyGrid2D],
    now: OccupancyGrid2D,
    robot: np.ndarray,
    entity: Entity,
    excluded: Sequence[Sequence[float]],
    viewpoints: ViewpointConfig,
    reach: ReachConfig,
) -> np.ndarray | None:
    """Return the pose (3,) that faces an object, from any side, and sees most of its outline; None if none.

    grids, now: as in `is_hidden`. New obstacles leave at least the share _SHOWS of the outline visible; poses
    with few other obstacles in view are preferred.
    """
    views = [view.map_from_camera for view in entity.views]
    config = replace(viewpoints, side_angle=_ROUND, wide_angle=_ROUND)
    try:
        found = Reach(now, robot, reach).viewpoints(entity.box_min, entity.box_max, views, excluded, config)
    except NoViewpoint:
        return None
    poses = np.array([one.pose for one in found])
    shown = np.ones(len(poses))
    for before in grids:
        shown = np.minimum(shown, _shown(_new(before, now), poses, entity, _MARGIN))
    plain = _shown(now, poses, entity, VIEWPOINT_STRICT_IGNORE)
    if not (shown >= _SHOWS).any():
        return None
    rank = np.where(shown >= _SHOWS, np.round(np.minimum(shown, plain), 1) + 0.1 * shown, -1.0)
    return poses[int(rank.argmax())]


def _new(before: OccupancyGrid2D, now: OccupancyGrid2D) -> OccupancyGrid2D:
    """Return a grid with only the newly occupied cells as obstacles."""
    cells = np.where(newly_occupied(before, now), np.int8(OCCUPIED), np.int8(FREE))
    return replace(now, cells=cells, keep_out=None)


def _shown(grid: OccupancyGrid2D, poses: np.ndarray, entity: Entity, ignore_last: float) -> np.ndarray:
    """Return the share (N,) float64 of points on an object's outline that are visible from poses (N, 3)."""
    low, high = np.asarray(entity.box_min)[:2], np.asarray(entity.box_max)[:2]
    steps = np.array([0.0, 0.5, 1.0])
    outline = low + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) * (high - low)
    seen = np.array([sight_between(grid, pose[:2], outline, ignore_last).mean() for pose in poses])
    return np.asarray(seen, np.float64)


_AWAY = 1.2  # m before the obstacle, from where the camera sees a whole door; ours


def place_before_shut_way(
    before: OccupancyGrid2D,
    now: OccupancyGrid2D,
    robot: np.ndarray,
    entity: Entity,
    viewpoints: ViewpointConfig,
    reach: ReachConfig,
) -> np.ndarray | None:
    """Return the pose (3,) in map that faces the new obstacle on the path to an object; None if none does.

    before: grid from when the path was free. now: newest grid. robot: (3,) in map.
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
    """Return the grid with some cells, (rows, columns) bool, set free."""
    return replace(grid, cells=np.where(cells, np.int8(FREE), grid.cells))


def _facing(way: np.ndarray, center: np.ndarray) -> Iterator[np.ndarray]:
    """Yield poses (3,) on a path (N, 2) that face a place near it, backwards along the path.

    The first is the last one at least `_AWAY` before the place, and the last is the path's begin.
    """
    away = np.hypot(*(way - center).T)
    before = way[: int(away.argmin()) + 1][::-1]
    far = before[away[: len(before)][::-1] >= _AWAY]
    for spot in (*far, way[0]):
        yield np.array([*spot, math.atan2(center[1] - spot[1], center[0] - spot[0])])
