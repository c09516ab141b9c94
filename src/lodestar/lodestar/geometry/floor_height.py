"""Height of the floor below a camera."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np


def floor_below(
    poses: Iterable[np.ndarray], place: np.ndarray, camera_height: float, otherwise: float = 0.0
) -> float:
    """Return the height in map, metres, of the floor at a place, from the nearest camera pose.

    place: (2+,) in map; the horizontally nearest pose is used. The camera is fixed to the robot's body, so
    the floor lies camera_height metres below the pose that TF reports, on an upper storey and on a ramp too.
    poses: map_from_camera (4, 4); poses that are not finite are ignored. otherwise: returned if there is no
    pose.
    """
    nearest, floor = math.inf, otherwise
    for pose in poses:
        away = math.hypot(pose[0, 3] - place[0], pose[1, 3] - place[1])
        if away < nearest and math.isfinite(pose[2, 3]):
            nearest, floor = away, float(pose[2, 3]) - camera_height
    return floor
