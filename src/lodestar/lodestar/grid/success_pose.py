"""Success of a goal pose, one definition for the agent and the evaluation (DESIGN section 3).

The footprint must be within 1.0 m, horizontally, of the nearest point of the object's box, and the bearing to
that point within 30 degrees. The caller checks line of sight, on the grid or on the true meshes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import Footprint, SuccessConfig
from lodestar.grid.footprint import GO2

MAX_DISTANCE, MAX_BEARING = SuccessConfig.distance, SuccessConfig.bearing  # the benchmarks' limits
_ROUNDING = 1e-6  # m, tolerance for rounding errors


def _outside(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distances (...), metres, of points (..., 2) from a rectangle; 0 inside."""
    return np.linalg.norm(np.maximum(np.maximum(low - points, points - high), 0.0), axis=-1)


def footprint_distances(
    poses: ArrayLike, footprint: Footprint, box_min: ArrayLike, box_max: ArrayLike
) -> np.ndarray:
    """Return the horizontal distances (N,) float64, metres, from the footprint at poses (N, 3) to the box.

    0 = overlap.
    """
    poses = np.asarray(poses, np.float64).reshape(-1, 3)
    low, high = np.asarray(box_min, np.float64)[:2], np.asarray(box_max, np.float64)[:2]
    half = np.array([footprint.length / 2.0, footprint.width / 2.0])
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]], np.float64)
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    axes = np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], 1)  # (N, 2 axes, 2), robot axes in map
    own = np.einsum("ka,nab->nkb", signs * half, axes) + poses[:, None, :2]  # footprint corners in map
    box = np.stack([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    theirs = np.einsum("nkb,nab->nka", box[None] - poses[:, None, :2], axes)  # box corners, robot frame
    # Two disjoint convex polygons are closest at a corner of one of them.
    distance = np.minimum(_outside(own, low, high).min(1), _outside(theirs, -half, half).min(1))
    apart_map = ((own.max(1) < low) | (own.min(1) > high)).any(1)
    apart_robot = ((theirs.max(1) < -half) | (theirs.min(1) > half)).any(1)
    return np.where(apart_map | apart_robot, distance, 0.0)


def footprint_distance(
    pose: ArrayLike, footprint: Footprint, box_min: ArrayLike, box_max: ArrayLike
) -> float:
    """Return the horizontal distance, metres, from the footprint at a pose to the box; 0 = overlap.

    pose: (x, y, yaw).
    """
    return float(footprint_distances(np.asarray(pose)[None], footprint, box_min, box_max)[0])


def bearings_to_box(poses: ArrayLike, box_min: ArrayLike, box_max: ArrayLike) -> np.ndarray:
    """Return the bearings (N,) float64, radians in [-pi, pi), of the box's nearest point at poses (N, 3).

    They are relative to the heading of the pose, and 0 where it lies horizontally inside the box.
    """
    poses = np.asarray(poses, np.float64).reshape(-1, 3)
    nearest = np.clip(poses[:, :2], np.asarray(box_min)[:2], np.asarray(box_max)[:2])
    offset = nearest - poses[:, :2]
    inside = np.hypot(offset[:, 0], offset[:, 1]) < 1e-9
    return np.where(inside, 0.0, wrap_angle(np.arctan2(offset[:, 1], offset[:, 0]) - poses[:, 2]))


def bearing_to_box(pose: ArrayLike, box_min: ArrayLike, box_max: ArrayLike) -> float:
    """Return the angle, radians, from the heading of pose (x, y, yaw) to the box's nearest point.

    See `bearings_to_box`.
    """
    return float(bearings_to_box(np.asarray(pose)[None], box_min, box_max)[0])


def is_facing(
    pose: ArrayLike,
    box_min: ArrayLike,
    box_max: ArrayLike,
    footprint: Footprint = GO2,
    max_distance: float = MAX_DISTANCE,
    max_bearing: float = MAX_BEARING,
) -> bool:
    """Return whether a robot at pose (x, y, yaw) is near the box and faces it; line of sight is not checked."""
    return (
        footprint_distance(pose, footprint, box_min, box_max) <= max_distance
        and abs(bearing_to_box(pose, box_min, box_max)) <= max_bearing
    )


def faced(
    pose: ArrayLike,
    box_mins: np.ndarray,
    box_maxs: np.ndarray,
    footprint: Footprint = GO2,
    max_distance: float = MAX_DISTANCE,
    max_bearing: float = MAX_BEARING,
) -> np.ndarray:
    """Return (N,) bool: whether a robot at a pose is near to and faces each of N boxes; see `is_facing`.

    The exact test runs only for boxes that are near enough.
    """
    place = np.asarray(pose, np.float64)[:2]
    reach = max_distance + math.hypot(footprint.length, footprint.width) / 2.0
    found = _outside(place, box_mins[:, :2], box_maxs[:, :2]) <= reach + _ROUNDING
    for row in np.flatnonzero(found):
        found[row] = is_facing(pose, box_mins[row], box_maxs[row], footprint, max_distance, max_bearing)
    return found
