"""Copy per-cell values to a grid that has grown or moved its origin."""

from __future__ import annotations

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D


def carried_over(
    values: np.ndarray, old: OccupancyGrid2D | None, new: OccupancyGrid2D, fill: float
) -> np.ndarray:
    """Return values per cell of the old grid, copied to the cells of the new grid; `fill` elsewhere.

    values: (rows, columns, ...). The same array is returned if the extents agree. Values are not copied
    between different resolutions.
    """
    same_cells = old is not None and abs(old.resolution - new.resolution) < 1e-9
    if (
        old is not None
        and same_cells
        and old.cells.shape == new.cells.shape
        and tuple(old.origin) == tuple(new.origin)
    ):
        return values
    carried: np.ndarray = np.full(new.cells.shape + values.shape[2:], fill, values.dtype)
    if old is None or not same_cells:
        return carried
    row = round((old.origin[1] - new.origin[1]) / new.resolution)
    column = round((old.origin[0] - new.origin[0]) / new.resolution)
    rows, columns = values.shape[:2]
    top, left = max(row, 0), max(column, 0)
    bottom, right = min(row + rows, carried.shape[0]), min(column + columns, carried.shape[1])
    if top < bottom and left < right:
        carried[top:bottom, left:right] = values[top - row : bottom - row, left - column : right - column]
    return carried
