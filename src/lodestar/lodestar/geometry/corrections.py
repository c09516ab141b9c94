"""Detect changes of map <- odom that are jumps, so that the map is re-anchored.

All consumers of the map use this module, so that they follow the same corrections.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse
from lodestar.geometry.trajectory import Trajectory

#: Metres and radians from which a correction of map <- odom re-anchors the map (DESIGN 2).
DISTANCE = 0.1
ANGLE = math.radians(2.0)


def jump_between(before: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray) -> np.ndarray | None:
    """Return the transform (4, 4), in map, that moves the map after map <- odom jumped from `before` to `now`.

    Returns None if the change is smaller than a jump. The size of a correction is the displacement of the sensor, not
    of the origin of odom: far from that origin a small rotation would look like a large translation, and a rotation
    about the robot would be missed.
    """
    jump = now @ inverse(before)
    shift = (now @ odom_from_sensor)[:3, 3] - (before @ odom_from_sensor)[:3, 3]
    turned = math.acos(float(np.clip((np.trace(jump[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
    return jump if turned > ANGLE or float(np.linalg.norm(shift)) > DISTANCE else None


class Anchor:
    """The place of a part of the map, the last map <- odom that it has followed, and the way on which it was seen.

    map_from_part: (4, 4), the product of the jumps that moved the whole part. A correction is applied inside
    `correction`, and counts only when it was applied whole: after an error the next call has it again.
    """

    def __init__(self, map_from_part: np.ndarray | None = None) -> None:
        self.map_from_part = np.eye(4) if map_from_part is None else np.array(map_from_part, np.float64)
        self.trajectory = Trajectory()
        self._map_from_odom: np.ndarray | None = None

    @contextmanager
    def correction(
        self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float | None = None
    ) -> Iterator[MapCorrection | None]:
        """Yield how the part moves, in map, if map <- odom jumped since the last call, or what SLAM's pose graph still
        moves, where the newest part stays; else None, also where the jump moved the robot alone.

        stamp: of the pose, seconds; without one every move is rigid. The block moves what hangs on the anchor; if it
        raises, the anchor stays as it was. Changes below a jump only update the reference. Raises ValueError for poses
        that are not finite, ignoring them.
        """
        now, before = np.array(map_from_odom, np.float64), self._map_from_odom
        if not (np.isfinite(now).all() and np.isfinite(odom_from_sensor).all()):
            raise ValueError("the pose of the sensor is not finite")
        jump, correction = None, None
        if before is not None:
            jump = jump_between(before, now, odom_from_sensor)
            if jump is not None:
                correction = self.trajectory.correction(before, now, odom_from_sensor, stamp)
        if before is None or jump is None or correction is None:
            rest = None if stamp is None else self.trajectory.remainder(stamp, now @ odom_from_sensor)
            if rest is None and jump is not None and stamp is not None:  # a match
                self.trajectory.expect_graph(stamp)
            yield rest
            if rest is not None:
                self.trajectory.refine(rest)
        else:
            yield correction
            self.trajectory.follow(correction, before, now, odom_from_sensor)
            if correction.is_rigid:
                self.map_from_part = jump @ self.map_from_part
        self._map_from_odom = now
        if stamp is not None:
            self.trajectory.note(stamp, now, odom_from_sensor)

    @property
    def last(self) -> np.ndarray | None:
        """Return the last correction (4, 4), None before the first."""
        return self._map_from_odom

    def go_on_from(self, other: Anchor) -> None:
        """Take over the way and the last map <- odom of another anchor, as if this one had followed them."""
        self.trajectory.read(other.trajectory.to_arrays())
        self._map_from_odom = None if other.last is None else other.last.copy()

    def resume(self, map_from_odom: np.ndarray | None) -> None:
        """Continue from the last correction of an earlier process in the same odometry frame; None = of another."""
        self._map_from_odom = None if map_from_odom is None else np.array(map_from_odom, np.float64)
        if map_from_odom is None:
            self.trajectory.restart_odometry()
