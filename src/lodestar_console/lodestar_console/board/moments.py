"""Values by stamp, to tell what was so at a time."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from typing import Generic, TypeVar

V = TypeVar("V")


class Moments(Generic[V]):
    """Values, each from its stamp on until the next one. Bounded: every second one of the older half goes.

    Safe for threads.
    """

    def __init__(self, most: int = 10_000) -> None:
        self._lock = threading.Lock()
        self._most = most
        self._stamps: list[float] = []
        self._values: list[V] = []

    def __len__(self) -> int:
        return len(self._stamps)

    def put(self, stamp: float, value: V) -> None:
        """Note a value, also an old one that comes late; it replaces the one of the same stamp."""
        with self._lock:
            place = bisect_left(self._stamps, stamp)
            same = place < len(self._stamps) and self._stamps[place] == stamp
            self._stamps[place : place + same], self._values[place : place + same] = [stamp], [value]
            if len(self._stamps) > self._most:
                half = self._most // 2
                del self._stamps[:half:2], self._values[:half:2]

    def at(self, stamp: float) -> V | None:
        """Return the newest value by then, None where there was none yet."""
        with self._lock:
            place = bisect_right(self._stamps, stamp)
            return self._values[place - 1] if place else None

    def clear(self) -> None:
        """Forget everything: the clock began anew."""
        with self._lock:
            self._stamps.clear()
            self._values.clear()
