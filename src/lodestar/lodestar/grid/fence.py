"""Polygons on the floor as cells: the fence, in which the robot may be, and areas that it does not enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.config import FenceConfig
from lodestar.grid.occupancy import UNKNOWN, OccupancyGrid2D

_FAR = 32_000  # cells beyond any grid, which OpenCV still draws to


def widened(grid: OccupancyGrid2D, ahead: float) -> OccupancyGrid2D:
    """Return the grid with `ahead` metres of unknown cells on every side."""
    margin = int(np.ceil(ahead / grid.resolution))
    cells = np.pad(grid.cells, margin, constant_values=UNKNOWN)
    origin = (grid.origin[0] - margin * grid.resolution, grid.origin[1] - margin * grid.resolution)
    return replace(grid, cells=cells, origin=origin, keep_out=None)


def outside(fence: FenceConfig, grid: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool: cells that lie outside of the fence, and those under its edge."""
    found = np.zeros(grid.cells.shape, np.uint8)
    cv2.fillPoly(found, [_corners(fence.points, grid)], 1)
    cv2.polylines(found, [_corners(fence.points, grid)], isClosed=True, color=0)
    return found == 0


def inside(area: Sequence[Sequence[float]], grid: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool: cells in the area of these corners (x, y) in map, and those under its edge."""
    found = np.zeros(grid.cells.shape, np.uint8)
    cv2.fillPoly(found, [_corners(area, grid)], 1)
    return found.astype(bool)


def _corners(points: Sequence[Sequence[float]], grid: OccupancyGrid2D) -> np.ndarray:
    cells = grid.cells_of(np.array(points))[:, ::-1]  # columns first, as OpenCV counts
    return np.clip(cells, -_FAR, _FAR).astype(np.int32)
