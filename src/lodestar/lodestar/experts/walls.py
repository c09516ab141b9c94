"""Walls that rays graze are carved open and closed again; to a search they stay walls.

A ray along a wall passes through its voxels and ends in another: after some such rays the wall has a hole, until it
is hit again from nearer. Through the hole everything beyond the building seems to be waiting, and a robot that goes
there finds a wall, leaves, sees the hole open behind it, and comes back. A real opening is told from such a hole by
what lies beyond: through a door that opens, rays come to know the floor behind it. Where they have not come to do so,
because nobody looked that way since, the opening is looked into last.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D

_AROUND = np.ones((3, 3), np.uint8)


class SteadyWalls:
    """Grids with the holes of walls closed. often: grids, of different stamps, in which a cell was occupied that is a
    wall.
    """

    def __init__(self, often: int = 3) -> None:
        self._often = often
        self._before: OccupancyGrid2D | None = None
        self._closed: OccupancyGrid2D | None = None
        self._times: np.ndarray = np.empty((0, 0), np.uint8)

    def closed(self, grid: OccupancyGrid2D) -> OccupancyGrid2D:
        """The grid with cells occupied that were so, are free now, and touch what is unknown still."""
        if grid is self._before and self._closed is not None:
            return self._closed
        self._times = carried_over(self._times, self._before, grid, 0)
        if self._before is None or grid.stamp != self._before.stamp:
            self._times += grid.occupied & (self._times < self._often)
        beside_unknown = cv2.dilate(grid.unknown.view(np.uint8), _AROUND).view(np.bool_)
        holes = (self._times >= self._often) & beside_unknown & grid.free
        closed = replace(grid, cells=np.where(holes, np.int8(OCCUPIED), grid.cells)) if holes.any() else grid
        self._before, self._closed = grid, closed
        return closed
