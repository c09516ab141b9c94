"""Ways that are believed to be closed: their list, their overlay on the grid, and the sight that opens them."""

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
from lodestar.worldmodel.config import WayConfig

_SAME_CORNER = 0.01  # m between corners of two areas that are one and the same


class WayBook:
    """The closed ways that are believed in."""

    def __init__(self, config: WayConfig | None = None) -> None:
        self._config = config or WayConfig()
        self._ways: list[ClosedWay] = []
        self._shown: dict[ClosedWay, int] = {}  # those that a grid has shown as closed, and of which floor

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        """Return the ways, the oldest first."""
        return tuple(self._ways)

    def has_room(self, way: ClosedWay) -> bool:
        """Tell whether a way can be closed: there are not too many areas and ways without an end, which stay."""
        others = {one for one in self._ways if _stays(one)} - {*self._replaced(way)}
        return not _stays(way) or len(others) < self._config.most

    def in_place(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        """Return the closed ways in the place of this one, on whichever floor."""
        return tuple(one for one in self._ways if _same_place(way, one, self._config.same_place))

    def _replaced(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        return tuple(one for one in self.in_place(way) if way.floor in (UNKNOWN, one.floor))

    def close(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        """Close a way; return those that are open for it: in its place on its floor, or too many of those that end by
        themselves. One of all floors takes the place of those of each.
        """
        before = self._replaced(way)
        self._drop(before)
        self._ways.append(way)
        passing = [one for one in self._ways if not _stays(one)]
        dropped = tuple(passing[: max(0, len(passing) - self._config.most)])
        self._drop(dropped)
        return *before, *dropped

    def open(self, way: ClosedWay) -> tuple[ClosedWay, ...]:
        """Open every way in the place of this one on its very floor; return them."""
        gone = tuple(one for one in self.in_place(way) if one.floor == way.floor)
        self._drop(gone)
        return gone

    def nearest(self, point: np.ndarray, reach: float, building: Building = NO_FLOORS) -> ClosedWay | None:
        """Return the closed way nearest to a point (2,) in map that may lie on the robot's floor, None where none is
        within `reach` metres.
        """
        ways = [way for way in ways_here(self._ways, building) if not way.area]
        away = [(_distance(way, point), number) for number, way in enumerate(ways)]
        return ways[min(away)[1]] if away and min(away)[0] <= reach else None

    def move(self, correction: MapCorrection) -> None:
        """Follow a correction of the map."""
        self._ways = [moved_way(way, correction) for way in self._ways]
        self._shown = {moved_way(way, correction): floor for way, floor in self._shown.items()}

    def expire(self, now: float) -> tuple[ClosedWay, ...]:
        """Open what has expired at `now`, seconds; return it."""
        gone = tuple(way for way in self._ways if way.expires <= now)
        self._drop(gone)
        return gone

    def look(
        self, grid: OccupancyGrid2D, robot: np.ndarray | None, building: Building = NO_FLOORS
    ) -> tuple[ClosedWay, ...]:
        """Return the ways that a grid shows as open after it has shown them as closed; they stay in the list.

        building: the grid is that of its active floor; the ways that are laid there are judged, each on the floor on
        which it was shown, and none between two floors. robot: (2+,) in map; a way beside it is not judged, because the
        grid is left open around the robot.
        """
        if building.is_between:
            return ()
        seen, floor = [], building.active
        for way in ways_here(self._ways, building):
            if way.area or (robot is not None and _distance(way, robot) < self._config.beside):
                continue
            rows, columns = segment_cells(grid, way.start, way.end, 0.0)
            if not len(rows):
                continue
            share = float((grid.cells[rows, columns] >= grid.occupied_from).mean())
            if share >= self._config.shown_share:
                if not self._shown.get(way):  # a wall of another floor may stand at the same place
                    self._shown[way] = floor
            elif share < self._config.open_share and self._shown.get(way) == floor:
                seen.append(way)
        return tuple(seen)

    def _drop(self, gone: Iterable[ClosedWay]) -> None:
        dropped = set(gone)
        self._ways = [way for way in self._ways if way not in dropped]
        self._shown = {way: floor for way, floor in self._shown.items() if way not in dropped}


def ways_here(ways: Iterable[ClosedWay], building: Building) -> tuple[ClosedWay, ...]:
    """Return the closed ways that lie on the robot's floor, or may: a floor that is not known may be this one."""
    return tuple(way for way in ways if building.may_be_here(way.floor))


class WayOverlay:
    """Lays closed ways over the plan grid until they expire or rays pass through them. Areas are keep-out zones, which
    `DirectiveFields` lays.
    """

    def __init__(self, config: WayConfig | None = None) -> None:
        self._config = config or WayConfig()
        self._ways: tuple[ClosedWay, ...] = ()
        self._looks: dict[ClosedWay, tuple[int, float]] = {}  # clear looks, and the stamp of the last
        self._opened: set[ClosedWay] = set()

    def follow(self, ways: Iterable[ClosedWay]) -> bool:
        """Take the newest list of closed ways; return whether it differs from the last one."""
        before, self._ways = self._ways, tuple(ways)
        self._opened &= set(self._ways)
        self._looks = {way: look for way, look in self._looks.items() if way in self._ways}
        return before != self._ways

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        """Return the newest list."""
        return self._ways

    def laid(self, now: float) -> tuple[ClosedWay, ...]:
        """Return the ways that are laid over the grid at `now`, seconds; areas are not."""
        return tuple(
            way for way in self._ways if way.expires > now and way not in self._opened and not way.area
        )

    @property
    def opened(self) -> frozenset[ClosedWay]:
        """Return the ways of the list that were opened by sight."""
        return frozenset(self._opened)

    def look(self, map_from_sensor: np.ndarray, points: np.ndarray, stamp: float) -> None:
        """Take the rays of one turn or image. map_from_sensor: (4, 4), points: (N, 3) in the sensor's frame, metres."""
        ways = self.laid(stamp)
        if not ways:
            return
        config, origin = self._config, map_from_sensor[:3, 3]
        points = points[np.isfinite(points).all(axis=1)] @ map_from_sensor[:3, :3].T + origin
        for way in ways:
            if not way.seen_free_opens or _distance(way, origin) > config.look_reach:
                continue
            band = float(origin[2]) + config.lowest, float(origin[2]) + config.highest
            at = crossings(origin, points, way.start, way.end, config.beyond, band)
            bins = max(3, math.ceil(math.dist(way.start, way.end) / config.bin))
            inner = np.arange(bins)[1:-1] if bins > 4 else np.arange(bins)  # its ends may lie in the walls
            hit = np.isin(inner, np.minimum((at * bins).astype(int), bins - 1)).mean()
            if hit < config.clear_share:
                continue
            looks, last = self._looks.get(way, (0, -math.inf))
            if stamp - last >= config.look_interval:
                self._looks[way] = looks + 1, stamp
                if looks + 1 >= config.clear_looks:
                    self._opened.add(way)

    def laid_over(self, grid: OccupancyGrid2D, robot: np.ndarray | None) -> OccupancyGrid2D:
        """Return the grid with the closed ways as obstacles; the grid itself where there is none.

        robot: (2+,) in map; cells around it stay as they are, so that it never stands in a wall that nobody sees.
        """
        ways = self.laid(grid.stamp)
        if not ways:
            return grid
        cells = grid.cells.copy()
        for way in ways:
            rows, columns = segment_cells(grid, way.start, way.end, self._config.thickness / 2.0)
            if robot is not None:
                centres = grid.points_of(np.stack([rows, columns], axis=-1))
                far = np.hypot(*(centres - np.asarray(robot)[:2]).T) > self._config.around_robot
                rows, columns = rows[far], columns[far]
            cells[rows, columns] = OCCUPIED
        return replace(grid, cells=cells)


def _stays(way: ClosedWay) -> bool:
    """Return whether a way is closed until a person opens it, or is an area, which only people close."""
    return bool(way.area) or math.isinf(way.expires)


def _same_place(way: ClosedWay, other: ClosedWay, reach: float) -> bool:
    """Return whether the middle of each lies within `reach` metres of the other; of areas, whether they are one."""
    if way.area or other.area:
        return len(way.area) == len(other.area) and np.allclose(way.area, other.area, atol=_SAME_CORNER)
    return _distance(way, middle_of(other)) <= reach and _distance(other, middle_of(way)) <= reach


def _distance(way: ClosedWay, point: ArrayLike) -> float:
    return float(distances_to_segment(np.asarray(point, float)[None, :2], way.start, way.end)[0])
