"""Viewpoints of a thing from which nothing that came since hides it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lodestar.experts.config import ReachConfig
from lodestar.experts.reach import Reach
from lodestar.geometry.boxes import nearest_point_on_box
from lodestar.grid.config import ViewpointConfig
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint
from lodestar.grid.visibility import sight_between
from lodestar.scene.records import Entity
from lodestar.worldmodel.way_change import newly_occupied

_MARGIN = 0.05  # m before the thing in which a new cell may be its own: the error of its box
_ROUND = math.pi  # rad: a thing that is hidden where it was seen from is looked at from any side
_SHOWS = 0.2  # share of a thing's outline that must show; as of the simulator's judge, ours


def is_hidden(grids: Sequence[OccupancyGrid2D], now: OccupancyGrid2D, xy: np.ndarray, entity: Entity) -> bool:
    """Return whether something that came since hides the nearest point or the middle of a thing.

    grids: of moments at which it did not stand there yet. xy: (2+,) in map, from where it is looked at.
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
    """Return the pose (3,) that faces a thing and shows most of its outline, from any side; None if there is none.

    Nothing hides it from there: neither what came since nor, unless no better place is left, what stood before it.
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
    plain = _shown(now, poses, entity, viewpoints.strict_ignore)
    if not (shown >= _SHOWS).any():
        return None
    rank = np.where(shown >= _SHOWS, np.round(np.minimum(shown, plain), 1) + 0.1 * shown, -1.0)
    return poses[int(rank.argmax())]


def _new(before: OccupancyGrid2D, now: OccupancyGrid2D) -> OccupancyGrid2D:
    """Return a grid of what came since alone."""
    cells = np.where(newly_occupied(before, now), np.int8(OCCUPIED), np.int8(FREE))
    return replace(now, cells=cells, keep_out=None)


def _shown(grid: OccupancyGrid2D, poses: np.ndarray, entity: Entity, ignore_last: float) -> np.ndarray:
    """Return the share (N,) of points on a thing's outline that are seen from poses (N, 3), of those that face it."""
    low, high = np.asarray(entity.box_min)[:2], np.asarray(entity.box_max)[:2]
    steps = np.array([0.0, 0.5, 1.0])
    outline = low + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) * (high - low)
    seen = np.array([sight_between(grid, pose[:2], outline, ignore_last).mean() for pose in poses])
    return np.asarray(seen, np.float64)
