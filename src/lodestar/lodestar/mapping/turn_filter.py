"""Which turns of a LiDAR are worth the cost of tracing their rays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TurnFilterConfig:
    """period: seconds from one input that is taken in to the next. distance: metres that the sensor must have moved.

    still_period: seconds after which one is taken in from the same place too, because others may have moved.
    """

    period: float = 0.25
    distance: float = 0.15
    still_period: float = 0.5


class TurnFilter:
    """Picks inputs by stamp and place. A sensor that sees all around sees the same again until it has moved."""

    def __init__(self, config: TurnFilterConfig = TurnFilterConfig()) -> None:
        self.config = config
        self.reset()

    def reset(self) -> None:
        """The next input is taken in."""
        self._next = self._taken_at = -math.inf
        self._place: np.ndarray = np.full(3, np.inf)

    def due(self, stamp: float) -> bool:
        """Whether enough time has passed to look at an input at all; then it has begun anew."""
        if stamp < self._next:
            return False
        self._next = stamp + self.config.period
        return True

    def takes(self, stamp: float, place: np.ndarray) -> bool:
        """Whether an input of this stamp, seen from place (3,) in map, metres, is to be taken in."""
        moved = float(np.linalg.norm(place - self._place))
        if moved < self.config.distance and 0.0 <= stamp - self._taken_at < self.config.still_period:
            return False
        self._place, self._taken_at = np.array(place, np.float64), stamp
        return True
