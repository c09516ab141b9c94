"""Odometry as in REP 105, from the pose that the Go2 publishes."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.poses import inverse, make_transform, rotation_from_quaternion, wrap_angle, yaw_of
from lodestar_go2.states import SportState

ODOMETRY_STANDING_HEIGHT = 0.32  # m of the body above the floor, where the robot does not report it; chosen
ODOMETRY_MAX_HEIGHT = 0.6  # m; a larger reported height is invalid; chosen
ODOMETRY_MAX_SPEED = 5.0  # m/s; a faster change of place is a restart of the robot's own odometry; chosen
ODOMETRY_TWIST_WINDOW = 0.1  # s over which the velocity is measured; chosen
ODOMETRY_LONGEST_GAP = 1.0  # s between two poses beyond which no velocity is measured; chosen


@dataclass(frozen=True)
class BasePose:
    """Pose and velocity of the body. odom_from_base: (4, 4); velocity: x, y m/s and yaw rate rad/s in base_link."""

    stamp: float
    odom_from_base: np.ndarray
    velocity: tuple[float, float, float]


class BaseOdometry:
    """Computes poses in `odom`, with z = 0 on the floor; they continue when the robot's own odometry restarts.

    The robot's z and velocity are not used: z drifts and starts anywhere, and the velocity's frame
    differs between firmwares.
    """

    def __init__(self) -> None:
        self._odom_from_origin = np.eye(4)
        self._last: tuple[float, np.ndarray] | None = None
        self._window: deque[tuple[float, np.ndarray]] = deque()
        self._twist = (0.0, 0.0, 0.0)  # newest measured velocity
        self.restarts = 0

    def restart_clock(self) -> None:
        """Forget the stamps; poses continue, and the last velocity is kept until a new one is measured."""
        self._window.clear()

    def update(self, state: SportState, stamp: float) -> BasePose:
        """Return the pose and velocity at a state. stamp: of the state in this computer's clock, ascending.

        Raises ValueError for an invalid pose.
        """
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
        known = math.isfinite(height) and 0.0 < height <= ODOMETRY_MAX_HEIGHT
        return height if known else ODOMETRY_STANDING_HEIGHT

    def _jumped(self, stamp: float, given: np.ndarray) -> bool:
        assert self._last is not None
        pose = self._odom_from_origin @ given
        moved = float(np.linalg.norm(pose[:2, 3] - self._last[1][:2, 3]))
        return moved > ODOMETRY_MAX_SPEED * max(stamp - self._last[0], 0.02) + 0.05

    def _velocity(self, stamp: float, pose: np.ndarray) -> tuple[float, float, float]:
        window = self._window
        if (
            window and not 0.0 < stamp - window[-1][0] <= ODOMETRY_LONGEST_GAP
        ):  # our clock was set, or a pause
            window.clear()
        window.append((stamp, pose))
        while len(window) > 2 and stamp - window[1][0] >= ODOMETRY_TWIST_WINDOW:
            window.popleft()
        begin, first = window[0]
        if stamp - begin <= 0.0:
            return self._twist
        moved = inverse(pose)[:3, :3] @ (pose[:3, 3] - first[:3, 3]) / (stamp - begin)
        turned = float(wrap_angle(yaw_of(pose) - yaw_of(first))) / (stamp - begin)
        self._twist = (float(moved[0]), float(moved[1]), turned)
        return self._twist


def _planar(pose: np.ndarray) -> np.ndarray:
    """Return the pose's position and heading on the floor, (4, 4)."""
    yaw = yaw_of(pose)
    c, s = math.cos(yaw), math.sin(yaw)
    flat = np.eye(4)
    flat[:2, :2] = [[c, -s], [s, c]]
    flat[:2, 3] = pose[:2, 3]
    return flat
