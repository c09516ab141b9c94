"""The fence: what lies outside of the polygon in which the robot may be."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.config import FenceConfig
from lodestar.grid.occupancy import UNKNOWN, OccupancyGrid2D


def widened(grid: OccupancyGrid2D, ahead: float) -> OccupancyGrid2D:
    """Return the grid with `ahead` metres of unknown cells on every side."""
    margin = int(np.ceil(ahead / grid.resolution))
    cells = np.pad(grid.cells, margin, constant_values=UNKNOWN)
    origin = (grid.origin[0] - margin * grid.resolution, grid.origin[1] - margin * grid.resolution)
    return replace(grid, cells=cells, origin=origin, keep_out=None)


def outside(fence: FenceConfig, grid: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool: cells that lie outside of the fence, and those under its edge."""
    corners = grid.cells_of(np.array(fence.points))[:, ::-1].astype(
        np.int32
    )  # columns first, as OpenCV counts
    inside = np.zeros(grid.cells.shape, np.uint8)
    cv2.fillPoly(inside, [corners], 1)
    cv2.polylines(inside, [corners], isClosed=True, color=0)
    return inside == 0
