"""Values by stamp, with look-up of the value at a past time."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from typing import Generic, TypeVar

V = TypeVar("V")


class Moments(Generic[V]):
    """Time series in which a value is valid from its stamp until the next stamp. Thread-safe.

    Bounded: if full, every second value of the older half is dropped.
    """

    def __init__(self, most: int = 10_000) -> None:
        self._lock = threading.Lock()
        self._most = most
        self._stamps: list[float] = []
        self._values: list[V] = []

    def __len__(self) -> int:
        return len(self._stamps)

    def put(self, stamp: float, value: V) -> None:
        """Insert a value, also out of order; it replaces a value of the same stamp."""
        with self._lock:
            place = bisect_left(self._stamps, stamp)
            same = place < len(self._stamps) and self._stamps[place] == stamp
            self._stamps[place : place + same], self._values[place : place + same] = [stamp], [value]
            if len(self._stamps) > self._most:
                half = self._most // 2
                del self._stamps[:half:2], self._values[:half:2]

    def at(self, stamp: float) -> V | None:
        """Return the value valid at `stamp`, None if there was none yet."""
        with self._lock:
            place = bisect_right(self._stamps, stamp)
            return self._values[place - 1] if place else None

    def clear(self) -> None:
        """Remove all values, after a restart of the clock."""
        with self._lock:
            self._stamps.clear()
            self._values.clear()
