"""The ground of a world: heights of walkable cells, and drop-offs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from lodestar_sim.worlds.elements import Ramp, Slab, Wall

RESOLUTION = 0.05  # m, cell size
CLIMB = 0.16  # m, highest step that a Go2 climbs (data sheet)
LEVEL = 0.01  # m, height difference within which ground counts as level


class Terrain:
    """Raster of ground heights from slabs, ramps and sills, without objects.

    height: (rows, columns) float32, metres; NaN = drop-off, a cell that steps of at most CLIMB from the start cannot
    reach. Row 0 has the lowest y.
    """

    def __init__(
        self,
        bounds: tuple[float, float, float, float],
        start: tuple[float, float, float],
        slabs: Sequence[Slab],
        ramps: Sequence[Ramp],
        walls: Sequence[Wall],
    ) -> None:
        x0, y0, x1, y1 = bounds
        self.origin = (x0, y0)
        shape = (math.ceil((y1 - y0) / RESOLUTION - 1e-6), math.ceil((x1 - x0) / RESOLUTION - 1e-6))
        surface = np.full(shape, -np.inf, np.float32)
        for slab in slabs:
            if not slab.ceiling:
                window = self._window(slab.x0, slab.y0, slab.x1, slab.y1, shape)
                surface[window] = np.maximum(surface[window], slab.z)
        for ramp in ramps:
            window = self._window(ramp.x0, ramp.y0, ramp.x1, ramp.y1, shape)
            rows, columns = np.mgrid[window]
            x, y = x0 + (columns + 0.5) * RESOLUTION, y0 + (rows + 0.5) * RESOLUTION
            if ramp.along == "x":
                share = (x - ramp.x0) / (ramp.x1 - ramp.x0)
            else:
                share = (y - ramp.y0) / (ramp.y1 - ramp.y0)
            surface[window] = np.maximum(surface[window], ramp.z0 + share * (ramp.z1 - ramp.z0))
        for wall in walls:
            window = self._window(wall.x0, wall.y0, wall.x1, wall.y1, shape)
            top = surface[window]
            if top.size and 0.0 < wall.z1 - top.min() <= CLIMB and wall.z0 <= top.min() + LEVEL:
                surface[window] = np.maximum(top, wall.z1)
        column, row = (int((v - o) / RESOLUTION) for v, o in zip(start[:2], self.origin))
        row, column = min(max(row, 0), shape[0] - 1), min(max(column, 0), shape[1] - 1)
        self.height = np.where(_walked(surface, row, column), surface, np.float32(np.nan))

    def _window(
        self, x0: float, y0: float, x1: float, y1: float, shape: tuple[int, int]
    ) -> tuple[slice, slice]:
        def cells(low: float, high: float, start: float, most: int) -> slice:
            first, last = (math.floor((v - start) / RESOLUTION + 0.5) for v in (low, high))
            return slice(min(max(first, 0), most), min(max(last, first + 1, 0), most))

        return cells(y0, y1, self.origin[1], shape[0]), cells(x0, x1, self.origin[0], shape[1])

    @property
    def drops(self) -> np.ndarray:
        """Return (rows, columns) bool: cells without ground."""
        return np.isnan(self.height)

    @cached_property
    def _nearest(self) -> np.ndarray:
        """Return the height of the ground nearest to each cell, (rows, columns) float32."""
        from scipy.ndimage import distance_transform_edt

        index = distance_transform_edt(self.drops, return_distances=False, return_indices=True)
        return self.height[tuple(index)]

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the height of the ground at points (N, 2+): (N,) float64, metres, NaN = no ground."""
        return self._read(self.height, points)

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """Return the height of the ground nearest to points (N, 2+): (N,) float64, metres."""
        return self._read(self._nearest, points)

    def _read(self, heights: np.ndarray, points: np.ndarray) -> np.ndarray:
        points = np.asarray(points, np.float64)
        cells = np.floor((points[:, 1::-1] - self.origin[::-1]) / RESOLUTION).astype(np.int64)
        row, column = np.clip(cells, 0, np.array(heights.shape) - 1).T
        return heights[row, column].astype(np.float64)


def is_level(slabs: Sequence[Slab], ramps: Sequence[Ramp], walls: Sequence[Wall]) -> bool:
    """Return whether all floor is at z = 0, without ramps and sills."""
    floors_level = all(abs(slab.z) <= LEVEL for slab in slabs if not slab.ceiling)
    return floors_level and not ramps and not any(wall.z1 <= CLIMB for wall in walls)


def _walked(surface: np.ndarray, row: int, column: int) -> np.ndarray:
    """Return (rows, columns) bool: cells that can be reached from one cell by steps of at most CLIMB."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    rows, columns = surface.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    pairs = []
    with np.errstate(invalid="ignore"):
        across = np.abs(np.diff(surface, axis=1)) <= CLIMB
        along = np.abs(np.diff(surface, axis=0)) <= CLIMB
    pairs.append((number[:, :-1][across], number[:, 1:][across]))
    pairs.append((number[:-1][along], number[1:][along]))
    first, second = (np.concatenate(ends) for ends in zip(*pairs))
    graph = sparse.coo_matrix((np.ones(len(first), bool), (first, second)), (number.size, number.size))
    _, labels = connected_components(graph, directed=False)
    return (labels == labels[number[row, column]]).reshape(rows, columns)
