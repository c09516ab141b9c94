"""Headings along a way, so that floor which the camera has not looked at passes through its view."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.grid.config import LookConfig
from lodestar.grid.looks import Looks
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import ray_buffers, ray_cells

_LIMITS = LookConfig()
_STEP = math.radians(3.0)  # between the rays that tell what is unseen; chosen
_HEADINGS = 9  # that are compared, the direction of the way among them; chosen
_INTERVAL = 0.2  # s between two looks that are noted, and between two choices; chosen
_UNKNOWN = 1.0  # m of unknown floor that a ray counts; chosen: what lies behind it is not known to be seen
_LEAST = 2.0  # m^2 that a heading must show more than the way's own direction; chosen: with 0.25 apartments took longer
_AGE = 120.0  # s for which a look counts: a search that comes by again looks again; chosen


@njit(cache=True)
def _unseen(cells, occupied_from, seen, u0, v0, reach, first, step, count, beyond, scale):
    """Return (count,) the unseen area, m^2, of sectors of `step` radians; u0, v0, reach, beyond in cells."""
    flat, entered = ray_buffers(reach)
    values, marks = cells.ravel(), seen.ravel()
    area = np.zeros(count)
    for i in range(count):
        angle = first + step * i
        n = ray_cells(cells, occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered)
        unknown = 0.0
        for k in range(n):
            begin = entered[k]
            end = entered[k + 1] if k + 1 < n else min(begin + 1.0, reach)
            value = values[flat[k]]
            if value >= occupied_from:
                break
            if value < 0:
                unknown += end - begin
                if unknown > beyond:
                    break
            if not marks[flat[k]]:
                area[i] += (end * end - begin * begin) / 2.0 * step
    return area * scale


class WayHeadings:
    """Headings for a robot that walks in any direction, so that it looks aside on its way. Not safe for threads.

    It keeps a record of its own of what the camera has looked at, as it is told of each pose.
    """

    def __init__(self, aside: float, config: LookConfig = _LIMITS) -> None:
        """aside: radians by which the heading may differ from the direction of the way; 0 = it never does."""
        if not 0.0 <= aside < math.pi / 2.0:
            raise ValueError(f"aside, {aside} rad, must be at least 0 and below a right angle")
        self._aside, self._config = aside, config
        self._looks = Looks(config)
        self._noted = self._chosen_at = -math.inf
        self._offset = 0.0

    def look(self, grid: OccupancyGrid2D, pose: np.ndarray, stamp: float) -> None:
        """Note what the camera sees at a pose (3,), in the frame of the grid; at most one look each interval."""
        if self._aside == 0.0 or 0.0 <= stamp - self._noted < _INTERVAL:
            return
        if stamp < self._noted:  # the clock began anew
            self._looks.clear()
            self._chosen_at = -math.inf
        self._noted = stamp
        self._looks.set_grid(grid)
        self._looks.look(pose, float(pose[2]), stamp)

    def heading(self, pose: np.ndarray, bearing: float, stamp: float) -> float:
        """Return the heading, radians, from a pose (3,) whose way leads along `bearing`: that which shows most of what
        was not looked at, or the bearing, where no other shows more.
        """
        if self._aside == 0.0 or self._looks.grid is None:
            return bearing
        if stamp - self._chosen_at >= _INTERVAL:
            self._chosen_at = stamp
            self._offset = self._best(self._looks.grid, pose, bearing, stamp)
        return bearing + self._offset

    def _best(self, grid: OccupancyGrid2D, pose: np.ndarray, bearing: float, stamp: float) -> float:
        half = self._config.fov / 2.0
        count = math.ceil(2.0 * (half + self._aside) / _STEP)
        first = bearing - (count - 1) / 2.0 * _STEP
        area = _unseen(
            grid.cells, grid.occupied_from, self._looks.seen(since=stamp - _AGE),
            (pose[0] - grid.origin[0]) / grid.resolution, (pose[1] - grid.origin[1]) / grid.resolution,
            self._config.range / grid.resolution, first, _STEP, count, _UNKNOWN / grid.resolution, grid.resolution**2,
        )  # fmt: skip
        sums = np.concatenate([[0.0], np.cumsum(area)])
        offsets = np.linspace(-self._aside, self._aside, _HEADINGS)
        low = np.round((bearing + offsets - half - first) / _STEP).astype(int).clip(0, count)
        high = np.round((bearing + offsets + half - first) / _STEP).astype(int).clip(0, count)
        shown = sums[high] - sums[low]
        shown = shown - _LEAST * (offsets != 0.0)
        # among equals the one nearest to the heading that the robot has, so that it does not turn to and fro
        turns = np.abs(np.remainder(bearing + offsets - pose[2] + math.pi, 2.0 * math.pi) - math.pi)
        return float(offsets[np.lexsort((turns, -np.round(shown, 2)))[0]])
