"""Tests of the transform buffer: interpolation, missing transforms with error causes, restarts."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.geometry.poses import planar_transform, quaternion_from_rotation, yaw_of
from lodestar_ros import qos
from lodestar_ros.frame_tree import Admission, Cause, TransformUnavailable
from lodestar_ros.transforms import TransformBuffer


def put(buffer, parent, child, stamp, pose, static=False):
    matrix = planar_transform(*pose)
    return buffer.insert(
        parent, child, stamp, matrix[:3, 3], quaternion_from_rotation(matrix[:3, :3]), static=static
    )


@pytest.fixture
def buffer():
    """Return a buffer with map -> odom -> base_link -> camera, moving for a second at 10 Hz: x = t, yaw = t."""
    buffer = TransformBuffer(history=30.0)
    put(buffer, "base_link", "camera", 0.0, (0.3, 0.0, 0.0), static=True)
    for tick in range(11):
        put(buffer, "odom", "base_link", 10.0 + tick * 0.1, (tick * 0.1, 0.0, tick * 0.1))
        put(buffer, "map", "odom", 10.0 + tick * 0.1, (5.0, 0.0, 0.0))
    return buffer


def test_interpolates_at_the_stamp(buffer):
    pose = buffer.lookup("odom", "base_link", 10.55)
    assert pose[0, 3] == pytest.approx(0.55)
    assert yaw_of(pose) == pytest.approx(0.55)


def test_composes_over_static_and_moving_frames_both_ways(buffer):
    expected = planar_transform(5, 0, 0) @ planar_transform(0.5, 0, 0.5) @ planar_transform(0.3, 0, 0)
    assert np.allclose(buffer.lookup("map", "camera", 10.5), expected)
    assert np.allclose(buffer.lookup("camera", "map", 10.5), np.linalg.inv(expected))
    assert np.allclose(buffer.lookup("camera", "camera", 10.5), np.eye(4))


def test_rotates_the_short_way_across_pi():
    buffer = TransformBuffer()
    put(buffer, "odom", "base_link", 0.0, (0, 0, math.pi - 0.1))
    put(buffer, "odom", "base_link", 1.0, (0, 0, -math.pi + 0.1))
    assert abs(yaw_of(buffer.lookup("odom", "base_link", 0.5))) == pytest.approx(math.pi, abs=1e-6)


def test_newest_is_given_without_a_stamp(buffer):
    assert buffer.lookup("odom", "base_link")[0, 3] == pytest.approx(1.0)


def test_the_future_is_not_guessed_but_says_how_far_it_is(buffer):
    with pytest.raises(
        TransformUnavailable, match=r"odom -> base_link is known up to 11\.000 s, 0\.250 s before"
    ) as e:
        buffer.lookup("map", "camera", 11.25)
    assert e.value.cause is Cause.FUTURE


def test_the_last_sample_holds_where_that_is_allowed(buffer):
    assert buffer.lookup("odom", "base_link", 11.25, extrapolate=0.3)[0, 3] == pytest.approx(1.0)
    with pytest.raises(TransformUnavailable):
        buffer.lookup("odom", "base_link", 11.35, extrapolate=0.3)


def test_the_past_is_refused(buffer):
    with pytest.raises(TransformUnavailable, match=r"is stored from 10\.000 s") as error:
        buffer.lookup("odom", "base_link", 9.0)
    assert error.value.cause is Cause.PAST


def test_names_the_frame_that_nobody_publishes(buffer):
    with pytest.raises(TransformUnavailable, match="nothing publishes frame 'lidar'") as error:
        buffer.lookup("map", "lidar", 10.5)
    assert error.value.cause is Cause.NO_FRAME


def test_names_the_gap_between_two_trees(buffer):
    put(buffer, "gripper", "tool", 10.0, (0, 0, 0))
    with pytest.raises(TransformUnavailable, match="two trees, rooted at 'map' and 'gripper'") as error:
        buffer.lookup("map", "tool", 10.0)
    assert error.value.cause is Cause.NOT_CONNECTED


def test_a_missing_frame_names_the_publisher_that_cannot_be_heard(buffer):
    tree = buffer.intake.tree
    tree.unheard = "/driver cannot be heard on /tf_static"
    for target, source in (("map", "lidar"), ("lidar", "map")):
        with pytest.raises(TransformUnavailable, match="; /driver cannot be heard on /tf_static"):
            buffer.lookup(target, source, 10.5)
    assert tree.lacking == 2
    buffer.lookup("map", "base_link", 10.5)
    assert tree.lacking == 2


@pytest.mark.parametrize(
    ("offered", "asked", "why"),
    [
        (qos.TF, qos.TF_STATIC, "volatile"),
        (qos.SENSOR, qos.TF_STATIC, "best effort"),
        (qos.SENSOR, qos.TF, "best effort"),
        (qos.TF_STATIC, qos.TF, ""),
        (qos.TF_STATIC, qos.TF_STATIC, ""),
        (qos.TF, qos.SENSOR, ""),
    ],
)
def test_why_a_publisher_is_not_heard(offered, asked, why):
    said = qos.unheard_because(offered, asked)
    assert said.startswith(why) and bool(said) == bool(why)


def test_says_that_nothing_was_received():
    with pytest.raises(TransformUnavailable, match="no transform received yet"):
        TransformBuffer().lookup("map", "base_link", 1.0)


def test_memory_is_bounded():
    buffer = TransformBuffer(history=1.0)
    for tick in range(5000):
        put(buffer, "odom", "base_link", tick * 0.02, (tick, 0, 0))
    assert len(buffer.store._samples["base_link"].stamps) < 130
    with pytest.raises(TransformUnavailable):
        buffer.lookup("odom", "base_link", 50.0)


def test_samples_out_of_order_find_their_place(buffer):
    put(buffer, "odom", "base_link", 10.45, (7.0, 0.0, 0.45))
    assert buffer.lookup("odom", "base_link", 10.45)[0, 3] == pytest.approx(7.0)
    assert buffer.lookup("odom", "base_link", 10.5)[0, 3] == pytest.approx(0.5)


def test_a_restart_forgets_what_moved_and_keeps_what_does_not(buffer):
    put(buffer, "odom", "base_link", 0.5, (0.0, 0.0, 0.0))
    assert buffer.intake.restarts == 1
    with pytest.raises(TransformUnavailable):
        buffer.lookup("odom", "base_link", 10.5)
    assert buffer.lookup("base_link", "camera", 0.5)[0, 3] == pytest.approx(0.3)
    assert buffer.lookup("odom", "base_link", 0.5)[0, 3] == 0.0


def test_broken_samples_are_counted_and_left_out(buffer):
    for child, translation, quaternion in (
        ("base_link", (0, 0, 0), (0, 0, 0, 0)),
        ("base_link", (math.nan, 0, 0), (0, 0, 0, 1)),
        ("odom", (0, 0, 0), (0, 0, 0, 1)),
        ("", (0, 0, 0), (0, 0, 0, 1)),
    ):
        assert buffer.insert("odom", child, 11.1, translation, quaternion) is Admission.REFUSED
    assert buffer.intake.rejected == 4
    assert buffer.lookup("odom", "base_link")[0, 3] == pytest.approx(1.0)


def test_a_frame_that_no_longer_comes_is_told_from_one_that_stands(buffer):
    assert buffer.lookup_fresh("map", "camera", 11.4, 0.5)[0, 3] == pytest.approx(6.0 + 0.3 * math.cos(1.0))
    with pytest.raises(TransformUnavailable, match=r"odom -> base_link was last received 1\.0 s ago"):
        buffer.lookup_fresh("map", "base_link", 12.0, 0.5)


def test_localisation_may_correct_in_its_own_time(buffer):
    """A map -> odom ten seconds old is accepted if odometry is fresh, but not by itself."""
    put(buffer, "odom", "base_link", 21.0, (2.0, 0.0, 0.0))
    assert buffer.lookup_fresh("map", "base_link", 21.0, 0.5)[0, 3] == pytest.approx(7.0)
    with pytest.raises(TransformUnavailable, match="map -> odom"):
        buffer.lookup_fresh("map", "odom", 21.0, 0.5)
