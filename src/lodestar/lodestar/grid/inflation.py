"""Distance from obstacles and the traversable cells that follow from it."""

from __future__ import annotations

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D, distance_to

__all__ = ["distance_to", "obstacle_distance", "traversable"]


def obstacle_distance(grid: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) float32, metres to the nearest occupied or keep-out cell; read-only."""
    return grid.clearance


def traversable(grid: OccupancyGrid2D, clearance: float, unknown_ok: bool = False) -> np.ndarray:
    """Return (rows, columns) bool: free (or unknown) cells at least `clearance` metres from any obstacle."""
    passable = (grid.cells < grid.occupied_from) if unknown_ok else grid.free
    return passable & (obstacle_distance(grid) >= clearance)
