"""Closes holes that grazing sensor rays carve into walls of the grid, for the search.

A ray along a wall passes through its voxels and ends in another voxel. After several such rays the wall has a
hole, until it is hit again from nearer. Through the hole, the space beyond the building seems unexplored: a
robot goes there, finds a wall, leaves, sees the hole open again, and returns. A real opening differs by the
cells beyond: through a door that opens, rays make the floor behind it known. Until the robot has looked that
way again, the opening counts as a hole and is explored last.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D

_AROUND = np.ones((3, 3), np.uint8)


class SteadyWalls:
    """Closes the holes in walls. often: number of grids with different stamps in which a cell must be occupied to
    count as a wall.
    """

    def __init__(self, often: int = 3) -> None:
        self._often = often
        self._before: OccupancyGrid2D | None = None
        self._closed: OccupancyGrid2D | None = None
        self._times: np.ndarray = np.empty((0, 0), np.uint8)

    def closed(self, grid: OccupancyGrid2D) -> OccupancyGrid2D:
        """Return the grid with holes filled: former wall cells that are free now and touch unknown cells are
        occupied again.
        """
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
