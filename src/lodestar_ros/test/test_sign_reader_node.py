"""Tests of the sign reader node: readings with their place in odom, and survival of reader failures."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from waiting import wait_for

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import TransformStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from lodestar.assembly import parts
from lodestar.perception.frames import DetectorUnavailable
from lodestar_interfaces.msg import SignReading
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.conversions_scene import reading_from_msg
from lodestar_ros.conversions_sensors import image_to_msg
from lodestar_ros.nodes.sign_reader_node import SignReaderNode

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lodestar" / "test" / "perception"))
from sign_scenes import CAMERA, WALL, ScriptedReader, view

pytestmark = [pytest.mark.ros]


def _fixed(parent: str, child: str) -> TransformStamped:
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    transform.transform.rotation.w = 1.0
    return transform


class Driver:
    """Fake camera in front of a wall with a plate, in the direction +z of odom (optical frame)."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._info = node.create_publisher(CameraInfo, "camera_info", qos.RELIABLE)
        self._color = node.create_publisher(Image, "image", qos.RELIABLE)
        self._depth = node.create_publisher(Image, "depth", qos.RELIABLE)
        static = node.create_publisher(TFMessage, "/tf_static", qos.TF_STATIC)
        static.publish(TFMessage(transforms=[_fixed("map", "odom"), _fixed("odom", "camera")]))

    def show(self) -> None:
        frame = view()
        info = CameraInfo(width=CAMERA.width, height=CAMERA.height, distortion_model="plumb_bob", d=[0.0] * 5)
        info.k = [CAMERA.fx, 0.0, CAMERA.cx, 0.0, CAMERA.fy, CAMERA.cy, 0.0, 0.0, 1.0]
        depth = image_to_msg((frame.depth * 1000).astype(np.uint16), "16UC1")
        stamp = stamp_to_msg(self.node.get_clock().now().nanoseconds * 1e-9)
        for publisher, message in (
            (self._info, info),
            (self._color, image_to_msg(frame.rgb, "rgb8")),
            (self._depth, depth),
        ):
            message.header.stamp, message.header.frame_id = stamp, "camera"
            publisher.publish(message)


def run(done: Callable[[list[SignReading]], bool]) -> list[SignReading]:
    """Show the plate to a node until `done(readings)` is true; return the readings."""
    context = Context()
    context.init()
    node = SignReaderNode(context=context)
    driver = Driver(Node("driver", context=context))
    told: list[SignReading] = []
    driver.node.create_subscription(SignReading, "sign_reader/signs", told.append, qos.EVENT)
    executor = SingleThreadedExecutor(context=context)
    for one in (node, driver.node):
        executor.add_node(one)
    driver.node.create_timer(0.2, driver.show)
    try:
        wait_for(lambda: executor.spin_once(timeout_sec=0.05) or done(told), "readings", every=0.0)
        return told
    finally:
        executor.shutdown()
        node.close()
        context.try_shutdown()


def test_a_plate_is_told_with_its_place_in_odom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "sign_reader", lambda config: ScriptedReader())
    reading = reading_from_msg(run(lambda told: bool(told))[0])
    (sight,) = reading.sights
    assert sight.text == "204"
    assert np.allclose(sight.place, [0.0, 0.0, WALL], atol=0.05)
    assert np.allclose(sight.normal, [0.0, 0.0, -1.0], atol=0.01)


def test_a_reader_that_fails_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(ScriptedReader):
        calls = 0

        def read(self, rgb: np.ndarray):
            Failing.calls += 1
            if Failing.calls == 1:
                raise DetectorUnavailable("its models cannot be loaded")
            return super().read(rgb)

    monkeypatch.setattr(parts, "sign_reader", lambda config: Failing())
    told = run(lambda told: bool(told))
    assert Failing.calls > 1 and told[0].sights[0].text == "204"


def test_without_a_reader_the_node_does_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    end = time.monotonic() + 2.0
    assert run(lambda told: time.monotonic() > end) == []
