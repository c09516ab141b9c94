"""Odometry as REP 105 wants it, from what the Go2 says of its pose."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.poses import inverse, make_transform, rotation_from_quaternion, wrap_angle, yaw_of
from lodestar_go2.states import SportState


@dataclass(frozen=True)
class OdometryConfig:
    """Numbers of the odometry; chosen."""

    standing_height: float = 0.32  # m of the body above the floor, where the robot does not say it
    max_height: float = 0.6  # m; a height above it is taken for none
    max_speed: float = 5.0  # m/s; a faster change of place is a restart of the robot's own odometry
    twist_window: float = 0.1  # s over which the velocity is measured


@dataclass(frozen=True)
class BasePose:
    """Pose and velocity of the body. odom_from_base: (4, 4); velocity: x, y m/s and yaw rate rad/s in base_link."""

    stamp: float
    odom_from_base: np.ndarray
    velocity: tuple[float, float, float]


class Odometry:
    """Poses in `odom`, whose z = 0 is the floor. It goes on where the robot's own odometry starts anew.

    The robot's z and its velocity are not used: the first drifts and begins anywhere, and the frame of the second
    differs between firmwares.
    """

    def __init__(self, config: OdometryConfig | None = None) -> None:
        self._config = config or OdometryConfig()
        self._odom_from_origin = np.eye(4)
        self._last: tuple[float, np.ndarray] | None = None
        self._window: deque[tuple[float, np.ndarray]] = deque()
        self.restarts = 0

    def update(self, state: SportState, stamp: float) -> BasePose:
        """Return the pose at a state. stamp: of the state in our clock, ascending. Raises ValueError for garbage."""
        given = self._given(state)
        if self._last is not None and self._jumped(stamp, given):
            self._odom_from_origin = self._last[1] @ inverse(_planar(given))
            self._window.clear()
            self.restarts += 1
        pose = self._odom_from_origin @ given
        pose[2, 3] = self._height(state)
        self._last = (stamp, _planar(pose))
        return BasePose(stamp, pose, self._velocity(stamp, self._last[1]))

    def _given(self, state: SportState) -> np.ndarray:
        quaternion = np.asarray(state.quaternion, np.float64)
        position = np.asarray(state.position, np.float64)
        norm = float(np.linalg.norm(quaternion))
        if not (np.isfinite(quaternion).all() and np.isfinite(position).all() and 0.5 < norm < 2.0):
            raise ValueError("the robot's pose is not finite, or its quaternion none")
        w, x, y, z = quaternion / norm
        rotation = rotation_from_quaternion((x, y, z, w))
        return make_transform(rotation, (position[0], position[1], 0.0))

    def _height(self, state: SportState) -> float:
        height = float(state.body_height)
        known = math.isfinite(height) and 0.0 < height <= self._config.max_height
        return height if known else self._config.standing_height

    def _jumped(self, stamp: float, given: np.ndarray) -> bool:
        assert self._last is not None
        pose = self._odom_from_origin @ given
        moved = float(np.linalg.norm(pose[:2, 3] - self._last[1][:2, 3]))
        return moved > self._config.max_speed * max(stamp - self._last[0], 0.02) + 0.05

    def _velocity(self, stamp: float, pose: np.ndarray) -> tuple[float, float, float]:
        window = self._window
        window.append((stamp, pose))
        while len(window) > 2 and stamp - window[1][0] >= self._config.twist_window:
            window.popleft()
        begin, first = window[0]
        if stamp - begin <= 0.0:
            return (0.0, 0.0, 0.0)
        moved = inverse(pose)[:3, :3] @ (pose[:3, 3] - first[:3, 3]) / (stamp - begin)
        turned = float(wrap_angle(yaw_of(pose) - yaw_of(first))) / (stamp - begin)
        return (float(moved[0]), float(moved[1]), turned)


def _planar(pose: np.ndarray) -> np.ndarray:
    """Return the pose's place and heading on the floor, (4, 4)."""
    yaw = yaw_of(pose)
    c, s = math.cos(yaw), math.sin(yaw)
    flat = np.eye(4)
    flat[:2, :2] = [[c, -s], [s, c]]
    flat[:2, 3] = pose[:2, 3]
    return flat
