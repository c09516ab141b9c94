"""One grid over another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D


def overlay_obstacles(base: OccupancyGrid2D, above: OccupancyGrid2D) -> OccupancyGrid2D:
    """The base grid with the occupied cells of another grid of the same frame added.

    The base keeps its extent, resolution and unknown space; a coarser cell of `above` fills every base cell whose
    centre it holds.
    """
    rows, columns = base.cells.shape
    cells = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), axis=-1).reshape(-1, 2)
    places = above.cells_of(base.points_of(cells))
    inside = above.contains(places)
    hit = np.zeros(len(cells), bool)
    hit[inside] = above.occupied[places[inside, 0], places[inside, 1]]
    merged = base.cells.copy()
    merged.reshape(-1)[hit] = OCCUPIED
    return replace(base, cells=merged, stamp=max(base.stamp, above.stamp))
