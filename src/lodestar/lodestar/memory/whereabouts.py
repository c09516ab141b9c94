"""Places of the robot over time, and the times at which it was lost."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lodestar.memory.config import SegmentConfig

_POSES = 3000  # that are kept; a minute at 50 Hz, more than a segment waits
_LOST = 100  # times that are kept


@dataclass(frozen=True)
class Pose:
    """base_link in map at a stamp: position (3,) metres, heading radians."""

    stamp: float
    position: np.ndarray
    heading: float


class PoseTrack:
    """The last poses. Lost: no pose was known, or it jumped and has not settled since.

    A jump is a displacement that the robot cannot have driven: it was carried, or localisation erred. Small corrections
    of a loop closure are none.
    """

    def __init__(self, config: SegmentConfig) -> None:
        self._config = config
        self._poses: deque[Pose] = deque(maxlen=_POSES)
        self._lost: deque[tuple[float, float]] = deque(maxlen=_LOST)  # start, end; the last one may be open
        self._missing_since: float | None = None
        self.jumps = 0

    def add(self, stamp: float, position: np.ndarray | None, heading: float = 0.0) -> None:
        """Take the pose of a stamp later than those before; None or not finite = none was known."""
        known = position is not None and np.isfinite(position).all() and math.isfinite(heading)
        if not known:
            if self._missing_since is None:
                self._missing_since = stamp
            return
        pose = Pose(stamp, np.array(position, np.float64).reshape(3), float(heading))
        if self._missing_since is not None:
            self._lost.append((self._missing_since, stamp))
            self._missing_since = None
        if self._poses and self._is_jump(self._poses[-1], pose):
            self.jumps += 1
            self._lost.append((self._poses[-1].stamp, stamp + self._config.settle))
        self._poses.append(pose)

    def _is_jump(self, before: Pose, now: Pose) -> bool:
        config, seconds = self._config, now.stamp - before.stamp
        moved = float(np.linalg.norm(now.position - before.position))
        turned = abs(math.remainder(now.heading - before.heading, 2.0 * math.pi))
        return (
            moved > config.max_speed * seconds + config.jump
            or turned > config.max_turn * seconds + config.jump_angle
        )

    def is_lost(self, start: float, end: float) -> bool:
        """Tell whether the robot was lost at some time from start to end, as far as it is kept."""
        if self._missing_since is not None and end >= self._missing_since:
            return True
        return any(began <= end and start <= ended for began, ended in self._lost)

    def at(self, stamp: float) -> Pose | None:
        """Return the pose nearest to a stamp within `pose_gap`, None if there is none or the robot was lost then."""
        if self.is_lost(stamp, stamp):
            return None
        index = bisect_left(self._poses, stamp, key=lambda pose: pose.stamp) if self._poses else 0
        near = [self._poses[i] for i in (index - 1, index) if 0 <= i < len(self._poses)]
        if not near:
            return None
        best = min(near, key=lambda pose: abs(pose.stamp - stamp))
        return best if abs(best.stamp - stamp) <= self._config.pose_gap else None

    def driven(self, start: float, end: float) -> float:
        """Return the metres driven from start to end, in plan."""
        xy = np.array([pose.position[:2] for pose in self._poses if start <= pose.stamp <= end])
        return float(np.linalg.norm(np.diff(xy, axis=0), axis=1).sum()) if len(xy) > 1 else 0.0

    def turned(self, start: float, end: float) -> float:
        """Return the radians turned from start to end, both ways added up."""
        headings = [pose.heading for pose in self._poses if start <= pose.stamp <= end]
        return sum(abs(math.remainder(b - a, 2.0 * math.pi)) for a, b in pairwise(headings))

    @property
    def last(self) -> Pose | None:
        """Return the newest pose, also one that is not trusted."""
        return self._poses[-1] if self._poses else None

    def clear(self) -> None:
        """Forget everything: the map or the clock is another one."""
        self._poses.clear()
        self._lost.clear()
        self._missing_since = None
