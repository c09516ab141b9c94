"""One thing for each floor of a building, that of the robot's floor in use."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from lodestar.floors.records import Building

T = TypeVar("T")
_STAYS = 16  # that are remembered; chosen: news wait for minutes at most


class PerFloor(Generic[T]):
    """Keeps what belongs to one floor: `here` is that of the robot's floor, between two that of the one it has left.

    make(): called once for each floor. The first one is there before any floor is known, and belongs to the first that
    is. What belongs to a floor that is known no longer is dropped. Not safe for threads.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.here = make()
        self._of: dict[int, T] = {}  # by id of a floor
        self._stays = deque(
            [(-math.inf, self.here)], _STAYS
        )  # stamp from which each was in use, the newest last

    def follow(self, building: Building) -> bool:
        """Take that of the floor into use that the robot is on; return whether it is another one."""
        floor = building.here
        if floor is None:
            return False
        if not self._of:
            self._of[floor.id] = self.here
        self._of = {i: one for i, one in self._of.items() if building.floor(i) is not None}
        if floor.id not in self._of:
            self._of[floor.id] = self._make()
        if self._of[floor.id] is self.here:
            return False
        self.here = self._of[floor.id]
        self._stays.append((building.since, self.here))
        return True

    def at(self, stamp: float) -> T | None:
        """Return that of the floor that the robot was on at a stamp, seconds; None where that is not known any more."""
        one = next((one for since, one in reversed(self._stays) if stamp >= since), None)
        return one if any(one is known for known in self.all) else None

    def restart_clock(self) -> None:
        """The clock began anew: what comes now is of the robot's floor."""
        self._stays = deque([(-math.inf, self.here)], _STAYS)

    @property
    def all(self) -> tuple[T, ...]:
        """Return what there is of all floors, the first one first."""
        return tuple(self._of.values()) or (self.here,)
