"""When something is due, by a clock of its own or by that of the stamps."""

from __future__ import annotations

import math


class Periodic:
    """Says when something is due again."""

    def __init__(self, period: float) -> None:
        self._period = period
        self.reset()

    def reset(self) -> None:
        """It is due at once."""
        self._next = -math.inf

    def due(self, stamp: float) -> bool:
        """Whether the period is over; then the next one has begun."""
        if stamp < self._next - 1e-9:
            return False
        self._next = stamp + self._period
        return True


class Phased:
    """Picks one stamp in each period of the stamps' own clock: all that have the same period pick the same stamps."""

    def __init__(self, period: float) -> None:
        self._period = period
        self.reset()

    def reset(self) -> None:
        """It is due at once."""
        self._last = -math.inf

    def due(self, stamp: float) -> bool:
        """Whether this is the first stamp of its period."""
        number = math.floor(stamp / self._period + 1e-6) if self._period > 0.0 else stamp
        if number <= self._last:
            return False
        self._last = number
        return True
