"""Loop time and sensor stamps, two types that cannot be compared by accident.

Loop time is the `now` of `tick`, a float. Deadlines and patience count on it; it advances while a simulated clock
stands. A stamp says when a fact held on the sensors' clock. Two stamps may be compared or subtracted; a stamp and a
float may not (TypeError, and an error in mypy).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Stamp:
    """Seconds on the clock of the sensors."""

    seconds: float

    def __sub__(self, earlier: Stamp) -> float:
        """Return the seconds from another stamp to this one."""
        return self.seconds - earlier.seconds

    def after(self, seconds: float) -> Stamp:
        """Return the stamp `seconds` later; earlier if negative."""
        return Stamp(self.seconds + seconds)


NEVER = Stamp(-math.inf)


class LoopClock:
    """Loop time without pauses, so that deadlines and patience do not count them. now: seconds; stands: whether it is
    stopped.
    """

    def __init__(self) -> None:
        self.now, self.stands = 0.0, False
        self._given, self._rested = 0.0, 0.0  # the owner's newest time, and the total seconds stopped

    def advance(self, given: float) -> float:
        """Set the time of the loop's owner, seconds, and return loop time. Ignores a time that goes back."""
        self._given = max(self._given, given)
        if not self.stands:
            self.now = max(self.now, self._given - self._rested)
        return self.now

    def stop(self) -> None:
        """Stop until `go`."""
        self.stands = True

    def go(self) -> None:
        """Continue from the current value; no effect on a running clock."""
        if self.stands:
            self.stands, self._rested = False, self._given - self.now

    def restart(self, given: float) -> None:
        """Restart at the time of the loop's owner, seconds."""
        self.now = self._given = given
        self.stands, self._rested = False, 0.0
