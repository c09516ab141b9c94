"""Stamps of facts, a type that cannot be compared with the loop's own time by accident.

The loop knows two kinds of time. Its own time is the `now` of `tick`, a float: deadlines and patience count on it, and
it goes on while a simulated clock stands. A stamp says when a fact held on the clock of the sensors; two stamps may be
compared or subtracted, a stamp and a float may not (TypeError, and mypy refuses it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lodestar.scene.records import Entity


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
FOREVER = Stamp(math.inf)


def last_seen(entity: Entity) -> Stamp:
    """Return the stamp at which the entity was last observed."""
    return Stamp(entity.last_seen)
