"""Objects kept once per floor of a building; the robot's floor selects the one in use."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from lodestar.floors.records import Building

T = TypeVar("T")
_STAYS = 16  # number of remembered changes of floor; chosen: messages are delayed by minutes at most


class PerFloor(Generic[T]):
    """Keeps one object per floor. `here` is that of the robot's floor; between floors, that of the last one.

    make(): creates the object of a floor; called once per floor. The first object exists before any floor is
    known and is assigned to the first known floor. Objects of floors that are no longer known are dropped.
    Not thread-safe.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.here = make()
        self._of: dict[int, T] = {}  # floor id -> object
        # (stamp from which it was in use, object), newest last
        self._stays = deque([(-math.inf, self.here)], _STAYS)

    def follow(self, building: Building) -> bool:
        """Select the object of the robot's floor; return whether it changed."""
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
        """Return the object of the floor on which the robot was at a stamp, seconds; None = unknown."""
        one = next((one for since, one in reversed(self._stays) if stamp >= since), None)
        return one if any(one is known for known in self.all) else None

    def restart_clock(self) -> None:
        """Assign all stamps to the robot's present floor, because the clock was set back."""
        self._stays = deque([(-math.inf, self.here)], _STAYS)

    @property
    def all(self) -> tuple[T, ...]:
        """Return the objects of all known floors, or the first object if no floor is known."""
        return tuple(self._of.values()) or (self.here,)
