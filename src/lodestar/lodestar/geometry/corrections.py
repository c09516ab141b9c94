"""Detection of jumps of map <- odom, and the corrections by which maps follow them.

All consumers of the map use this module, so that they apply the same corrections.
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
    """Return the transform (4, 4), in map, that moves the map when map <- odom jumps from `before` to `now`.

    Returns None if the change is smaller than a jump. Its size is measured as the displacement of the sensor,
    not of the origin of odom: far from that origin a small rotation would look like a large translation, and
    a rotation about the robot would be missed.
    """
    jump = now @ inverse(before)
    shift = (now @ odom_from_sensor)[:3, 3] - (before @ odom_from_sensor)[:3, 3]
    turned = math.acos(float(np.clip((np.trace(jump[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
    return jump if turned > ANGLE or float(np.linalg.norm(shift)) > DISTANCE else None


class Anchor:
    """Pose of a part of the map, the last map <- odom that was applied to it, and the robot's trajectory.

    map_from_part: (4, 4), the product of the jumps that moved the whole part. A correction is applied inside
    the block of `correction` and counts only if the block completes: after an error the next call yields it
    again.
    """

    def __init__(self, map_from_part: np.ndarray | None = None) -> None:
        self.map_from_part = np.eye(4) if map_from_part is None else np.array(map_from_part, np.float64)
        self.trajectory = Trajectory()
        self._map_from_odom: np.ndarray | None = None

    @contextmanager
    def correction(
        self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float | None = None
    ) -> Iterator[MapCorrection | None]:
        """Yield the correction, in map, to apply to this part of the map inside the block, or None.

        A correction comes from a jump of map <- odom since the last call, or from SLAM's pose graph; the
        latter leaves the newest part in place. None is yielded for changes smaller than a jump, which only
        update the reference, and for a jump that moved only the robot. stamp: of the pose, seconds; without a
        stamp every correction is rigid. If the block raises, the anchor stays unchanged. Raises ValueError,
        and changes nothing, for poses that are not finite.
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
            if rest is None and jump is not None and stamp is not None:  # SLAM moved the robot alone
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
        """Return the last map <- odom (4, 4), None before the first."""
        return self._map_from_odom

    def go_on_from(self, other: Anchor) -> None:
        """Copy the trajectory and the last map <- odom of another anchor."""
        self.trajectory.read(other.trajectory.to_arrays())
        self._map_from_odom = None if other.last is None else other.last.copy()

    def resume(self, map_from_odom: np.ndarray | None) -> None:
        """Continue from the last map <- odom (4, 4) of an earlier process.

        None = the odometry frame is a new one.
        """
        self._map_from_odom = None if map_from_odom is None else np.array(map_from_odom, np.float64)
        if map_from_odom is None:
            self.trajectory.restart_odometry()
