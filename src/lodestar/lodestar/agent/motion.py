"""Distance driven, and since when the robot has stood, from the stamped poses."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.config import LoopConfig
from lodestar.agent.stamps import NEVER, Stamp
from lodestar.geometry.poses import wrap_angle

_GAP = 0.25  # s between poses, within which no drive is as long as `recovery.lost_step`


class Odometer:
    """Sums the distance between poses; remembers where and since when the robot has stood."""

    def __init__(self, config: LoopConfig) -> None:
        self._config = config
        self.distance = 0.0  # metres
        self._last: np.ndarray | None = None
        self._anchor: np.ndarray | None = None
        self._anchor_stamp = self._newest = NEVER
        self.jumped_at = NEVER  # of the newest step that no drive explains ...
        self.jump: tuple[np.ndarray, np.ndarray] | None = None  # ... and the poses (3,) before and after it

    def observe(self, pose: np.ndarray, stamp: Stamp) -> None:
        """Count the step to pose (3,); a jump is a correction of the map and not counted."""
        if self._last is not None:
            step = math.hypot(pose[0] - self._last[0], pose[1] - self._last[1])
            if step <= self._config.largest_step:
                self.distance += step
            if step > self._config.recovery.lost_step and stamp - self._newest < _GAP:
                self.jumped_at, self.jump = stamp, (self._last.copy(), pose.copy())
        self._last, self._newest = pose, stamp
        if self._anchor is None or self._moved(pose):
            self._anchor, self._anchor_stamp = pose, stamp

    def rest(self) -> None:
        """Count standing still from the newest pose on."""
        self._anchor, self._anchor_stamp = self._last, self._newest

    @property
    def still_for(self) -> float:
        """Seconds between the newest pose and the last noticeable motion before it; 0 where no pose is known.

        While the clock of the poses stands, the robot is not taken for stuck.
        """
        return max(self._newest - self._anchor_stamp, 0.0) if self._anchor is not None else 0.0

    def _moved(self, pose: np.ndarray) -> bool:
        assert self._anchor is not None
        far = math.hypot(pose[0] - self._anchor[0], pose[1] - self._anchor[1]) >= self._config.stuck_distance
        return far or abs(float(wrap_angle(pose[2] - self._anchor[2]))) >= self._config.stuck_angle
