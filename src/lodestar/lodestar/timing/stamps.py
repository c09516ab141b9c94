"""The same moment of two stamps, and periods by stamps: from the last event, or in fixed phases.

A period here survives a clock that was set back, by a period at most; whoever keeps stamps in another way has a
`restart_clock`, which its node calls (`LodestarNode.timed`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

#: Seconds between stamps of one moment, of two topics of one camera: drivers stamp depth and colour up to 20 ms apart.
SAME_MOMENT = 0.02
_CLOCK_SET = 1.0  # s by which stamps of one stream may come late before its clock counts as set back
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


class NewestStamp:
    """The newest stamp of several streams of which some lag: it goes back only where a stream's own stamps do."""

    def __init__(self) -> None:
        self.restart_clock()

    def restart_clock(self) -> None:
        """Forget the stamps of all streams."""
        self._last: dict[str, float] = {}

    def take(self, stream: str, stamp: float) -> float:
        """Return the newest stamp, seconds, with this one of a stream."""
        last = self._last.get(stream, -math.inf)
        if stamp <= last - _CLOCK_SET:
            self.restart_clock()
            last = stamp
        self._last[stream] = max(last, stamp)
        return max(self._last.values())


class CarriedStamp:
    """The clock of a source that sends stamps now and then: the last one, carried on by a steady clock.

    So neither another clock's offset nor a missing one matters.
    """

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._ahead = -math.inf  # s by which the source's clock is ahead of the steady one

    def take(self, stamp: float) -> None:
        """Take the source's stamp of now, seconds."""
        self._ahead = stamp - self._steady()

    @property
    def now(self) -> float:
        """Return seconds of the source's clock; -inf before the first stamp."""
        return self._ahead + self._steady()
