"""The same moment of two stamps, and periods by stamps: from the last event, or in fixed phases.

A period here survives a clock that was set back, by a period at most; whoever keeps stamps in another way has a
`restart_clock`, which its node calls (`LodestarNode.timed`).
"""

from __future__ import annotations

import math

#: Seconds between stamps of one moment, of two topics of one camera: drivers stamp depth and colour up to 20 ms apart.
SAME_MOMENT = 0.02
_SLACK = 1e-4  # s by which a stamp may come early: drivers round


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
        if self._last - self._period <= stamp < self._next - _SLACK:
            return False
        self._last, self._next = stamp, stamp + self._period
        return True


class Phased:
    """Select one stamp in each period of the stamps' own clock; equal periods select equal stamps.

    A stamp from before the last period begins anew: the clock went back.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self.restart_clock()

    def restart_clock(self) -> None:
        """Make it due at once."""
        self._last = -math.inf

    def due(self, stamp: float) -> bool:
        """Return whether this is the first stamp of its period."""
        number = math.floor(stamp / self._period + 1e-6) if self._period > 0.0 else stamp
        if self._last - 1 <= number <= self._last:
            return False
        self._last = number
        return True
