"""A place on the way to what is seen from afar, where it cannot be faced yet because the floor before it is unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.experts.reach import Reach
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.visibility import sight_between


@dataclass(frozen=True)
class ApproachConfig:
    """Metres. gain: by how much nearer than the robot a place must be. clearance: of the place from obstacles.
    ignore_last: before the thing that may be furniture. excluded_radius: around goals that are not to be proposed.
    candidates: places nearest to the thing that are looked from.
    """

    gain: float = 0.75
    clearance: float = 0.35
    ignore_last: float = 0.8
    excluded_radius: float = 0.35
    candidates: int = 400


def place_towards(
    reach: Reach,
    robot: np.ndarray,
    target: np.ndarray,
    excluded: Sequence[Sequence[float]],
    config: ApproachConfig,
    sight: bool = True,
) -> np.ndarray | None:
    """The reachable pose (3,) nearest to a target (2+,) that looks at it; None where none is nearer than the robot is.

    sight: whether the target must be in line of sight from there, unknown cells let through.
    """
    grid = reach.grid
    target = np.asarray(target, np.float64)[:2]
    here = math.dist(target, (float(robot[0]), float(robot[1])))
    lengths = reach.easy
    cells = np.argwhere(np.isfinite(lengths) & (obstacle_distance(grid) >= config.clearance))
    if not len(cells):
        return None
    points = grid.points_of(cells)
    distance = np.linalg.norm(points - target, axis=1)
    allowed = distance <= here - config.gain
    for goal in excluded:
        allowed &= np.linalg.norm(points - np.asarray(goal[:2], np.float64), axis=1) > config.excluded_radius
    points, distance = points[allowed], distance[allowed]
    order = np.argsort(distance, kind="stable")[: config.candidates]
    if sight and len(order):
        ends = np.repeat(target[None], len(order), axis=0)
        order = order[sight_between(grid, points[order], ends, config.ignore_last)]
    if not len(order):
        return None
    x, y = points[order[0]]
    return np.array([x, y, float(wrap_angle(math.atan2(target[1] - y, target[0] - x)))])
