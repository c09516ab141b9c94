"""Selection of the LiDAR scans (full rotations) to integrate."""

from __future__ import annotations

import math

import numpy as np

from lodestar.mapping.config import TURN_FILTER_PERIOD
from lodestar.timing.stamps import Periodic

TURN_FILTER_DISTANCE = 0.15  # metres that the sensor must have moved since the last turn; chosen
# seconds after which a turn from the same place is integrated too; chosen: objects may have moved
TURN_FILTER_STILL_PERIOD = 0.5


class TurnFilter:
    """Selects inputs by stamp and place, so that a sensor that stands still is integrated less often.

    A sensor with a full field of view sees nothing new until it has moved.
    """

    def __init__(self) -> None:
        self._period = Periodic(TURN_FILTER_PERIOD)
        self.restart_clock()

    def restart_clock(self) -> None:
        """Forget the last input, so that the next one is accepted."""
        self._period.reset()
        self._taken_at = -math.inf
        self._place: np.ndarray = np.full(3, np.inf)

    def due(self, stamp: float) -> bool:
        """Return whether TURN_FILTER_PERIOD has passed since the last call that returned True."""
        return self._period.due(stamp)

    def takes(self, stamp: float, place: np.ndarray) -> bool:
        """Return whether to integrate an input of this stamp, taken at place (3,) in map, metres."""
        moved = float(np.linalg.norm(place - self._place))
        if moved < TURN_FILTER_DISTANCE and 0.0 <= stamp - self._taken_at < TURN_FILTER_STILL_PERIOD:
            return False
        self._place, self._taken_at = np.array(place, np.float64), stamp
        return True
