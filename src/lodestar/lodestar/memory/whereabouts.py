"""The robot's poses over time, and the times at which it was lost."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SEGMENT_POSE_GAP = 0.5  # most seconds between an image and the pose that is used for it; chosen
SEGMENT_MAX_SPEED = 2.0  # m/s in map; above the speed of supported robots (Go2 walks 1.5 m/s); chosen
SEGMENT_MAX_TURN = 3.0  # rad/s in map; chosen likewise
SEGMENT_JUMP = 0.5  # metres beyond a drive at SEGMENT_MAX_SPEED that mean a jump; chosen
SEGMENT_JUMP_ANGLE = math.radians(30.0)  # radians beyond a turn at SEGMENT_MAX_TURN that mean a jump; chosen
SEGMENT_SETTLE = 3.0  # seconds after a jump for which the pose is not trusted; chosen

_POSES = 3000  # most poses stored; a minute at 50 Hz, longer than a segment waits
_LOST = 100  # most time spans stored


@dataclass(frozen=True)
class Pose:
    """Pose of base_link in map at a stamp: position (3,) metres, heading radians."""

    stamp: float
    position: np.ndarray
    heading: float


class PoseTrack:
    """Record of the last poses. The robot counts as lost without a pose and for a time after a jump.

    A jump is a displacement that the robot cannot have driven: it was carried, or localisation failed. Small
    corrections by a loop closure are no jumps.
    """

    def __init__(self) -> None:
        self._poses: deque[Pose] = deque(maxlen=_POSES)
        self._lost: deque[tuple[float, float]] = deque(maxlen=_LOST)  # (start, end); the last one may be open
        self._missing_since: float | None = None
        self.jumps = 0

    def add(self, stamp: float, position: np.ndarray | None, heading: float = 0.0) -> None:
        """Add the pose at a stamp later than all before; a pose that is None or not finite is unknown."""
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
            self._lost.append((self._poses[-1].stamp, stamp + SEGMENT_SETTLE))
        self._poses.append(pose)

    def _is_jump(self, before: Pose, now: Pose) -> bool:
        seconds = now.stamp - before.stamp
        moved = float(np.linalg.norm(now.position - before.position))
        turned = abs(math.remainder(now.heading - before.heading, 2.0 * math.pi))
        return (
            moved > SEGMENT_MAX_SPEED * seconds + SEGMENT_JUMP
            or turned > SEGMENT_MAX_TURN * seconds + SEGMENT_JUMP_ANGLE
        )

    def is_lost(self, start: float, end: float) -> bool:
        """Return whether the robot was lost at any time from start to end, as far as recorded."""
        if self._missing_since is not None and end >= self._missing_since:
            return True
        return any(began <= end and start <= ended for began, ended in self._lost)

    def at(self, stamp: float) -> Pose | None:
        """Return the pose nearest to a stamp within SEGMENT_POSE_GAP; None = none, or the robot was lost."""
        if self.is_lost(stamp, stamp):
            return None
        index = bisect_left(self._poses, stamp, key=lambda pose: pose.stamp) if self._poses else 0
        near = [self._poses[i] for i in (index - 1, index) if 0 <= i < len(self._poses)]
        if not near:
            return None
        best = min(near, key=lambda pose: abs(pose.stamp - stamp))
        return best if abs(best.stamp - stamp) <= SEGMENT_POSE_GAP else None

    def driven(self, start: float, end: float) -> float:
        """Return the distance driven from start to end in plan, metres."""
        xy = np.array([pose.position[:2] for pose in self._poses if start <= pose.stamp <= end])
        return float(np.linalg.norm(np.diff(xy, axis=0), axis=1).sum()) if len(xy) > 1 else 0.0

    def turned(self, start: float, end: float) -> float:
        """Return the angle turned from start to end, radians; turns in both directions add up."""
        headings = [pose.heading for pose in self._poses if start <= pose.stamp <= end]
        return sum(abs(math.remainder(b - a, 2.0 * math.pi)) for a, b in pairwise(headings))

    @property
    def last(self) -> Pose | None:
        """Return the newest pose, even if the robot was lost."""
        return self._poses[-1] if self._poses else None

    def clear(self) -> None:
        """Forget all poses, as after a change of the map or the clock."""
        self._poses.clear()
        self._lost.clear()
        self._missing_since = None
