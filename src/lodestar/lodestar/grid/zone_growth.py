"""Keep-out zones that spare the cells under the robot and on its path out, until it has left the zone.

A navigator refuses every motion while the robot's footprint is on forbidden cells, also a motion that leaves
them (Nav2 tests only the robot's centre before it lets a robot out of a zone).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from skimage.graph import MCP_Geometric

from lodestar.grid.config import Footprint
from lodestar.grid.occupancy import FREE, HELD_BACK, OCCUPIED, OccupancyGrid2D, distance_to
from lodestar.grid.overlay import occupied_onto

# metres around the body that stay open; chosen: a costmap cell, its padding and a turn
ZONE_GROWTH_MARGIN = 0.15
# metres around the robot in which a way out is looked for; above the widest zone, 10 m
ZONE_GROWTH_WAY_OUT = 12.0


class ZoneGrowth:
    """Adds keep-out zones, except for the cells under the robot and on its path out of the zone.

    A cell that is closed once stays closed while its zone exists. Not safe for threads.
    """

    def __init__(self, body: Footprint | None = None) -> None:
        self._radius = (body or Footprint()).circumscribed_radius + ZONE_GROWTH_MARGIN
        self._laid: OccupancyGrid2D | None = None  # zones of the newest mask without the held-back cells
        # (N, 2) map, path out of the zone; kept, or the zone would close behind the robot
        self._way = np.zeros((0, 2))
        self.held = 0.0  # m^2 of the newest mask that are held back
        self.has_way_out = True  # whether a path out was found; True if nothing is held back

    def lay(
        self, zones: OccupancyGrid2D, plan: OccupancyGrid2D | None, pose: np.ndarray | None
    ) -> OccupancyGrid2D:
        """Return the zones with the cells under the robot and on its path out set to HELD_BACK.

        Held-back cells are not forbidden yet. Returns `zones` itself if nothing is held back. zones: occupied
        = forbidden. plan: the grid without zones, in the same frame, to plan the path out. pose: (3,) of the
        robot in map; without a pose nothing is held back.
        """
        wanted = zones.occupied
        fresh = wanted & ~self._laid_on(zones)
        held = np.zeros(wanted.shape, bool)
        self.has_way_out = True
        if pose is not None and fresh.any():
            held = fresh & self._needed(zones, wanted, plan, np.asarray(pose, np.float64))
        if not held.any():
            self._way = self._way[:0]
        self.held = float(held.sum()) * zones.resolution**2
        closed = wanted & ~held
        self._laid = replace(zones, cells=np.where(closed, np.int8(OCCUPIED), np.int8(FREE)))
        if not held.any():
            return zones
        return replace(zones, cells=np.where(held, np.int8(HELD_BACK), zones.cells))

    @property
    def sentence(self) -> str:
        """Return a sentence for a person about the held-back area and its reason; "" if there is none."""
        if not self.held:
            return ""
        out = "until it has left" if self.has_way_out else "and it knows no way out; drive it out by hand"
        return f"the robot stands in a keep-out zone: {self.held:.1f} m^2 at it stay open {out}"

    def _laid_on(self, zones: OccupancyGrid2D) -> np.ndarray:
        if self._laid is None:
            return np.zeros(zones.cells.shape, bool)
        return occupied_onto(zones, self._laid)

    def _needed(
        self, zones: OccupancyGrid2D, wanted: np.ndarray, plan: OccupancyGrid2D | None, pose: np.ndarray
    ) -> np.ndarray:
        """Return (rows, columns) bool: cells of the robot's body and of its path out of the zone.

        None are marked if the robot is in no zone.
        """
        robot = np.zeros(wanted.shape, bool)
        row, column = (int(v) for v in zones.cells_of(pose[None, :2])[0])
        if not (0 <= row < wanted.shape[0] and 0 <= column < wanted.shape[1]):
            return np.zeros(wanted.shape, bool)
        robot[row, column] = True
        if not (wanted & (distance_to(robot, zones.resolution) <= self._radius)).any():
            return np.zeros(wanted.shape, bool)
        blocked = np.zeros(wanted.shape, bool) if plan is None else occupied_onto(zones, plan)
        cells = zones.cells_of(self._left_to_go(pose))
        inside = ((cells >= 0) & (cells < wanted.shape)).all(axis=1)
        if not len(cells) or not inside.all() or blocked[tuple(cells.T)].any():
            cells = self._find_way(blocked, wanted, (row, column), zones.resolution)
            self._way = zones.points_of(cells)
        self.has_way_out = len(cells) > 0
        robot[tuple(cells.T)] = True
        return distance_to(robot, zones.resolution) <= self._radius

    def _left_to_go(self, pose: np.ndarray) -> np.ndarray:
        """Return the remaining points (N, 2) of the path out, from the point nearest to the robot on."""
        if not len(self._way):
            return self._way
        return self._way[int(np.argmin(np.hypot(*(self._way - pose[:2]).T))) :]

    def _find_way(
        self, blocked: np.ndarray, wanted: np.ndarray, start: tuple[int, int], resolution: float
    ) -> np.ndarray:
        """Return the cells (N, 2) of the shortest path out, searched near the robot; empty = none."""
        reach = math.ceil(ZONE_GROWTH_WAY_OUT / resolution)
        top, left = max(start[0] - reach, 0), max(start[1] - reach, 0)
        window = np.s_[top : start[0] + reach + 1, left : start[1] + reach + 1]
        here = start[0] - top, start[1] - left
        found = _way_out(blocked[window], wanted[window], here, resolution, self._radius)
        return np.array(found, int).reshape(-1, 2) + np.array([top, left])


def _way_out(
    blocked: np.ndarray, wanted: np.ndarray, start: tuple[int, int], resolution: float, radius: float
) -> list[tuple[int, int]]:
    """Return the cells of the shortest path to a place where the body is clear of the zone.

    Empty if there is none. blocked, wanted: (rows, columns) bool, obstacles and zone. radius: metres, of the
    body.
    """
    cost = np.where(blocked, -1.0, 1.0)
    cost[start] = 1.0
    search = MCP_Geometric(cost)
    lengths, _ = search.find_costs([start])
    clear = (distance_to(wanted, resolution) > radius) & np.isfinite(lengths)
    if not clear.any():
        return []
    goal = np.unravel_index(int(np.argmin(np.where(clear, lengths, np.inf))), lengths.shape)
    return [(int(row), int(column)) for row, column in search.traceback(goal)]
