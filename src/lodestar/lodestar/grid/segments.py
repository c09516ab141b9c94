"""Segments on the floor: their cells on a grid, and the rays that cross them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lodestar.grid.occupancy import OccupancyGrid2D


def segment_cells(
    grid: OccupancyGrid2D, start: ArrayLike, end: ArrayLike, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns (N,) of the cells whose centre lies within `reach` metres of a segment.

    start, end: (2,) in the grid's frame, metres.
    """
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    reach = max(reach, grid.resolution)  # a thinner line would have gaps between cells
    corners = np.array([np.minimum(a, b) - reach, np.maximum(a, b) + reach])
    low, high = grid.cells_of(corners)
    limit = np.array(grid.cells.shape)
    low, high = np.clip(low, 0, limit), np.clip(high + 1, 0, limit)
    rows, columns = np.mgrid[low[0] : high[0], low[1] : high[1]]
    cells = np.stack([rows.ravel(), columns.ravel()], axis=-1)
    near = distances_to_segment(grid.points_of(cells), a, b) <= reach
    return cells[near, 0], cells[near, 1]


def distances_to_segment(points: np.ndarray, start: ArrayLike, end: ArrayLike) -> np.ndarray:
    """Return the distances (N,), metres, from points (N, 2) to the segment from start (2,) to end (2,)."""
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    along = b - a
    length = float(along @ along)
    share = np.clip((points - a) @ along / length, 0.0, 1.0) if length > 0.0 else np.zeros(len(points))
    return np.linalg.norm(points - a - share[:, None] * along, axis=1)


def crossings(
    origin: np.ndarray,
    points: np.ndarray,
    start: ArrayLike,
    end: ArrayLike,
    beyond: float,
    heights: tuple[float, float],
) -> np.ndarray:
    """Return where rays cross a segment: positions (M,), 0 = start .. 1 = end.

    Only rays that end at least `beyond` metres behind the segment count. origin: (3,), points: (N, 3), the
    ends of the rays, in map. start, end: (2,). heights: lowest and highest z of a crossing.
    """
    a, along = np.asarray(start, np.float64), np.subtract(end, start, dtype=np.float64)
    rays = points[:, :2] - origin[:2]
    cross = rays[:, 0] * along[1] - rays[:, 1] * along[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = a - origin[:2]
        ray_share = (offset[0] * along[1] - offset[1] * along[0]) / cross
        way_share = (offset[0] * rays[:, 1] - offset[1] * rays[:, 0]) / cross
        height = origin[2] + ray_share * (points[:, 2] - origin[2])
        behind = (1.0 - ray_share) * np.hypot(rays[:, 0], rays[:, 1])
        hit = (
            (ray_share > 0.0)
            & (way_share >= 0.0)
            & (way_share <= 1.0)
            & (behind >= beyond)
            & (height >= heights[0])
            & (height <= heights[1])
        )
    return way_share[hit]
