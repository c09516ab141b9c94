"""Which cells the camera has looked at, from how near, and what a look from somewhere would add.

A LiDAR knows the floor of a room long before the camera has looked into it. What is "unknown" to a search is
therefore every cell that is unknown to the grid, or known and not yet looked at (the explored region of
SnapMem App. 8, made exact).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.grid.occupancy import OccupancyGrid2D

SECTORS = 36  # of 10 degrees, the headings that are told apart


@njit(cache=True)
def _mark(cells, occupied_from, nearest, u0, v0, reach, fov, heading, resolution):
    """Lower `nearest` (metres) of the cells in view; rays end at occupied cells, which are marked too."""
    rows, columns = cells.shape
    rays = max(8, math.ceil(fov * reach * 1.5))
    for i in range(rays):
        angle = heading - fov / 2.0 + fov * i / (rays - 1)
        du, dv = math.cos(angle), math.sin(angle)
        column, row = math.floor(u0), math.floor(v0)
        step_u, step_v = (1 if du > 0 else -1), (1 if dv > 0 else -1)
        next_u = ((column + (du > 0)) - u0) / du if abs(du) > 1e-12 else math.inf
        next_v = ((row + (dv > 0)) - v0) / dv if abs(dv) > 1e-12 else math.inf
        travelled = 0.0
        while travelled < reach:
            if row < 0 or row >= rows or column < 0 or column >= columns:
                break
            distance = travelled * resolution
            if distance < nearest[row, column]:
                nearest[row, column] = distance
            if cells[row, column] >= occupied_from and travelled > 0.0:
                break
            travelled = min(next_u, next_v)
            if next_u < next_v:
                column += step_u
                next_u += abs(1.0 / du)
            else:
                row += step_v
                next_v += abs(1.0 / dv)


@njit(cache=True)
def _sector_gains(cells, occupied_from, unseen, starts, reach, sectors):
    """(N, sectors) unseen cells in view of each start, by direction; each cell counts once."""
    rows, columns = cells.shape
    stamp = np.zeros(cells.shape, np.int32)
    gains = np.zeros((len(starts), sectors), np.int64)
    rays = sectors * max(1, math.ceil(2.0 * math.pi * reach * 1.2 / sectors))
    for i in range(len(starts)):
        u0, v0 = starts[i]
        for k in range(rays):
            angle = 2.0 * math.pi * (k + 0.5) / rays
            sector = k * sectors // rays
            du, dv = math.cos(angle), math.sin(angle)
            column, row = math.floor(u0), math.floor(v0)
            step_u, step_v = (1 if du > 0 else -1), (1 if dv > 0 else -1)
            next_u = ((column + (du > 0)) - u0) / du if abs(du) > 1e-12 else math.inf
            next_v = ((row + (dv > 0)) - v0) / dv if abs(dv) > 1e-12 else math.inf
            while min(next_u, next_v) < reach:
                if next_u < next_v:
                    column += step_u
                    next_u += abs(1.0 / du)
                else:
                    row += step_v
                    next_v += abs(1.0 / dv)
                if row < 0 or row >= rows or column < 0 or column >= columns:
                    break
                if cells[row, column] >= occupied_from:
                    break
                if stamp[row, column] != i + 1:
                    stamp[row, column] = i + 1
                    if unseen[row, column]:
                        gains[i, sector] += 1
    return gains


class LookedAt:
    """Per cell of the newest grid, the smallest distance from which the camera has looked at it."""

    def __init__(self, max_range: float, settled: float = 1.5) -> None:
        self.max_range = max_range  # metres
        self.settled = settled  # metres
        self.count = 0  # of views so far
        self._grid: OccupancyGrid2D | None = None
        self._nearest: np.ndarray = np.empty((0, 0), np.float32)

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Follow the grid as it grows or moves its origin; what was looked at stays looked at."""
        old, self._grid = self._grid, grid
        if old is not None and old.cells.shape == grid.cells.shape and old.origin == grid.origin:
            return
        nearest: np.ndarray = np.full(grid.cells.shape, np.inf, np.float32)
        if old is not None and abs(old.resolution - grid.resolution) < 1e-9:
            row = round((old.origin[1] - grid.origin[1]) / grid.resolution)
            column = round((old.origin[0] - grid.origin[0]) / grid.resolution)
            rows, columns = self._nearest.shape
            top, left = max(row, 0), max(column, 0)
            bottom, right = min(row + rows, nearest.shape[0]), min(column + columns, nearest.shape[1])
            if top < bottom and left < right:
                nearest[top:bottom, left:right] = self._nearest[
                    top - row : bottom - row, left - column : right - column
                ]
        self._nearest = nearest

    def look(self, xy: np.ndarray, heading: float, fov: float) -> None:
        """The camera looked from `xy` along `heading` (map) with `fov` (radians)."""
        if self._grid is None:
            return
        grid = self._grid
        u0, v0 = ((float(xy[k]) - grid.origin[k]) / grid.resolution for k in (0, 1))
        reach = self.max_range / grid.resolution
        _mark(
            grid.cells,
            grid.occupied_from,
            self._nearest,
            u0,
            v0,
            reach,
            float(fov),
            float(heading),
            grid.resolution,
        )
        self.count += 1

    def unseen(self, within: float) -> np.ndarray:
        """(rows, columns) bool: unknown, or free and not yet looked at from `within` metres.

        An unknown cell that was looked at from within `settled` metres and stayed unknown is given up: the
        sensors had their chance to fill it. Before the first view, only the unknown cells.
        """
        assert self._grid is not None
        if self.count == 0:
            return self._grid.unknown
        waiting = self._grid.unknown & (self._nearest > self.settled)
        return waiting | (self._grid.free & (self._nearest > within))

    def sector_gains(self, points_xy: np.ndarray, unseen: np.ndarray, reach: float) -> np.ndarray:
        """(N, SECTORS) unseen cells in view of points (N, 2) within `reach` metres (RoboAtlas eq. 15), by
        heading.

        Sector k covers headings [k, k + 1) * 360 / SECTORS degrees.
        """
        assert self._grid is not None
        grid = self._grid
        starts = (np.ascontiguousarray(points_xy, np.float64).reshape(-1, 2) - grid.origin) / grid.resolution
        return _sector_gains(grid.cells, grid.occupied_from, unseen, starts, reach / grid.resolution, SECTORS)


def window_sums(gains: np.ndarray, fov: float) -> np.ndarray:
    """(N, SECTORS) gain of a camera of `fov` radians whose heading is the middle of each sector."""
    half = max(round(fov / 2.0 / (2.0 * math.pi / SECTORS) - 0.5), 0)
    return np.sum([np.roll(gains, -k, axis=1) for k in range(-half, half + 1)], axis=0)
