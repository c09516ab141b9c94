"""Distance from obstacles, and where a robot may stand because of it."""

from __future__ import annotations

import cv2
import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D


def distance_to(mask: np.ndarray, resolution: float) -> np.ndarray:
    """Metres from each cell's centre to the centre of the nearest cell of `mask`.

    mask: (rows, columns) bool. Returns (rows, columns) float32; all inf where the mask is empty.
    """
    if not mask.any():
        return np.full(mask.shape, np.inf, np.float32)
    distance = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return distance * np.float32(resolution)


def obstacle_distance(grid: OccupancyGrid2D) -> np.ndarray:
    """(rows, columns) float32, metres from each cell's centre to that of the nearest occupied or keep-out cell."""
    return distance_to(grid.barred, grid.resolution)


def traversable(grid: OccupancyGrid2D, clearance: float, unknown_ok: bool = False) -> np.ndarray:
    """(rows, columns) bool: free (or unknown) cells at least `clearance` metres from any obstacle."""
    passable = (grid.cells < grid.occupied_from) if unknown_ok else grid.free
    return passable & (obstacle_distance(grid) >= clearance)
