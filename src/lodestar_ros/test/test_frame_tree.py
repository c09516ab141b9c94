"""Tests of contradicting transforms."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.node import Node

from lodestar.geometry.poses import planar_transform, quaternion_from_rotation
from lodestar_ros.frame_tree import Admission, Cause, FrameTree, TransformUnavailable
from lodestar_ros.transforms import TransformBuffer


class Bench:
    """A transform buffer with a clock controlled by the test."""

    def __init__(self):
        self.now = 0.0
        self.tree = FrameTree(clock=lambda: self.now)
        self.buffer = TransformBuffer(tree=self.tree)

    def put(self, parent, child, x=0.0, static=False):
        matrix = planar_transform(x, 0.0, 0.0)
        pose = (matrix[:3, 3], quaternion_from_rotation(matrix[:3, :3]))
        return self.buffer.insert(parent, child, self.now, *pose, static=static)

    def robot(self, seconds=2.0):
        """Publish map -> odom -> base_link at 10 Hz, and the camera on base_link."""
        if self.tree.parent("camera") is None:
            self.put("base_link", "camera", 0.3, static=True)
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.put("odom", "base_link", 1.0)
            self.put("map", "odom", 5.0)

    def x(self):
        return float(self.buffer.lookup("map", "camera")[0, 3])


@pytest.fixture
def bench():
    return Bench()


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("pair", [("base_link", "odom"), ("camera", "map"), ("camera", "base_link")])
def test_a_reversed_transform_that_is_published_once_changes_nothing(bench, pair, static):
    bench.robot()
    assert bench.put(*pair, static=static) is Admission.REFUSED
    assert bench.x() == pytest.approx(6.3)
    assert f"{pair[0]} -> {pair[1]} would close a loop (1 times)" in bench.tree.problems()
    bench.robot(0.5)
    assert bench.x() == pytest.approx(6.3)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("pair", [("base_link", "odom"), ("camera", "map"), ("base_link", "map")])
def test_one_that_came_first_gives_way_to_what_is_published_all_the_time(bench, pair, static):
    bench.put(*pair, static=static)
    bench.robot(3.0)
    assert bench.x() == pytest.approx(6.3)


def test_of_two_parents_that_fight_the_first_stays_and_both_are_named(bench):
    bench.robot()
    for _ in range(30):
        bench.robot(0.1)
        assert bench.put("wheel_odom", "base_link", 9.0) is Admission.REFUSED
        assert bench.x() == pytest.approx(6.3)
    assert bench.tree.fights == {"wheel_odom -> base_link and odom -> base_link": 30}


def test_a_parent_that_fell_silent_gives_way_to_another(bench):
    bench.robot()
    for _ in range(15):
        bench.now += 0.1
        bench.put("map", "odom", 5.0)
        bench.put("visual_odom", "base_link", 2.0)
    bench.put("map", "visual_odom", 7.0)
    assert bench.x() == pytest.approx(9.3)


def test_a_driver_that_starts_again_may_hang_its_sensor_elsewhere(bench):
    bench.robot()
    assert bench.put("odom", "camera", 0.5, static=True) is Admission.REPLACED
    assert bench.x() == pytest.approx(5.5)
    assert "odom -> camera and base_link -> camera" in bench.tree.problems()


def test_a_look_up_that_fails_names_what_was_refused(bench):
    bench.robot()
    bench.put("camera", "map", static=True)
    with pytest.raises(TransformUnavailable, match="refused: camera -> map would close a loop") as error:
        bench.buffer.lookup("map", "gripper")
    assert error.value.cause is Cause.NO_FRAME


def test_names_without_end_do_not_fill_the_memory(bench):
    bench.robot()
    for i in range(500):
        bench.put(f"frame_{i}", "base_link")
        bench.put(f"camera_{i}", "camera")
    assert len(bench.tree.fights) <= 101 and len(bench.tree._rivals) <= 101


def test_what_is_refused_once_and_static_is_tried_again_when_the_way_is_free(bench, monkeypatch):
    listener, said = listening(bench, monkeypatch)
    listener._on_tf_static(tf("camera", "base_link", 0.0))
    listener._on_tf_static(tf("base_link", "camera", 0.0, x=0.3))
    assert said == ["base_link -> camera would close a loop (1 times)"]
    for i in range(20):
        bench.now += 0.1
        listener._on_tf(tf("odom", "base_link", i * 0.1, x=1.0))
        listener._on_tf(tf("map", "odom", i * 0.1, x=5.0))
    assert bench.x() == pytest.approx(6.3)


def test_the_future_and_the_past_have_causes_of_their_own(bench):
    bench.robot(2.0)
    assert bench.buffer.lookup("odom", "base_link", 2.2, extrapolate=0.3)[0, 3] == pytest.approx(1.0)
    for stamp, cause in ((2.5, Cause.FUTURE), (0.01, Cause.PAST)):
        with pytest.raises(TransformUnavailable) as error:
            bench.buffer.lookup("odom", "base_link", stamp)
        assert error.value.cause is cause


def test_a_frame_whose_clock_is_ahead_is_fresh_while_it_is_heard(bench):
    bench.robot()
    ours = bench.now - 60.0  # the robot base's clock is a minute ahead
    bench.buffer.lookup_fresh("map", "camera", ours, 0.5)
    bench.now += 1.0
    with pytest.raises(TransformUnavailable, match="odom -> base_link"):
        bench.buffer.lookup_fresh("map", "camera", ours + 1.0, 0.5)


def test_a_frame_that_no_longer_comes_is_not_fresh(bench):
    bench.robot(2.0)
    bench.buffer.lookup_fresh("map", "camera", 2.3, 0.5)
    with pytest.raises(TransformUnavailable, match=r"odom -> base_link was last received 1\.0 s ago"):
        bench.buffer.lookup_fresh("map", "camera", 3.0, 0.5)


def test_a_clock_that_goes_back_leaves_what_does_not_move(bench):
    bench.robot(5.0)
    bench.buffer.clear()
    with pytest.raises(TransformUnavailable):
        bench.buffer.lookup("map", "camera")
    assert bench.buffer.lookup("base_link", "camera")[0, 3] == pytest.approx(0.3)
    bench.robot(3.0)
    assert bench.x() == pytest.approx(6.3)


def test_stamps_that_fall_back_begin_a_new_world(bench):
    bench.robot(5.0)
    bench.now = 1.0
    bench.put("odom", "base_link", 2.0)
    assert bench.buffer.intake.restarts == 1
    assert bench.buffer.lookup("odom", "camera")[0, 3] == pytest.approx(2.3)


def test_broken_samples_are_counted(bench):
    assert bench.buffer.insert("a", "b", 0.0, (np.nan, 0, 0), (0, 0, 0, 1)) is Admission.REFUSED
    assert bench.buffer.insert("a", "b", 0.0, (0, 0, 0), (0, 0, 0, 0)) is Admission.REFUSED
    assert bench.buffer.intake.rejected == 2


def listening(bench, monkeypatch):
    from lodestar_ros.transforms import TransformListener

    clock = SimpleNamespace(create_jump_callback=lambda *args, **kwargs: None)
    node = SimpleNamespace(create_subscription=lambda *args: None, get_clock=lambda: clock)
    monkeypatch.setattr(Node, "create_subscription", lambda *args: None)
    said = []
    return TransformListener(node, on_refused=said.append, buffer=bench.buffer), said


def tf(parent, child, stamp, x=0.0):
    from geometry_msgs.msg import TransformStamped
    from tf2_msgs.msg import TFMessage

    from lodestar_ros.conversions import header, transform_to_msg

    transform = transform_to_msg(planar_transform(x, 0.0, 0.0))
    return TFMessage(
        transforms=[TransformStamped(header=header(stamp, parent), child_frame_id=child, transform=transform)]
    )
