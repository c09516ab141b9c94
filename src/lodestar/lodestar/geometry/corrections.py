"""Which changes of map <- odom are jumps that the map has to follow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.poses import inverse


@dataclass(frozen=True)
class JumpConfig:
    """distance, angle: metres and radians from which on a correction of map <- odom re-anchors the map (DESIGN 2)."""

    distance: float = 0.1
    angle: float = math.radians(2.0)


class JumpWatch:
    """Compares map <- odom from one moment to the next.

    How far a correction jumps is how far it moves the sensor: at the origin of odom, which may be far behind, a
    fraction of a degree would seem a long way, and a turn about the robot's own place as nothing.
    """

    def __init__(self, config: JumpConfig = JumpConfig()) -> None:
        self._config = config
        self._map_from_odom: np.ndarray | None = None

    def jump(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray) -> np.ndarray | None:
        """What moves the map, (4, 4) in map, if this is a jump since the last call; small corrections are followed.

        Raises ValueError for poses that are not finite, and remembers nothing of them.
        """
        now = np.array(map_from_odom, np.float64)
        if not (np.isfinite(now).all() and np.isfinite(odom_from_sensor).all()):
            raise ValueError("the pose of the sensor is not finite")
        before, self._map_from_odom = self._map_from_odom, now
        if before is None:
            return None
        jump = now @ inverse(before)
        shift = (now @ odom_from_sensor)[:3, 3] - (before @ odom_from_sensor)[:3, 3]
        turned = math.acos(float(np.clip((np.trace(jump[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
        if turned <= self._config.angle and float(np.linalg.norm(shift)) <= self._config.distance:
            return None
        return jump

    def restart(self) -> None:
        """The next correction is the first: the map is another one."""
        self._map_from_odom = None
