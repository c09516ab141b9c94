"""Lengths of the shortest paths from one place to all cells, computed once per grid."""

from __future__ import annotations

import math

import numpy as np

from lodestar.grid.config import TravelConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths

_NEAR = 0.5  # m around a goal within which any cell reachable for the robot's centre counts


class WayLengths:
    """Cache of the path lengths from the newest start on the newest grid."""

    def __init__(self, config: TravelConfig = TravelConfig()) -> None:
        self._config = config
        self._grid: OccupancyGrid2D | None = None
        self._start = (math.nan, math.nan)
        self._lengths = np.empty((0, 0), np.float32)

    def between(self, grid: OccupancyGrid2D, start: np.ndarray, goal: np.ndarray) -> float:
        """Return the path length, metres, from start to goal; inf = no path.

        If the goal is not reachable, the nearest reachable cell within half a metre counts. start: (2 or 3,).
        """
        lengths = self.to_all(grid, start)
        row, column = (int(v) for v in grid.cells_of(np.asarray(goal, np.float64)[None, :2])[0])
        if grid.contains(np.array([row, column])) and math.isfinite(lengths[row, column]):
            return float(lengths[row, column])
        reach = math.ceil(_NEAR / grid.resolution)
        low, high = (max(row - reach, 0), max(column - reach, 0)), (row + reach + 1, column + reach + 1)
        around = lengths[low[0] : max(high[0], 0), low[1] : max(high[1], 0)]
        return float(around.min()) if around.size else math.inf

    def to_all(self, grid: OccupancyGrid2D, start: np.ndarray) -> np.ndarray:
        """Return the path lengths (rows, columns) from the start to every cell; see `path_lengths`.

        float32 metres, read-only. start: (2 or 3,).
        """
        place = (float(start[0]), float(start[1]))
        if grid is not self._grid or place != self._start:
            self._grid, self._start = grid, place
            self._lengths = path_lengths(grid, np.array(place), self._config)
            self._lengths.setflags(write=False)
        return self._lengths
