"""Tests of odometry: the floor is z = 0, poses never jump, velocities are in the body frame."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from lodestar.geometry.poses import yaw_of
from lodestar_go2.odometry import BaseOdometry
from lodestar_go2.states import SportState

Make = Callable[..., SportState]


def test_the_body_stands_above_the_floor_whatever_its_own_z_says(state: Make) -> None:
    odometry = BaseOdometry()
    assert odometry.update(state(0.0), 0.0).odom_from_base[2, 3] == pytest.approx(0.31)
    sitting = odometry.update(state(0.02, body_height=0.09), 0.02)
    assert sitting.odom_from_base[2, 3] == pytest.approx(0.09)
    for wrong in (0.0, -1.0, 7.0, math.nan):
        stamp = odometry_time = 0.04
        assert odometry.update(state(stamp, body_height=wrong), odometry_time).odom_from_base[2, 3] == 0.32


def test_the_quaternion_begins_with_w(state: Make) -> None:
    pose = BaseOdometry().update(state(0.0, 1.0, 2.0, yaw=1.2), 0.0)
    assert yaw_of(pose.odom_from_base) == pytest.approx(1.2)
    assert pose.odom_from_base[:2, 3] == pytest.approx([1.0, 2.0])


def test_the_velocity_is_measured_in_the_body(state: Make) -> None:
    odometry, yaw = BaseOdometry(), math.pi / 2.0
    for i in range(20):
        t = 0.02 * i
        pose = odometry.update(state(t, 0.0, 0.5 * t, yaw), t)
    assert pose.velocity == pytest.approx((0.5, 0.0, 0.0), abs=1e-6)
    for i in range(20):
        t = 0.4 + 0.02 * i
        pose = odometry.update(state(t, 0.0, 0.19, yaw + 0.8 * (t - 0.38)), t)
    assert pose.velocity == pytest.approx((0.0, 0.0, 0.8), abs=1e-2)


def test_it_goes_on_where_the_robots_own_odometry_starts_anew(state: Make) -> None:
    odometry = BaseOdometry()
    odometry.update(state(0.0, 3.0, 1.0, 0.5), 0.0)
    again = odometry.update(state(0.02, 0.0, 0.0, 0.0), 0.02)
    assert again.odom_from_base[:2, 3] == pytest.approx([3.0, 1.0])
    assert yaw_of(again.odom_from_base) == pytest.approx(0.5)
    assert odometry.restarts == 1
    ahead = odometry.update(state(0.04, 0.01, 0.0, 0.0), 0.04).odom_from_base
    assert ahead[:2, 3] == pytest.approx([3.0 + 0.01 * math.cos(0.5), 1.0 + 0.01 * math.sin(0.5)])


@pytest.mark.parametrize("bad", [{"quaternion": np.zeros(4)}, {"position": np.array([math.nan, 0.0, 0.0])}])
def test_garbage_is_refused_and_changes_nothing(state: Make, bad: dict[str, np.ndarray]) -> None:
    odometry = BaseOdometry()
    odometry.update(state(0.0, 1.0), 0.0)
    with pytest.raises(ValueError, match=r"not finite|quaternion"):
        odometry.update(state(0.02, **bad), 0.02)
    assert odometry.update(state(0.04, 1.01), 0.04).odom_from_base[0, 3] == pytest.approx(1.01)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("step", [-3600.0, -30.0, -0.5, 3.0, 60.0])
def test_a_robot_that_walks_is_never_said_to_stand_while_our_clock_is_set(
    state: Make, step: float, told: bool
) -> None:
    """Not once is its speed below that of the walk, and its place goes on."""
    odometry = BaseOdometry()
    for i in range(60):
        t = 0.02 * i
        if told and i == 33:
            odometry.restart_clock()
        pose = odometry.update(state(t, 0.5 * t), 100.0 + t + (step if i >= 30 else 0.0))
        if i > 5:
            assert pose.velocity[0] == pytest.approx(0.5, abs=1e-6)
    assert pose.odom_from_base[0, 3] == pytest.approx(0.5 * t) and odometry.restarts == 0
