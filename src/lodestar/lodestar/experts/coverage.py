"""Which cells the camera has looked at, from how near, and what a look from somewhere would add.

A LiDAR knows the floor of a room long before the camera has looked into it. What is "unknown" to a search is
therefore every cell that is unknown to the grid, or known and not yet looked at (the explored region of
SnapMem App. 8, made exact).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import ray_buffers, ray_cells

SECTORS = 36  # of 10 degrees, the headings that are told apart
_RAYS = 4  # per sector


@njit(cache=True)
def _mark(cells, occupied_from, nearest, u0, v0, reach, fov, heading, resolution):
    """Lower `nearest` (metres) of the cells in view; rays end at occupied cells, which are marked too."""
    flat, entered = ray_buffers(reach)
    distances = nearest.ravel()
    rays = max(8, math.ceil(fov * reach * 1.5))
    for i in range(rays):
        angle = heading - fov / 2.0 + fov * i / (rays - 1)
        n = ray_cells(cells, occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered)
        for k in range(n):
            distances[flat[k]] = min(distances[flat[k]], entered[k] * resolution)


@njit(cache=True)
def _sector_gains(cells, occupied_from, unseen, starts, reach, depth, sectors, rays):
    """(N, sectors) area of unseen cells in view of each start, in cells; a ray ends `depth` into the unknown."""
    flat, entered = ray_buffers(reach)
    values, wanted = cells.ravel(), unseen.ravel()
    gains = np.zeros((len(starts), sectors))
    width = 2.0 * math.pi / (sectors * rays)
    for i in range(len(starts)):
        u0, v0 = starts[i]
        for ray in range(sectors * rays):
            angle = width * (ray + 0.5)
            n = ray_cells(
                cells, occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered
            )
            inside = 0.0
            area = 0.0
            for k in range(1, n):
                left = entered[k + 1] if k + 1 < n else reach
                if values[flat[k]] >= occupied_from:
                    break
                if wanted[flat[k]]:
                    area += (left * left - entered[k] * entered[k]) / 2.0
                if values[flat[k]] < 0:
                    inside += left - entered[k]
                    if inside > depth:
                        break
            gains[i, ray // rays] += area * width
    return gains


@njit(cache=True)
def _views(cells, occupied_from, index, starts, in_view, reach, depth, count, rays):
    """(N, count) bool: which of the numbered cells (`index` >= 0) each start sees in its sectors `in_view`."""
    flat, entered = ray_buffers(reach)
    values, numbers = cells.ravel(), index.ravel()
    sectors = in_view.shape[1]
    seen = np.zeros((len(starts), count), np.bool_)
    for i in range(len(starts)):
        u0, v0 = starts[i]
        for ray in range(sectors * rays):
            if not in_view[i, ray // rays]:
                continue
            angle = 2.0 * math.pi * (ray + 0.5) / (sectors * rays)
            n = ray_cells(
                cells, occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered
            )
            inside = 0.0
            for k in range(n):
                if numbers[flat[k]] >= 0:
                    seen[i, numbers[flat[k]]] = True
                if values[flat[k]] < 0 and k + 1 < n:
                    inside += entered[k + 1] - entered[k]
                    if inside > depth:
                        break
    return seen


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
        self._nearest = carried_over(self._nearest, self._grid, grid, np.inf)
        self._grid = grid

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

    def sector_gains(
        self, points_xy: np.ndarray, unseen: np.ndarray, reach: float, depth: float = math.inf
    ) -> np.ndarray:
        """(N, SECTORS) m^2 of unseen cells in view of points (N, 2) within `reach` metres (RoboAtlas eq. 15).

        Sector k covers headings [k, k + 1) * 360 / SECTORS degrees. depth: metres that a view reaches into the
        unknown, where walls must be expected.
        """
        assert self._grid is not None
        grid = self._grid
        starts = (np.ascontiguousarray(points_xy, np.float64).reshape(-1, 2) - grid.origin) / grid.resolution
        to_cells = 1.0 / grid.resolution
        gains = _sector_gains(
            grid.cells, grid.occupied_from, unseen, starts, reach * to_cells, depth * to_cells, SECTORS, _RAYS
        )
        return gains * grid.resolution**2

    def views(
        self,
        points_xy: np.ndarray,
        in_view: np.ndarray,
        index: np.ndarray,
        reach: float,
        depth: float,
        stride: int = 1,
    ) -> np.ndarray:
        """(N, n) bool: of which blocks, numbered 0..n - 1 by `index` (rows, columns; -1 = none), points (N, 2) see
        a cell.

        in_view: (N, SECTORS) bool, directions that count. reach, depth: as for `sector_gains`. stride: cells of a
        block's side.
        """
        assert self._grid is not None
        grid = self._grid
        starts = (np.ascontiguousarray(points_xy, np.float64).reshape(-1, 2) - grid.origin) / grid.resolution
        cells = reach / grid.resolution
        rays = math.ceil(2.0 * math.pi * cells * 1.1 / (SECTORS * stride))
        count = int(index.max(initial=-1)) + 1
        return _views(
            grid.cells,
            grid.occupied_from,
            index,
            starts,
            in_view,
            cells,
            depth / grid.resolution,
            count,
            rays,
        )


def window_sums(gains: np.ndarray, fov: float) -> np.ndarray:
    """(N, SECTORS) gain of a camera of `fov` radians whose heading is the middle of each sector."""
    half = max(round(fov / 2.0 / (2.0 * math.pi / SECTORS) - 0.5), 0)
    if 2 * half + 1 >= SECTORS:
        return np.repeat(gains.sum(axis=1, keepdims=True), SECTORS, axis=1)
    return np.sum([np.roll(gains, -k, axis=1) for k in range(-half, half + 1)], axis=0)
