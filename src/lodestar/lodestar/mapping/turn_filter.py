"""Selection of the LiDAR turns that are integrated."""

from __future__ import annotations

import math

import numpy as np

from lodestar.mapping.config import TurnFilterConfig
from lodestar.timing.stamps import Periodic


class TurnFilter:
    """Select inputs by stamp and place: a sensor with a full field of view sees the same until it has moved."""

    def __init__(self, config: TurnFilterConfig = TurnFilterConfig()) -> None:
        self.config = config
        self._period = Periodic(config.period)
        self.restart_clock()

    def restart_clock(self) -> None:
        """Accept the next input."""
        self._period.reset()
        self._taken_at = -math.inf
        self._place: np.ndarray = np.full(3, np.inf)

    def due(self, stamp: float) -> bool:
        """Return whether `period` has passed since the last call that returned True."""
        return self._period.due(stamp)

    def takes(self, stamp: float, place: np.ndarray) -> bool:
        """Return whether to integrate an input of this stamp, taken at place (3,) in map, metres."""
        moved = float(np.linalg.norm(place - self._place))
        if moved < self.config.distance and 0.0 <= stamp - self._taken_at < self.config.still_period:
            return False
        self._place, self._taken_at = np.array(place, np.float64), stamp
        return True
