"""Which changes of map <- odom are jumps that the map has to follow.

Everything that hangs on the map asks here: where one thing followed a correction and another did not, they would part.
"""

from __future__ import annotations

import math

import numpy as np

from lodestar.geometry.poses import inverse

#: Metres and radians from which on a correction of map <- odom re-anchors the map (DESIGN 2).
DISTANCE = 0.1
ANGLE = math.radians(2.0)


def jump_between(before: np.ndarray, now: np.ndarray, odom_from_sensor: np.ndarray) -> np.ndarray | None:
    """What moves the map, (4, 4) in map, where map <- odom jumped from `before` to `now`; None for less than a jump.

    How far a correction jumps is how far it moves the sensor: at the origin of odom, which may be far behind, a
    fraction of a degree would seem a long way, and a turn about the robot's own place as nothing.
    """
    jump = now @ inverse(before)
    shift = (now @ odom_from_sensor)[:3, 3] - (before @ odom_from_sensor)[:3, 3]
    turned = math.acos(float(np.clip((np.trace(jump[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
    return jump if turned > ANGLE or float(np.linalg.norm(shift)) > DISTANCE else None


class JumpWatch:
    """Compares map <- odom from one moment to the next; see `jump_between`."""

    def __init__(self) -> None:
        self._map_from_odom: np.ndarray | None = None

    def jump(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray) -> np.ndarray | None:
        """What moves the map, (4, 4) in map, if this is a jump since the last call; small corrections are followed.

        Raises ValueError for poses that are not finite, and remembers nothing of them.
        """
        now = np.array(map_from_odom, np.float64)
        if not (np.isfinite(now).all() and np.isfinite(odom_from_sensor).all()):
            raise ValueError("the pose of the sensor is not finite")
        before, self._map_from_odom = self._map_from_odom, now
        return None if before is None else jump_between(before, now, odom_from_sensor)

    @property
    def last(self) -> np.ndarray | None:
        """The last correction, (4, 4), None before the first."""
        return self._map_from_odom

    def resume(self, map_from_odom: np.ndarray | None) -> None:
        """Go on from a correction of before: of another process in the same odometry."""
        self._map_from_odom = None if map_from_odom is None else np.array(map_from_odom, np.float64)

    def restart(self) -> None:
        """The next correction is the first: the map is another one."""
        self._map_from_odom = None
