"""Rectangular robot footprint and its collision checks on a grid."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import Footprint
from lodestar.grid.occupancy import OccupancyGrid2D

GO2 = Footprint()


@njit(cache=True)
def _free(cells, resolution, x0, y0, occupied_from, unknown_ok, poses, half_length, half_width):
    rows, columns = cells.shape
    result = np.ones(len(poses), np.bool_)
    margin = resolution / 2.0  # cells are tested at their centre, so the rectangle grows by half a cell
    radius = math.hypot(half_length + margin, half_width + margin)
    for i in range(len(poses)):
        x, y, yaw = poses[i]
        c, s = math.cos(yaw), math.sin(yaw)
        row_low = math.floor((y - radius - y0) / resolution)
        row_high = math.floor((y + radius - y0) / resolution)
        column_low = math.floor((x - radius - x0) / resolution)
        column_high = math.floor((x + radius - x0) / resolution)
        for row in range(row_low, row_high + 1):
            dy = y0 + (row + 0.5) * resolution - y
            for column in range(column_low, column_high + 1):
                dx = x0 + (column + 0.5) * resolution - x
                if abs(dx * c + dy * s) > half_length + margin or abs(dy * c - dx * s) > half_width + margin:
                    continue
                if row < 0 or row >= rows or column < 0 or column >= columns:
                    blocked = not unknown_ok
                else:
                    value = cells[row, column]
                    blocked = value >= occupied_from or (value < 0 and not unknown_ok)
                if blocked:
                    result[i] = False
                    break
            if not result[i]:
                break
    return result


def footprints_free(
    grid: OccupancyGrid2D, poses: ArrayLike, footprint: Footprint = GO2, unknown_ok: bool = True
) -> np.ndarray:
    """Return (N,) bool: True where the footprint at poses (N, 3) covers no obstacle or keep-out cell.

    Unknown cells count as obstacles unless `unknown_ok`. Cells off the grid are unknown.
    """
    return _free(
        grid.barred_cells,
        grid.resolution,
        float(grid.origin[0]),
        float(grid.origin[1]),
        grid.occupied_from,
        unknown_ok,
        np.ascontiguousarray(poses, np.float64).reshape(-1, 3),
        footprint.length / 2.0,
        footprint.width / 2.0,
    )


def footprint_free(
    grid: OccupancyGrid2D, pose: ArrayLike, footprint: Footprint = GO2, unknown_ok: bool = True
) -> bool:
    """Return whether the footprint fits at pose (x, y, yaw); see `footprints_free`."""
    return bool(footprints_free(grid, np.asarray(pose, np.float64)[None], footprint, unknown_ok)[0])


_HEADINGS = 8  # headings that are tried if any heading is allowed
_RING = 0.15  # m between the rings of candidate poses around a goal that does not fit


def nearest_fitting(grid: OccupancyGrid2D, goal: np.ndarray, turns: bool, slack: float) -> np.ndarray:
    """Return the pose (3,) nearest to the goal (3,) at which the robot fits; the goal if there is none.

    turns: whether any heading is allowed. slack: largest distance from the goal, metres.
    """
    goal = np.asarray(goal, np.float64)
    steps = np.arange(_HEADINGS) * (2.0 * math.pi / _HEADINGS) if turns else np.zeros(1)
    headings = np.array(sorted((float(wrap_angle(step)) for step in steps), key=abs)) + goal[2]
    offsets = [np.zeros(2)]
    for radius in np.arange(_RING, slack, _RING):
        offsets += [radius * np.array([math.cos(a), math.sin(a)]) for a in np.arange(8) * math.pi / 4.0]
    poses = np.array([[*(goal[:2] + offset), wrap_angle(yaw)] for offset in offsets for yaw in headings])
    free = np.flatnonzero(footprints_free(grid, poses) & grid.contains(grid.cells_of(poses[:, :2])))
    return poses[free[0]] if len(free) else goal
