"""Tests of faulty inputs from public bug reports: volatile static transforms, and inconsistent scans."""

from __future__ import annotations

import math
import time

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from sensor_msgs.msg import LaserScan
from tf2_msgs.msg import TFMessage

from integration.fakes import FakeRobot
from lodestar_ros import qos
from lodestar_ros.conversions import header


@pytest.fixture(scope="module")
def driver(bed, processes):
    """Return the node of a LiDAR driver that publishes scans for `mapping`, with a robot's transforms."""
    robot = bed.on_executor(lambda: FakeRobot(bed))
    node = bed.on_executor(lambda: Node("laser_driver", namespace="/front", context=bed.node.context))
    processes.start("mapping", parameters={"mapping": {"source": "scan"}})
    bed.until(lambda: bed.diagnosis("mapping"), "the node's diagnostics")
    assert robot.transforms
    yield node
    node.destroy_node()


def scan(frame: str, step: float, beams: int = 360) -> LaserScan:
    message = LaserScan(
        header=header(time.time(), frame), ranges=[2.0] * beams, range_min=0.1, range_max=20.0
    )
    message.angle_min, message.angle_max, message.angle_increment = -math.pi, math.pi, step
    return message


@pytest.fixture
def scanning(bed, driver):
    """Publish a scan ten times a second during the test."""
    publisher = driver.create_publisher(LaserScan, "/scan", qos.RELIABLE)
    timers = []

    def start(frame: str, step: float) -> None:
        timers.append(
            bed.on_executor(lambda: bed.node.create_timer(0.1, lambda: publisher.publish(scan(frame, step))))
        )

    yield start
    for timer in timers:
        bed.on_executor(lambda timer=timer: bed.node.destroy_timer(timer))


def test_who_publishes_static_transforms_without_keeping_them_is_named(bed, driver, processes, scanning):
    """The node without the transforms reports it in diagnostics and log until they are published as latched."""
    message = TransformStamped(header=header(0.0, "base_link"), child_frame_id="front_laser")
    message.transform.rotation.w = 1.0
    volatile = driver.create_publisher(TFMessage, "/tf_static", qos.TF)
    volatile.publish(TFMessage(transforms=[message]))
    scanning("front_laser", 2.0 * math.pi / 359)
    named = "/front/laser_driver cannot be heard on /tf_static: it publishes volatile"
    bed.until(lambda: named in bed.diagnosis("mapping").get("tf.unheard", ""), "its node in the diagnostics")
    assert named in bed.diagnosis("mapping")["message"]
    bed.until(lambda: named in processes.log("mapping"), "its node in the log")
    driver.destroy_publisher(volatile)
    kept = driver.create_publisher(TFMessage, "/tf_static", qos.TF_STATIC)
    kept.publish(TFMessage(transforms=[message]))
    bed.until(lambda: bed.diagnosis("mapping").get("tf.unheard") == "none", "its end")
    processes.assert_alive()


def test_a_scan_that_contradicts_itself_is_counted_and_told_with_its_header(bed, driver, processes, scanning):
    before = bed.count("mapping", "scan.dropped.malformed")
    scanning("lidar_link", -2.0 * math.pi / 359)
    bed.until(lambda: bed.count("mapping", "scan.dropped.malformed") > before, "the dropped scan")
    said = bed.diagnosis("mapping")["message"]
    assert "scan in 'lidar_link' at " in said and "-3.14159, 3.14159, -0.0175" in said
    bed.until(lambda: "the step turns clockwise" in processes.log("mapping"), "the reason in the log")
    processes.assert_alive()
