"""Combine grids of one frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lodestar.grid.occupancy import OCCUPIED, UNKNOWN, OccupancyGrid2D


def occupied_onto(base: OccupancyGrid2D, above: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool: cells of the base whose centre lies in an occupied cell of `above` (same frame)."""
    return _onto(base, above, above.occupied)


def _onto(base: OccupancyGrid2D, above: OccupancyGrid2D, mask: np.ndarray) -> np.ndarray:
    """Return (rows, columns) bool: cells of the base whose centre lies in a cell of a mask on `above`."""
    hit = np.zeros(base.cells.shape, bool)
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
    """The base grid with the obstacles of a grid made of 3-D points, and free only where that is free too.

    A planar scan passes over steps that lead down; what the points know no floor of is unknown.
    """
    merged = overlay_obstacles(base, points)
    unsure = merged.free & ~_onto(base, points, points.free)
    return replace(merged, cells=np.where(unsure, np.int8(UNKNOWN), merged.cells))


def with_keep_out(base: OccupancyGrid2D, zones: OccupancyGrid2D | None) -> OccupancyGrid2D:
    """Return the base grid with keep-out cells where `zones` is occupied; the base itself if no zone lies on it."""
    if zones is None or not zones.occupied.any():
        return base
    keep_out = occupied_onto(base, zones)
    return replace(base, keep_out=keep_out) if keep_out.any() else base
