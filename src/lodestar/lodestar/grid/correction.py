"""Move grid cells by a correction of the map."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lodestar.geometry.poses import inverse, transform_points


def moved_cells(
    cells: np.ndarray, first: np.ndarray, resolution: float, jump: np.ndarray, fill: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells after the map has moved by `jump`, and the index of their first cell.

    cells: (rows, columns). first: (2,) int, (column, row) of cell (0, 0) in multiples of the resolution (metres).
    jump: (4, 4), planar. fill: value of cells that come from outside the grid. Each cell takes the value of the nearest
    source cell: walls of one cell stay closed, and ids are never interpolated.
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


def cells_after(
    rows: np.ndarray, moves: np.ndarray, first: np.ndarray, resolution: float, weight: np.ndarray
) -> np.ndarray:
    """Return for each cell the flat index of the cell that has moved there, (rows, columns) int64, -1 = none.

    rows: (rows, columns) int32, the move of each cell, -1 = there is nothing. moves: (N, 4, 4), in map. first: (column,
    row) of cell (0, 0), in multiples of the resolution. weight: (rows, columns); of several, the largest counts.
    """
    return _cells_after(
        rows, np.ascontiguousarray(moves), np.asarray(first, np.int64), resolution, weight.astype(np.float32)
    )


@njit(cache=True, nogil=True)
def _cells_after(which, moves, first, resolution, weight):
    rows, columns = which.shape
    came = np.full((rows, columns), -1, np.int64)
    for row in range(rows):
        for column in range(columns):
            k = which[row, column]
            if k < 0:
                continue
            m, own = moves[k], weight[row, column]
            for part in range(
                5
            ):  # the middles of its quarters, so that no cell between two is left out; the middle
                du, dv = 0.5, 0.5
                if part < 4:
                    du, dv = 0.25 + 0.5 * (part % 2), 0.25 + 0.5 * (part // 2)
                x, y = (column + first[0] + du) * resolution, (row + first[1] + dv) * resolution
                to_column = math.floor((m[0, 0] * x + m[0, 1] * y + m[0, 3]) / resolution) - first[0]
                to_row = math.floor((m[1, 0] * x + m[1, 1] * y + m[1, 3]) / resolution) - first[1]
                if not (0 <= to_row < rows and 0 <= to_column < columns):
                    continue
                other = came[to_row, to_column]
                if other < 0 or own > weight[other // columns, other % columns]:
                    came[to_row, to_column] = row * columns + column
    return came
