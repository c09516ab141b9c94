"""Move grid cells by a correction of the map."""

from __future__ import annotations

import numpy as np

from lodestar.geometry.poses import inverse, transform_points


def moved_cells(
    cells: np.ndarray, first: np.ndarray, resolution: float, jump: np.ndarray, fill: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells after the map has moved by `jump`, and the index of their first cell.

    cells: (rows, columns). first: (2,) int, (column, row) of cell (0, 0) in multiples of the resolution
    (metres). jump: (4, 4), planar. fill: value of cells that come from outside the grid. Each cell takes the
    value of the nearest source cell, so that walls of one cell stay closed and ids are never interpolated.
    """
    rows, columns = cells.shape
    if not cells.size:
        return cells.copy(), np.array(first)
    corners = np.array([[0, 0, 0], [columns, 0, 0], [0, rows, 0], [columns, rows, 0]], float)
    corners[:, :2] += first
    ends = transform_points(jump, corners * resolution)[:, :2] / resolution
    low, high = np.floor(ends.min(axis=0)).astype(np.int64), np.ceil(ends.max(axis=0)).astype(np.int64)
    moved = np.full((int(high[1] - low[1]), int(high[0] - low[0])), fill, cells.dtype)
    row, column = (axis.reshape(-1) for axis in np.indices(moved.shape))
    centres = np.column_stack([column + low[0] + 0.5, row + low[1] + 0.5, np.zeros(len(row))])
    came = transform_points(inverse(jump), centres * resolution)[:, :2] / resolution
    from_column, from_row = (np.floor(came).astype(np.int64) - first).T
    on = (from_row >= 0) & (from_row < rows) & (from_column >= 0) & (from_column < columns)
    moved[row[on], column[on]] = cells[from_row[on], from_column[on]]
    return moved, low
