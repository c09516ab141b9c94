"""Rigid transforms as 4x4 float64 matrices; `a_from_b` maps points of frame b to frame a."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def rotation_z(yaw: float) -> np.ndarray:
    """Return the (3, 3) float64 rotation by `yaw` radians about z."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def make_transform(rotation: np.ndarray, translation: ArrayLike) -> np.ndarray:
    """Return the (4, 4) transform with rotation (3, 3) and translation (3,), metres."""
    transform = np.eye(4)
    transform[:3, :3] = rotation
    transform[:3, 3] = translation
    return transform


def planar_transform(x: float, y: float, yaw: float, z: float = 0.0) -> np.ndarray:
    """Return the (4, 4) transform of a body at (x, y, z), metres, with heading `yaw`, radians."""
    return make_transform(rotation_z(yaw), (x, y, z))


def inverse(transform: np.ndarray) -> np.ndarray:
    """Return the inverse of a rigid (4, 4) transform, without a general matrix inversion."""
    rotation = transform[:3, :3]
    return make_transform(rotation.T, -rotation.T @ transform[:3, 3])


def transform_points(a_from_b: np.ndarray, points_b: np.ndarray) -> np.ndarray:
    """Return points (N, 3) of frame b in frame a; keeps the dtype of the points."""
    rotation = a_from_b[:3, :3].astype(points_b.dtype, copy=False)
    return points_b @ rotation.T + a_from_b[:3, 3].astype(points_b.dtype, copy=False)


def planar_pose(transform: np.ndarray) -> np.ndarray:
    """Return x, y, yaw (3,) of a transform (4, 4)."""
    return np.array([*transform[:2, 3], yaw_of(transform)])


def yaw_of(transform: np.ndarray) -> float:
    """Return the heading of the transform's x axis in the x-y plane, radians in (-pi, pi]."""
    return math.atan2(transform[1, 0], transform[0, 0])


def wrap_angle(angle: ArrayLike) -> np.ndarray:
    """Return the angle(s) wrapped to [-pi, pi)."""
    return (np.asarray(angle) + np.pi) % (2.0 * np.pi) - np.pi


def quaternion_from_rotation(rotation: np.ndarray) -> np.ndarray:
    """Return the unit quaternion (x, y, z, w), w >= 0, of a (3, 3) rotation."""
    m = np.asarray(rotation, dtype=np.float64)
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    candidates = np.array([m[0, 0], m[1, 1], m[2, 2], trace])
    choice = int(candidates.argmax())
    q = np.empty(4)
    if choice == 3:
        q[:3] = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
        q[3] = 1.0 + trace
    else:
        i, j, k = choice, (choice + 1) % 3, (choice + 2) % 3
        q[i] = 1.0 - trace + 2.0 * m[i, i]
        q[j] = m[j, i] + m[i, j]
        q[k] = m[k, i] + m[i, k]
        q[3] = m[k, j] - m[j, k]
    q /= np.linalg.norm(q)
    return -q if q[3] < 0.0 else q


def rotation_from_quaternion(quaternion: ArrayLike) -> np.ndarray:
    """Return the rotation (3, 3) of a quaternion (x, y, z, w) of any length.

    Raises ValueError for a quaternion of zero or non-finite length.
    """
    q = np.asarray(quaternion, dtype=np.float64)
    norm = float(np.linalg.norm(q))
    if not np.isfinite(norm) or norm < 1e-9:
        raise ValueError(f"quaternion {q.tolist()} has zero or non-finite length")
    x, y, z, w = q / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


#: Maps optical axes (x right, y down, z forward) to body axes (x forward, y left, z up), REP 103.
BODY_FROM_OPTICAL = make_transform(np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]), (0, 0, 0))


def apart(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Return the horizontal distance, metres, and the absolute heading difference, radians, of two poses.

    a, b: (3,) x, y, yaw.
    """
    return math.hypot(a[0] - b[0], a[1] - b[1]), abs(float(wrap_angle(a[2] - b[2])))
