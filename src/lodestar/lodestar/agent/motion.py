"""How far the robot came, and whether it still moves."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.config import LoopConfig
from lodestar.geometry.poses import wrap_angle


class Odometer:
    """Sums the way between poses; remembers where and since when the robot has stood."""

    def __init__(self, config: LoopConfig) -> None:
        self._config = config
        self.distance = 0.0  # metres
        self._last: np.ndarray | None = None
        self._anchor: np.ndarray | None = None
        self._anchor_stamp = 0.0

    def observe(self, pose: np.ndarray, stamp: float) -> None:
        """Count the step to pose (3,); a jump is a correction of the map and not counted."""
        if self._last is not None:
            step = math.hypot(pose[0] - self._last[0], pose[1] - self._last[1])
            if step <= self._config.largest_step:
                self.distance += step
        self._last = pose
        if self._anchor is None or self._moved(pose):
            self._anchor, self._anchor_stamp = pose, stamp

    def rest(self, stamp: float) -> None:
        """Standing still counts from now on only."""
        self._anchor, self._anchor_stamp = self._last, stamp

    def still_for(self, now: float) -> float:
        """Seconds since the robot last moved noticeably; 0 where no pose is known."""
        return max(now - self._anchor_stamp, 0.0) if self._anchor is not None else 0.0

    def _moved(self, pose: np.ndarray) -> bool:
        assert self._anchor is not None
        far = math.hypot(pose[0] - self._anchor[0], pose[1] - self._anchor[1]) >= self._config.stuck_distance
        return far or abs(float(wrap_angle(pose[2] - self._anchor[2]))) >= self._config.stuck_angle
