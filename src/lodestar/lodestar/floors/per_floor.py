"""One thing for each floor of a building, that of the robot's floor in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from lodestar.floors.records import Building

T = TypeVar("T")


class PerFloor(Generic[T]):
    """Keeps what belongs to one floor: `here` is that of the robot's floor, between two that of the one it has left.

    make(): called once for each floor. The first one is there before any floor is known, and belongs to the first that
    is. What belongs to a floor that is known no longer is dropped. Not safe for threads.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.here = self._before = make()
        self._since = 0.0  # stamp at which the robot came to its floor
        self._of: dict[int, T] = {}  # by id of a floor

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
        self._before, self.here, self._since = self.here, self._of[floor.id], building.since
        return True

    def at(self, stamp: float) -> T:
        """Return that of the floor that the robot was on at a stamp, seconds; of the last two floors only."""
        return self.here if stamp >= self._since else self._before

    @property
    def all(self) -> tuple[T, ...]:
        """Return what there is of all floors, the first one first."""
        return tuple(self._of.values()) or (self.here,)
