"""Time of the loop and stamps of facts, two kinds that cannot be compared by accident.

The loop knows two kinds of time. Its own time is the `now` of `tick`, a float: deadlines and patience count on it, and
it goes on while a simulated clock stands. A stamp says when a fact held on the clock of the sensors; two stamps may be
compared or subtracted, a stamp and a float may not (TypeError, and mypy refuses it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Stamp:
    """Seconds on the clock of the sensors."""

    seconds: float

    def __sub__(self, earlier: Stamp) -> float:
        """Seconds from another stamp to this one."""
        return self.seconds - earlier.seconds

    def after(self, seconds: float) -> Stamp:
        """The stamp so many seconds later; earlier where negative."""
        return Stamp(self.seconds + seconds)


NEVER = Stamp(-math.inf)


class LoopClock:
    """Loop time, so that no deadline and no patience counts a pause. now: seconds; stands: whether it is stopped."""

    def __init__(self) -> None:
        self.now, self.stands = 0.0, False
        self._given, self._rested = 0.0, 0.0  # the owner's newest time, and how long the clock has stood

    def advance(self, given: float) -> float:
        """Take the owner's time in seconds, and return loop time; time that goes back counts as no time."""
        self._given = max(self._given, given)
        if not self.stands:
            self.now = max(self.now, self._given - self._rested)
        return self.now

    def stop(self) -> None:
        """Stand until `go`."""
        self.stands = True

    def go(self) -> None:
        """Go on from where it stands; a clock that goes is left as it is."""
        if self.stands:
            self.stands, self._rested = False, self._given - self.now

    def restart(self, given: float) -> None:
        """Begin anew at the owner's time, in seconds."""
        self.now = self._given = given
        self.stands, self._rested = False, 0.0
