"""Comparison of stamps, timers that run on stamps: from the last event, or in fixed phases; attended time.

After the clock was set back, timers recover within one period at most. Other classes that store stamps have a
`restart_clock`, which their node calls (`LodestarNode.timed`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

#: Seconds between stamps of one moment on two topics of a camera: drivers stamp depth and colour up to 20 ms apart.
SAME_MOMENT = 0.02
_CLOCK_SET = 1.0  # s; a stamp older than this against its stream's newest means that the clock was set back
_SLACK = 1e-4  # s, tolerance for early stamps: drivers round


class Periodic:
    """Timer on stamps: it is due again one period after it was last due.

    It is also due if the clock was set back by more than a period.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self.reset()

    def reset(self) -> None:
        """Make the timer due at the next stamp."""
        self._last = self._next = -math.inf

    def due(self, stamp: float) -> bool:
        """Return whether the period is over at this stamp, and start the next period if so."""
        if self._last - self._period <= stamp < self._next - _SLACK:
            return False
        self._last, self._next = stamp, stamp + self._period
        return True


class Phased:
    """Timer on stamps: it is due at the first stamp in each multiple of its period.

    So timers of equal periods select the same stamps. A stamp from before the last period restarts the
    selection, because the clock was set back.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self.restart_clock()

    def restart_clock(self) -> None:
        """Make the next stamp due."""
        self._last = -math.inf

    def due(self, stamp: float) -> bool:
        """Return whether this is the first stamp in its period."""
        number = math.floor(stamp / self._period + 1e-6) if self._period > 0.0 else stamp
        if self._last - 1 <= number <= self._last:
            return False
        self._last = number
        return True


class NewestStamp:
    """Newest stamp of several streams, some of which lag. It decreases only if one stream's stamps do."""

    def __init__(self) -> None:
        self.restart_clock()

    def restart_clock(self) -> None:
        """Forget the stamps of all streams."""
        self._last: dict[str, float] = {}

    def take(self, stream: str, stamp: float) -> float:
        """Add a stamp of a stream, seconds; return the newest stamp."""
        last = self._last.get(stream, -math.inf)
        if stamp <= last - _CLOCK_SET:
            self.restart_clock()
            last = stamp
        self._last[stream] = max(last, stamp)
        return max(self._last.values())


class CarriedStamp:
    """Clock of a source that sends stamps occasionally: its last stamp, advanced by a steady local clock.

    Offsets between the two clocks and missing stamps have no effect.
    """

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._ahead = -math.inf  # s, source's clock minus the steady clock

    def take(self, stamp: float) -> None:
        """Set the clock to a stamp that the source has just sent, seconds."""
        self._ahead = stamp - self._steady()

    @property
    def now(self) -> float:
        """Return the time of the source's clock in seconds; -inf before the first stamp."""
        return self._ahead + self._steady()


class AttendedTime:
    """Time in which its owner looked: of each gap between two looks, at most `most` seconds count.

    So what is due while the owner itself was stopped, on an overloaded computer, is looked at before it is late.
    """

    def __init__(self, most: float) -> None:
        self._most, self._sum = most, 0.0
        self._last: float | None = None

    def at(self, now: float) -> float:
        """Return the seconds that count until a look at `now` seconds; 0 at the first look."""
        self._sum += 0.0 if self._last is None else min(max(now - self._last, 0.0), self._most)
        self._last = now
        return self._sum
