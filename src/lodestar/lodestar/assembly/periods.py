"""Periods by stamps: from the last event, or in fixed phases."""

from __future__ import annotations

import math


class Periodic:
    """Tell when something is due again, a period after it was last due; also after the clock went back further."""

    def __init__(self, period: float) -> None:
        self._period = period
        self.reset()

    def reset(self) -> None:
        """Make it due at once."""
        self._last = self._next = -math.inf

    def due(self, stamp: float) -> bool:
        """Return whether the period is over, and start the next one if so."""
        if self._last - self._period <= stamp < self._next - 1e-9:
            return False
        self._last, self._next = stamp, stamp + self._period
        return True


class Phased:
    """Select one stamp in each period of the stamps' own clock; equal periods select equal stamps."""

    def __init__(self, period: float) -> None:
        self._period = period
        self.reset()

    def reset(self) -> None:
        """Make it due at once."""
        self._last = -math.inf

    def due(self, stamp: float) -> bool:
        """Return whether this is the first stamp of its period."""
        number = math.floor(stamp / self._period + 1e-6) if self._period > 0.0 else stamp
        if number <= self._last:
            return False
        self._last = number
        return True
