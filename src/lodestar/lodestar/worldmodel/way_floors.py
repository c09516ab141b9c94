"""The floor on which each closed way lies: a segment or an area in plan says nothing of its height."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lodestar.floors.records import UNKNOWN
from lodestar.worldmodel.amendments import ClosedWay


class WayFloors:
    """Remembers on which floor the robot was when a way came; of several that come at once, as those of a loaded map,
    no floor is known, and they lie on all.
    """

    def __init__(self) -> None:
        self._floors: dict[ClosedWay, int] | None = None  # None = no list has come yet

    def follow(self, ways: Iterable[ClosedWay], active: int) -> None:
        """Take the newest list of ways. active: id of the floor that the robot is on, UNKNOWN = none."""
        ways, before = tuple(ways), self._floors or {}
        if self._floors is not None and ways == tuple(before):
            return
        former = {way: self._former(way, before, ways) for way in ways}
        fresh = [way for way, one in former.items() if one is None]
        floor = active if len(fresh) == 1 and self._floors is not None else UNKNOWN
        self._floors = {way: floor if one is None else before[one] for way, one in former.items()}

    def here(self, active: int) -> tuple[ClosedWay, ...]:
        """Return those that lie on a floor, or may do so; all of them where the floor is not known."""
        floors = self._floors or {}
        return tuple(way for way, floor in floors.items() if UNKNOWN in (active, floor) or floor == active)

    @staticmethod
    def _former(
        way: ClosedWay, before: dict[ClosedWay, int], ways: tuple[ClosedWay, ...]
    ) -> ClosedWay | None:
        """Return what a way was in the last list: itself, or the nearest that a correction of the map has moved."""
        if way in before:
            return way
        moved = [
            one
            for one in before
            if one not in ways
            and (one.cause, one.expires, one.seen_free_opens) == (way.cause, way.expires, way.seen_free_opens)
            and len(one.area) == len(way.area)
            and math.isclose(math.dist(one.start, one.end), math.dist(way.start, way.end), abs_tol=1e-3)
        ]
        return min(moved, key=lambda one: math.dist(one.start, way.start), default=None)
