"""A step aside for a robot that cannot move although the grid says that it could.

The obstacle may be too low or too thin for the sensors. A short step without turning, towards the most room, frees the
robot more often than another far goal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lodestar.grid.footprint import footprints_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OccupancyGrid2D

DIRECTIONS = 8


def retreat(
    grid: OccupancyGrid2D, pose: np.ndarray, distance: float, tried: Sequence[np.ndarray] = ()
) -> np.ndarray | None:
    """The pose (3,) of the same heading, `distance` metres aside, with the most room; None where none is left.

    The footprint fits there and halfway. tried: poses of earlier retreats, in whose directions it does not go again.
    """
    angles = pose[2] + np.arange(DIRECTIONS) * (2.0 * math.pi / DIRECTIONS)
    steps = np.stack([np.cos(angles), np.sin(angles), np.zeros(DIRECTIONS)], axis=1) * distance
    ends = pose + steps
    fits = footprints_free(grid, ends) & footprints_free(grid, pose + steps / 2.0)
    cells = grid.cells_of(ends)
    fits &= grid.contains(cells)
    for old in tried:
        fits &= np.hypot(ends[:, 0] - old[0], ends[:, 1] - old[1]) > distance / 2.0
    if not fits.any():
        return None
    inside = np.where(fits[:, None], cells, 0)
    room = np.where(fits, np.minimum(obstacle_distance(grid)[inside[:, 0], inside[:, 1]], 10.0), -1.0)
    return ends[int(room.argmax())]
