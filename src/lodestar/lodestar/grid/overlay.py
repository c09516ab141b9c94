"""Combination of grids of one coordinate frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lodestar.grid.occupancy import COMFORT, OCCUPIED, UNKNOWN, OccupancyGrid2D


def occupied_onto(base: OccupancyGrid2D, above: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool: cells of the base whose centre lies in an occupied cell of `above`."""
    return _onto(base, above, above.occupied)


def _onto(base: OccupancyGrid2D, above: OccupancyGrid2D, mask: np.ndarray) -> np.ndarray:
    """Return (rows, columns): the values of `mask` at the centres of the cells of the base.

    mask: array on the cells of `above`; cells of the base that lie off `above` get False or 0.
    """
    hit = np.zeros(base.cells.shape, mask.dtype)
    rows, columns = base.cells.shape
    steps = np.arange(max(rows, columns))
    diagonal = above.cells_of(base.points_of(np.stack([steps, steps], axis=-1)))
    row, column = diagonal[:rows, 0], diagonal[:columns, 1]
    on_rows = (row >= 0) & (row < above.cells.shape[0])
    on_columns = (column >= 0) & (column < above.cells.shape[1])
    hit[np.ix_(on_rows, on_columns)] = mask[np.ix_(row[on_rows], column[on_columns])]
    return hit


def overlay_obstacles(base: OccupancyGrid2D, above: OccupancyGrid2D) -> OccupancyGrid2D:
    """Return the base grid with the occupied cells of another grid of the same frame added.

    The base keeps its extent, resolution and unknown cells; a coarser cell of `above` fills every base cell whose
    centre it contains.
    """
    cells = np.where(occupied_onto(base, above), np.int8(OCCUPIED), base.cells)
    return replace(base, cells=cells, stamp=max(base.stamp, above.stamp))


def confirmed_by(base: OccupancyGrid2D, points: OccupancyGrid2D) -> OccupancyGrid2D:
    """Return the base grid with the obstacles of a grid of 3-D points added; cells are free only if free in both.

    A planar scan does not see steps that lead down, so floor that the 3-D points do not confirm is unknown.
    """
    merged = overlay_obstacles(base, points)
    unsure = merged.free & ~_onto(base, points, points.free)
    return replace(merged, cells=np.where(unsure, np.int8(UNKNOWN), merged.cells))


def with_keep_out(base: OccupancyGrid2D, zones: OccupancyGrid2D | None) -> OccupancyGrid2D:
    """Return the base grid with the keep-out cells and comfort costs of `zones`.

    Keep-out: occupied cells of `zones`. Comfort: cells with values 1 to COMFORT. Returns the base itself if
    `zones` has neither on it.
    """
    if zones is None or not zones.cells.any():
        return base
    keep_out = occupied_onto(base, zones)
    comfort = _onto(
        base, zones, np.where((zones.cells > 0) & (zones.cells <= COMFORT), zones.cells, np.int8(0))
    )
    if not keep_out.any() and not comfort.any():
        return base
    return replace(
        base, keep_out=keep_out if keep_out.any() else None, comfort=comfort if comfort.any() else None
    )
