"""Closed ways (passages or areas that may not be used): their list, their overlay on the grid, and their
opening.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lodestar.floors.records import NO_FLOORS, UNKNOWN, Building
from lodestar.geometry.map_correction import MapCorrection
from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D
from lodestar.grid.segments import crossings, distances_to_segment, segment_cells
from lodestar.worldmodel.amendments import ClosedWay, middle_of, moved_way

WAY_THICKNESS = 0.2  # m, thickness of a closed way on the grid; chosen: two cells
# limit of temporary closed ways, whose oldest is dropped, and of permanent ones, then none is added; chosen
WAY_MOST = 100
WAY_SAME_PLACE = 0.5  # m between two ways that count as the same; chosen: half a door
# m from the sensor to a way within which rays count; chosen: beyond, they lie too far apart
WAY_LOOK_REACH = 6.0
WAY_LOWEST = -0.3  # m from the sensor's height; the lowest crossing that counts; chosen: no sill
WAY_HIGHEST = 0.5  # m from the sensor's height; the highest crossing that counts; chosen: below a lintel
WAY_BEYOND = 0.3  # m that a ray must go on behind a way; chosen: the thickness of a door and noise
WAY_BIN = 0.1  # m of a way that one ray clears; chosen
WAY_CLEAR_LOOKS = 2  # scans with rays through a way that open it; chosen: one may be a reflection
# m around the robot's centre within which cells are not changed; chosen: half its length
WAY_AROUND_ROBOT = 0.25
WAY_BESIDE = 1.0  # m around the robot within which the grid cannot open a way; chosen
WAY_SHOWN_SHARE = 0.8  # share of a way's cells, 0..1, that are occupied while it is closed; chosen
WAY_OPEN_SHARE = 0.5  # share of a way's occupied cells, 0..1, below which the grid shows it open; chosen
WAY_CLEAR_SHARE = 0.8  # share of a way's bins, 0..1, that rays of one turn must cross; chosen: a body's width
WAY_LOOK_INTERVAL = 0.2  # s at least between two scans that count; chosen

_SAME_CORNER = 0.01  # m between corners of two areas that count as the same


class WayBook:
    """List of the closed ways that the world model believes in."""

    def __init__(self) -> None:
        self._ways: list[ClosedWay] = []
        self._shown: dict[ClosedWay, int] = {}  # way -> floor id of the grid that showed it closed

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        """Return the closed ways, oldest first."""
        return tuple(self._ways)

    def has_room(self, way: ClosedWay) -> bool:
        """Return whether this way can be closed; the number of permanent ways and areas is limited."""
        others = {one for one in self._ways if _stays(one)} - {*self._replaced(way)}
        return not _stays(way) or len(others) < WAY_MOST

    def in_place(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        """Return the closed ways in the same place as this one, on any floor."""
        return tuple(one for one in self._ways if _same_place(way, one, WAY_SAME_PLACE))

    def _replaced(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        return tuple(one for one in self.in_place(way) if way.floor in (UNKNOWN, one.floor))

    def close(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        """Close a way. Return the ways that were removed for it.

        These are the ways that it replaces in its place on its floor, and the oldest temporary ones beyond
        the limit. A way that is closed on all floors replaces those of each single floor.
        """
        before = self._replaced(way)
        self._drop(before)
        self._ways.append(way)
        passing = [one for one in self._ways if not _stays(one)]
        dropped = tuple(passing[: max(0, len(passing) - WAY_MOST)])
        self._drop(dropped)
        return *before, *dropped

    def open(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        """Open (remove) all closed ways in the place of this one with the same `floor`, and return them."""
        gone = tuple(one for one in self.in_place(way) if one.floor == way.floor)
        self._drop(gone)
        return gone

    def nearest(self, point: np.ndarray, reach: float, building: Building = NO_FLOORS) -> ClosedWay | None:
        """Return the closed way nearest to a point (2,) in map; None if there is none within `reach` metres.

        Areas, and ways that do not lie on the robot's floor, are ignored.
        """
        ways = [way for way in ways_here(self._ways, building) if not way.area]
        away = [(_distance(way, point), number) for number, way in enumerate(ways)]
        return ways[min(away)[1]] if away and min(away)[0] <= reach else None

    def move(self, correction: MapCorrection) -> None:
        """Move the closed ways by a correction of the map."""
        self._ways = [moved_way(way, correction) for way in self._ways]
        self._shown = {moved_way(way, correction): floor for way, floor in self._shown.items()}

    def expire(self, now: float) -> tuple[ClosedWay, ...]:
        """Open (remove) the closed ways that have expired at `now`, seconds, and return them."""
        gone = tuple(way for way in self._ways if way.expires <= now)
        self._drop(gone)
        return gone

    def look(
        self, grid: OccupancyGrid2D, robot: np.ndarray | None, building: Building = NO_FLOORS
    ) -> tuple[ClosedWay, ...]:
        """Return the closed ways that a grid shows open after an earlier one showed them closed; change none.

        building: tells on which floor the robot is. Only ways of this floor are checked, if a grid of this
        floor showed them closed; between floors, none are. robot: (2+,) in map; ways close to the robot are
        not checked, because the grid is left open around it.
        """
        if building.is_between:
            return ()
        seen, floor = [], building.active
        for way in ways_here(self._ways, building):
            if way.area or (robot is not None and _distance(way, robot) < WAY_BESIDE):
                continue
            rows, columns = segment_cells(grid, way.start, way.end, 0.0)
            if not len(rows):
                continue
            share = float((grid.cells[rows, columns] >= grid.occupied_from).mean())
            if share >= WAY_SHOWN_SHARE:
                if not self._shown.get(way):  # another floor may have a wall in the same place
                    self._shown[way] = floor
            elif share < WAY_OPEN_SHARE and self._shown.get(way) == floor:
                seen.append(way)
        return tuple(seen)

    def _drop(self, gone: Iterable[ClosedWay]) -> None:
        dropped = set(gone)
        self._ways = [way for way in self._ways if way not in dropped]
        self._shown = {way: floor for way, floor in self._shown.items() if way not in dropped}


def ways_here(ways: Iterable[ClosedWay], building: Building) -> tuple[ClosedWay, ...]:
    """Return the closed ways that lie, or may lie, on the robot's floor."""
    return tuple(way for way in ways if building.may_be_here(way.floor))


class WayOverlay:
    """Draws closed ways on the occupancy grid until they expire or sensor rays pass through them.

    Areas are keep-out zones, which `DirectiveFields` draws.
    """

    def __init__(self) -> None:
        self._ways: tuple[ClosedWay, ...] = ()
        self._looks: dict[ClosedWay, tuple[int, float]] = {}  # way -> (scans through it, stamp of the last)
        self._opened: set[ClosedWay] = set()

    def follow(self, ways: Iterable[ClosedWay]) -> bool:
        """Store the newest list of closed ways. Return whether it differs from the last one."""
        before, self._ways = self._ways, tuple(ways)
        self._opened &= set(self._ways)
        self._looks = {way: look for way, look in self._looks.items() if way in self._ways}
        return before != self._ways

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        """Return the newest list of closed ways, also the opened and expired ones."""
        return self._ways

    def laid(self, now: float) -> tuple[ClosedWay, ...]:
        """Return the closed ways to draw on the grid at `now`, seconds: segments not expired or opened."""
        return tuple(
            way for way in self._ways if way.expires > now and way not in self._opened and not way.area
        )

    @property
    def opened(self) -> frozenset[ClosedWay]:
        """Return the closed ways of the list that turned out to be open, because rays passed through them."""
        return frozenset(self._opened)

    def look(self, map_from_sensor: np.ndarray, points: np.ndarray, stamp: float) -> None:
        """Find closed ways that are open: count for each way the scans or images whose rays pass through it.

        map_from_sensor: (4, 4). points: (N, 3) in the sensor's frame, metres.
        """
        ways = self.laid(stamp)
        if not ways:
            return
        origin = map_from_sensor[:3, 3]
        points = points[np.isfinite(points).all(axis=1)] @ map_from_sensor[:3, :3].T + origin
        for way in ways:
            if not way.seen_free_opens or _distance(way, origin) > WAY_LOOK_REACH:
                continue
            band = float(origin[2]) + WAY_LOWEST, float(origin[2]) + WAY_HIGHEST
            at = crossings(origin, points, way.start, way.end, WAY_BEYOND, band)
            bins = max(3, math.ceil(math.dist(way.start, way.end) / WAY_BIN))
            inner = np.arange(bins)[1:-1] if bins > 4 else np.arange(bins)  # the ends may lie in the walls
            hit = np.isin(inner, np.minimum((at * bins).astype(int), bins - 1)).mean()
            if hit < WAY_CLEAR_SHARE:
                continue
            looks, last = self._looks.get(way, (0, -math.inf))
            if stamp - last >= WAY_LOOK_INTERVAL:
                self._looks[way] = looks + 1, stamp
                if looks + 1 >= WAY_CLEAR_LOOKS:
                    self._opened.add(way)

    def laid_over(self, grid: OccupancyGrid2D, robot: np.ndarray | None) -> OccupancyGrid2D:
        """Return the grid with the closed ways as obstacles; the grid itself if there are none.

        robot: (2+,) in map; cells around it are unchanged, so that the robot never stands in an invisible
        wall.
        """
        ways = self.laid(grid.stamp)
        if not ways:
            return grid
        cells = grid.cells.copy()
        for way in ways:
            rows, columns = segment_cells(grid, way.start, way.end, WAY_THICKNESS / 2.0)
            if robot is not None:
                centres = grid.points_of(np.stack([rows, columns], axis=-1))
                far = np.hypot(*(centres - np.asarray(robot)[:2]).T) > WAY_AROUND_ROBOT
                rows, columns = rows[far], columns[far]
            cells[rows, columns] = OCCUPIED
        return replace(grid, cells=cells)


def _stays(way: ClosedWay) -> bool:
    """Return whether a closed way is permanent: an area, or closed until a person opens it."""
    return bool(way.area) or math.isinf(way.expires)


def _same_place(way: ClosedWay, other: ClosedWay, reach: float) -> bool:
    """Return whether two ways lie in one place: the middle of each is within `reach` metres of the other.

    Areas lie in one place only if their corners are equal.
    """
    if way.area or other.area:
        return len(way.area) == len(other.area) and np.allclose(way.area, other.area, atol=_SAME_CORNER)
    return _distance(way, middle_of(other)) <= reach and _distance(other, middle_of(way)) <= reach


def _distance(way: ClosedWay, point: ArrayLike) -> float:
    return float(distances_to_segment(np.asarray(point, float)[None, :2], way.start, way.end)[0])
