"""Fast check of whether a goal may be reachable over connected floor; in doubt it counts as reachable."""

from __future__ import annotations

import math

import cv2
import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D


class ConnectedFloor:
    """Connected components of the floor of the newest grid, computed once per grid.

    Unknown cells count as floor. gap: metres of clearance required. near: metres around a place; all
    components in them count as reached from it.
    """

    def __init__(self, gap: float, near: float) -> None:
        self._gap, self._near = gap, near
        self._grid: OccupancyGrid2D | None = None
        self._parts = np.zeros((1, 1), np.int32)  # 0 = no floor

    def joins(self, grid: OccupancyGrid2D, start: np.ndarray, goal: np.ndarray) -> bool:
        """Return whether a path may lead from start (2+,) to goal (2+,).

        Also True if one of them lies outside the grid or has no floor nearby.
        """
        if grid is not self._grid:
            cells = 2 * int(self._gap / grid.resolution) + 1
            disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (cells, cells))
            passable = cv2.erode((~grid.barred).astype(np.uint8), disc, borderValue=1)
            self._parts = np.asarray(cv2.connectedComponents(passable, connectivity=8)[1], np.int32)
            self._grid = grid
        here, there = self._around(grid, start), self._around(grid, goal)
        return not here or not there or bool(here & there)

    def _around(self, grid: OccupancyGrid2D, place: np.ndarray) -> set[int]:
        """Return the components near a place; empty outside the grid, or without floor nearby."""
        (row, column), reach = grid.cells_of(place[:2]), math.ceil(self._near / grid.resolution)
        if not bool(grid.contains(np.array([row, column]))):
            return set()
        window = self._parts[
            max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1
        ]
        return set(np.unique(window).tolist()) - {0}
