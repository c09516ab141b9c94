"""Distance driven, since when the robot has stood, and jumps of its pose, from stamped poses and odometry."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.geometry.poses import wrap_angle

_GAP = 0.25  # s between two poses, beyond which the drive between them is not known well enough
_HOLDS = 0.5  # s for which a measured velocity holds
_FASTEST = 1.0  # m/s that the robot may have driven where no velocity comes


class Odometer:
    """Sums the distance between poses; remembers where and since when the robot has stood, and where it jumped.

    A jump is a step between two poses in map that the measured velocity does not explain: the robot was localised
    anew, or wrongly, or carried. Without a measured velocity, turns are not judged.
    """

    def __init__(self, config: LoopConfig) -> None:
        self._config = config
        self.distance = 0.0  # metres
        self._last: np.ndarray | None = None
        self._anchor: np.ndarray | None = None
        self._anchor_stamp = self._newest = NEVER
        self._velocity, self._felt = np.zeros(3), NEVER
        self.jumped_at = NEVER  # of the newest jump ...
        self.jump: tuple[np.ndarray, np.ndarray] | None = None  # ... and the poses (3,) before and after it

    def restart_clock(self) -> None:
        """Stamps begin anew; the distance driven stays."""
        self._last = self._anchor = self.jump = None
        self._anchor_stamp = self._newest = self._felt = self.jumped_at = NEVER

    def feel(self, velocity: np.ndarray, stamp: Stamp) -> None:
        """Take in a velocity that odometry measures, (3,): m/s, m/s, rad/s in the body frame."""
        self._velocity, self._felt = np.array(velocity, np.float64), stamp

    def observe(self, pose: np.ndarray, stamp: Stamp) -> None:
        """Count the step to pose (3,); a jump is a correction of the map and not counted."""
        if self._last is not None:
            step = math.hypot(pose[0] - self._last[0], pose[1] - self._last[1])
            if step <= self._config.largest_step:
                self.distance += step
            if self._jumps(pose, stamp - self._newest):
                self.jumped_at, self.jump = stamp, (self._last.copy(), pose.copy())
        self._last, self._newest = pose, stamp
        if self._anchor is None or self._moved(pose):
            self._anchor, self._anchor_stamp = pose, stamp

    def _jumps(self, pose: np.ndarray, seconds: float) -> bool:
        """Return whether the step to a pose is none that the robot drove."""
        assert self._last is not None
        if seconds >= _GAP:
            return False
        config = self._config.recovery
        step = pose[:2] - self._last[:2]
        if self._newest - self._felt > _HOLDS:
            return math.hypot(*step) - _FASTEST * seconds > config.lost_step
        yaw = float(self._last[2])
        forward, left = self._velocity[:2] * seconds
        driven = (
            math.cos(yaw) * forward - math.sin(yaw) * left,
            math.sin(yaw) * forward + math.cos(yaw) * left,
        )
        turned = float(wrap_angle(pose[2] - yaw - self._velocity[2] * seconds))
        return math.hypot(*(step - driven)) > config.lost_step or abs(turned) > config.lost_turn

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
