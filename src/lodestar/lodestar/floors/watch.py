"""Noticing that the robot has left a floor, and that it stands on one, by height and tilt of its feet."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import Enum

import numpy as np


@dataclass(frozen=True)
class WatchConfig:
    """Limits of a change of floor."""

    leave: float = 1.0  # m off its floor's height, from which the robot is on its way to another; chosen
    level: float = (
        0.14  # rad (8 degrees) of tilt up to which it stands level; the floor layer's `slope` of 0.15
    )
    drift: float = 0.05  # m of height per metre of way that is drift of odometry, not a slope; chosen
    settle: float = 1.0  # s for which it must have been level at one height to stand on a floor; chosen
    climb: float = 0.25  # m off its floor from which on the way there is looked at: two steps ...
    climb_slope: float = (
        0.2  # ... rise over run of the last metre, from which it was no ramp: `level` and a margin
    )
    still: float = 0.06  # m by which its height may vary meanwhile: noise of legs and of `drift`; chosen


class Stand(Enum):
    """State of the robot by its height."""

    ON = "on its floor"
    AWAY = "between floors"
    LANDED = "level, at another height"


class HeightWatch:
    """Follows the height of the feet over the floor that the robot is on. Heights drift; a slope is no drift."""

    def __init__(self, config: WatchConfig) -> None:
        self.config = config
        self._reference: float | None = None  # m, of the floor, where the robot is
        self._last: np.ndarray | None = None  # (3,) of the feet
        self._heights: deque[tuple[float, float]] = (
            deque()
        )  # stamp and height of the last `settle` s, while level
        self._way: deque[tuple[float, float]] = deque()  # m of way so far, and height, of the last metre
        self.stand = Stand.ON
        self.tilt = 0.0  # rad, the newest

    @property
    def reference(self) -> float:
        """Return the height of the floor that the robot was on last, metres in map, as drift has it now."""
        return self._reference or 0.0

    @property
    def is_climbing(self) -> bool:
        """Return whether the robot has left its floor over something steeper than a ramp, or was lifted; no longer
        where it stands level at one height, as after it has risen to its feet.
        """
        if abs(self.over_floor) < self.config.climb or not self._way or self._is_settled:
            return False
        (before, low), (now, high) = self._way[0], self._way[-1]
        return abs(high - low) > self.config.climb_slope * max(now - before, 0.5)

    @property
    def over_floor(self) -> float:
        """Return the metres by which the feet are over the floor that the robot was on last."""
        return (
            0.0 if self._last is None or self._reference is None else float(self._last[2] - self._reference)
        )

    def observe(self, stamp: float, feet: np.ndarray, tilt: float) -> Stand:
        """Take the place (3,) of the feet in map, metres, and the tilt of the body, radians; return where it is."""
        if not np.isfinite(feet).all():
            return self.stand
        config, last, self.tilt = self.config, self._last, tilt
        self._note_way(feet)
        self._last = np.asarray(feet, np.float64).copy()
        if last is None or self._reference is None:
            self._reference = float(feet[2])
            return self.stand
        if self.stand is Stand.ON and tilt <= config.level:
            follow = config.drift * math.dist(feet[:2], last[:2])
            self._reference += min(max(self.over_floor, -follow), follow)
        if self.stand is Stand.ON and abs(self.over_floor) >= config.leave:
            self.leave()
        self._settle(stamp, float(feet[2]), tilt)
        if self.stand is not Stand.ON:
            self.stand = Stand.LANDED if self._is_settled else Stand.AWAY
        return self.stand

    def leave(self) -> None:
        """The robot has left its floor, whatever its height is."""
        self.stand = Stand.AWAY
        self._heights.clear()

    @property
    def _is_settled(self) -> bool:
        heights = self._heights
        return bool(heights) and heights[-1][0] - heights[0][0] >= self.config.settle

    def _note_way(self, feet: np.ndarray) -> None:
        way = self._way[-1][0] if self._way else 0.0
        if self._last is not None:
            way += math.dist(feet[:2], self._last[:2])
        self._way.append((way, float(feet[2])))
        while len(self._way) > 2 and way - self._way[1][0] >= 1.0:
            self._way.popleft()
        if len(self._way) > 400:  # it stands; chosen
            del self._way[1]

    def _settle(self, stamp: float, height: float, tilt: float) -> None:
        if tilt > self.config.level:
            self._heights.clear()
            return
        if self._heights and stamp < self._heights[-1][0]:  # the clock went back
            self._heights.clear()
        self._heights.append((stamp, height))
        while len(self._heights) > 2 and stamp - self._heights[1][0] >= self.config.settle:
            self._heights.popleft()
        heights = [one for _, one in self._heights]
        if max(heights) - min(heights) > self.config.still:
            self._heights.clear()

    def stand_on(self, height: float | None = None) -> None:
        """The robot stands on a floor now, at a height where it is; by default that of its feet."""
        self._reference = (None if self._last is None else float(self._last[2])) if height is None else height
        self.stand = Stand.ON
        self._heights.clear()
        self._way.clear()
