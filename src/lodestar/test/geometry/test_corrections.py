"""Tests of the definition of a jump of map <- odom, which all map data uses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.geometry.corrections import Anchor, jump_between
from lodestar.geometry.poses import inverse, make_transform, planar_transform

HERE = planar_transform(40.0, -7.0, 1.0, z=0.4)  # odom <- sensor, far from odometry's origin


def about_the_sensor(shift: float, turn_deg: float) -> np.ndarray:
    """Return a map <- odom that moves the sensor by `shift` and turns it on the spot."""
    return (
        planar_transform(shift, 0.0, 0.0)
        @ HERE
        @ planar_transform(0.0, 0.0, math.radians(turn_deg))
        @ inverse(HERE)
    )


@pytest.mark.parametrize(
    ("shift", "turn_deg", "is_jump"),
    [
        (0.0, 0.0, False),
        (0.09, 0.0, False),
        (0.11, 0.0, True),
        (0.0, 1.9, False),
        (0.0, 2.1, True),
        (0.0, -2.1, True),
    ],
)
def test_a_jump_is_how_far_the_sensor_is_moved_or_turned(shift, turn_deg, is_jump):
    now = about_the_sensor(shift, turn_deg)
    jump = jump_between(np.eye(4), now, HERE)
    assert (jump is not None) == is_jump
    if jump is not None:
        np.testing.assert_allclose(jump, now, atol=1e-12)


def test_a_tilt_is_a_jump_too():
    turn = math.radians(3.0)
    c, s = math.cos(turn), math.sin(turn)
    tilt = make_transform(np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]), (0.0, 0.0, 0.0))
    assert jump_between(np.eye(4), tilt, np.eye(4)) is not None


def jump(anchor, map_from_odom):
    with anchor.correction(map_from_odom, HERE) as found:
        return None if found is None else found.jump


def test_what_moves_the_map_leads_from_the_last_correction_to_this_one():
    anchor = Anchor()
    first, second = about_the_sensor(1.0, 10.0), about_the_sensor(3.0, -20.0)
    assert jump(anchor, first) is None, "there was nothing before"
    found = jump(anchor, second)
    np.testing.assert_allclose(found @ first, second, atol=1e-9)
    np.testing.assert_allclose(anchor.map_from_part, found)
    assert jump(anchor, second) is None
    anchor.resume(None)
    assert jump(anchor, first) is None
    np.testing.assert_allclose(anchor.map_from_part, found, err_msg="where the part lies is not forgotten")


def test_a_drift_that_is_taken_out_in_small_steps_is_no_jump():
    anchor = Anchor()
    assert all(jump(anchor, about_the_sensor(0.05 * step, 0.5 * step)) is None for step in range(40))


def test_poses_that_are_not_finite_are_refused_and_forgotten():
    anchor = Anchor()
    jump(anchor, np.eye(4))
    with pytest.raises(ValueError, match="not finite"):
        jump(anchor, np.full((4, 4), np.nan))
    assert jump(anchor, about_the_sensor(0.05, 0.0)) is None


def test_a_jump_that_could_not_be_applied_comes_again():
    anchor = Anchor()
    jump(anchor, np.eye(4))
    closed = about_the_sensor(2.0, 5.0)
    with pytest.raises(OSError, match="full"), anchor.correction(closed, HERE) as found:
        raise OSError("full")
    np.testing.assert_array_equal(anchor.map_from_part, np.eye(4))
    np.testing.assert_allclose(jump(anchor, closed), found.jump)
    np.testing.assert_allclose(anchor.map_from_part, found.jump)
