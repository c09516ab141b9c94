"""Detection of when the robot leaves a floor and stands on one, from its height and tilt."""

from __future__ import annotations

import math
from collections import deque
from enum import Enum

import numpy as np

WATCH_LEAVE = 1.0  # m above or below its floor, from which the robot counts as leaving it; chosen
WATCH_LEVEL = 0.14  # rad (8 degrees) of tilt up to which it stands level; the floor layer's `slope` of 0.15
WATCH_DRIFT = 0.05  # m of height per metre driven that count as drift of odometry, not as a slope; chosen
WATCH_SETTLE = 1.0  # s for which it must have been level at one height to stand on a floor; chosen
WATCH_CLIMB = 0.25  # m above or below its floor, from which the slope of the path there is tested: two steps
# rise over run of the last metre, from which it was no ramp: the slope of WATCH_LEVEL and a margin
WATCH_CLIMB_SLOPE = 0.2
WATCH_STILL = 0.06  # m by which its height may vary while it settles: noise of legs and WATCH_DRIFT; chosen


class Stand(Enum):
    """State of the robot by its height: on its floor, between floors, or level at another height."""

    ON = "on its floor"
    AWAY = "between floors"
    LANDED = "level, at another height"


class HeightWatch:
    """Tracks the height of the robot's feet over its floor.

    Small height changes per metre driven with a level body count as odometry drift and move the floor's
    height.
    """

    def __init__(self) -> None:
        self._reference: float | None = None  # m, height of the floor at the robot's place
        self._last: np.ndarray | None = None  # (3,) of the feet
        self._heights: deque[tuple[float, float]] = deque()  # (stamp, height) of WATCH_SETTLE s, while level
        self._way: deque[tuple[float, float]] = deque()  # (m driven, height) of the last metre
        self.stand = Stand.ON
        self.tilt = 0.0  # rad, newest

    @property
    def reference(self) -> float:
        """Return the height of the robot's last floor, metres in map, including the drift so far."""
        return self._reference or 0.0

    @property
    def is_climbing(self) -> bool:
        """Return whether the robot has left its floor over a slope steeper than a ramp, or was lifted.

        False as soon as it stands level at one height.
        """
        if abs(self.over_floor) < WATCH_CLIMB or not self._way or self._is_settled:
            return False
        (before, low), (now, high) = self._way[0], self._way[-1]
        return abs(high - low) > WATCH_CLIMB_SLOPE * max(now - before, 0.5)

    @property
    def over_floor(self) -> float:
        """Return the height of the feet over the robot's last floor, metres."""
        return (
            0.0 if self._last is None or self._reference is None else float(self._last[2] - self._reference)
        )

    def observe(self, stamp: float, feet: np.ndarray, tilt: float) -> Stand:
        """Add one measurement and return the new state.

        feet: position (3,) in map, metres. tilt: of the body, radians. stamp: seconds.
        """
        if not np.isfinite(feet).all():
            return self.stand
        last, self.tilt = self._last, tilt
        self._note_way(feet)
        self._last = np.asarray(feet, np.float64).copy()
        if last is None or self._reference is None:
            self._reference = float(feet[2])
            return self.stand
        if self.stand is Stand.ON and tilt <= WATCH_LEVEL:
            follow = WATCH_DRIFT * math.dist(feet[:2], last[:2])
            self._reference += min(max(self.over_floor, -follow), follow)
        if self.stand is Stand.ON and abs(self.over_floor) >= WATCH_LEAVE:
            self.leave()
        self._settle(stamp, float(feet[2]), tilt)
        if self.stand is not Stand.ON:
            self.stand = Stand.LANDED if self._is_settled else Stand.AWAY
        return self.stand

    def leave(self) -> None:
        """Set the state to between floors, whatever the height."""
        self.stand = Stand.AWAY
        self._heights.clear()

    @property
    def _is_settled(self) -> bool:
        heights = self._heights
        return bool(heights) and heights[-1][0] - heights[0][0] >= WATCH_SETTLE

    def _note_way(self, feet: np.ndarray) -> None:
        way = self._way[-1][0] if self._way else 0.0
        if self._last is not None:
            way += math.dist(feet[:2], self._last[:2])
        self._way.append((way, float(feet[2])))
        while len(self._way) > 2 and way - self._way[1][0] >= 1.0:
            self._way.popleft()
        if len(self._way) > 400:  # the robot stands; chosen
            del self._way[1]

    def _settle(self, stamp: float, height: float, tilt: float) -> None:
        if tilt > WATCH_LEVEL:
            self._heights.clear()
            return
        if self._heights and stamp < self._heights[-1][0]:  # the clock went back
            self._heights.clear()
        self._heights.append((stamp, height))
        while len(self._heights) > 2 and stamp - self._heights[1][0] >= WATCH_SETTLE:
            self._heights.popleft()
        heights = [one for _, one in self._heights]
        if max(heights) - min(heights) > WATCH_STILL:
            self._heights.clear()

    def stand_on(self, height: float | None = None) -> None:
        """Set the state to standing on a floor.

        height: of the floor, metres in map; None = that of the feet.
        """
        self._reference = (None if self._last is None else float(self._last[2])) if height is None else height
        self.stand = Stand.ON
        self._heights.clear()
        self._way.clear()
