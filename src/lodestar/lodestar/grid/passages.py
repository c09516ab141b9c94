"""Detection of the narrow place ahead of a pose, such as a door."""

from __future__ import annotations

import math

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D

DOOR = 0.9  # m; assumed width of a door that the grid shows as closed
WIDEST = 2.0  # m; a wider gap is no passage


def passage_ahead(
    grid: OccupancyGrid2D, pose: np.ndarray, reach: float
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return both ends (x, y) of the narrowest passage ahead, else of the obstacle that blocks the robot.

    None if there is neither. pose: (3,) x, y, yaw in map. reach: metres ahead that are searched.
    """
    ahead = np.array([math.cos(pose[2]), math.sin(pose[2])])
    left = np.array([-ahead[1], ahead[0]])
    steps = np.arange(grid.resolution, reach, grid.resolution)
    centres = np.asarray(pose[:2], float) + steps[:, None] * ahead
    blocked = np.flatnonzero(_occupied(grid, centres))
    first = int(blocked[0]) if len(blocked) else len(steps)
    best: tuple[float, int, float, float] | None = None
    for number in range(first):
        sides = [_gap(grid, centres[number], side * left) for side in (1.0, -1.0)]
        width = sides[0] + sides[1]
        if width <= WIDEST and (best is None or width < best[0]):
            best = width, number, sides[0], sides[1]
    if best is not None:
        centre = centres[best[1]]
        return _pair(centre + best[2] * left), _pair(centre - best[3] * left)
    if first < len(steps):
        centre = centres[first]
        return _pair(centre + 0.5 * DOOR * left), _pair(centre - 0.5 * DOOR * left)
    return None


def _gap(grid: OccupancyGrid2D, start: np.ndarray, direction: np.ndarray) -> float:
    """Return the distance, metres, to the first occupied cell along a direction (2,).

    It is inf if none lies within `WIDEST`.
    """
    steps = np.arange(0.0, WIDEST, grid.resolution)
    hits = np.flatnonzero(_occupied(grid, start + steps[:, None] * direction))
    return float(steps[hits[0]]) if len(hits) else math.inf


def _occupied(grid: OccupancyGrid2D, points: np.ndarray) -> np.ndarray:
    cells = grid.cells_of(points)
    inside = grid.contains(cells)
    found = np.zeros(len(points), bool)
    found[inside] = grid.cells[cells[inside, 0], cells[inside, 1]] >= grid.occupied_from
    return found


def _pair(point: np.ndarray) -> tuple[float, float]:
    return float(point[0]), float(point[1])
