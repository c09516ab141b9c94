"""Polygons on the floor as cells: the fence, which the robot must not leave, and forbidden areas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.config import FenceConfig
from lodestar.grid.occupancy import UNKNOWN, OccupancyGrid2D

_FAR = 32_000  # largest cell index beyond the grid that OpenCV can still draw to


def widened(grid: OccupancyGrid2D, ahead: float) -> OccupancyGrid2D:
    """Return the grid enlarged by `ahead` metres of unknown cells on every side."""
    margin = int(np.ceil(ahead / grid.resolution))
    cells = np.pad(grid.cells, margin, constant_values=UNKNOWN)
    origin = (grid.origin[0] - margin * grid.resolution, grid.origin[1] - margin * grid.resolution)
    return replace(grid, cells=cells, origin=origin, keep_out=None)


def outside(fence: FenceConfig, grid: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool: cells outside the fence or on its edge."""
    found = np.zeros(grid.cells.shape, np.uint8)
    cv2.fillPoly(found, [_corners(fence.points, grid)], 1)
    cv2.polylines(found, [_corners(fence.points, grid)], isClosed=True, color=0)
    return found == 0


def inside(area: Sequence[Sequence[float]], grid: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool: cells inside the polygon or on its edge. area: corners (x, y) in map."""
    found = np.zeros(grid.cells.shape, np.uint8)
    cv2.fillPoly(found, [_corners(area, grid)], 1)
    return found.astype(bool)


def _corners(points: Sequence[Sequence[float]], grid: OccupancyGrid2D) -> np.ndarray:
    cells = grid.cells_of(np.array(points))[:, ::-1]  # OpenCV takes (column, row)
    return np.clip(cells, -_FAR, _FAR).astype(np.int32)
