"""Tests of a transform that contradicts the TF tree: a running node continues, and reports the two frames."""

from __future__ import annotations

import time

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import OccupancyGrid
from tf2_msgs.msg import TFMessage

from integration.fakes import FakeRobot
from lodestar_ros import qos
from lodestar_ros.conversions import header, transform_to_msg


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    processes.start("mapping")
    bed.until(lambda: bed.diagnosis("mapping"), "the node's diagnostics")
    await_grid(bed, robot)
    return robot


def await_grid(bed, robot):
    """Publish scans until a grid with a later stamp than now is received."""
    begun = time.time()
    robot.turn(
        lambda: bed.heard["grid"] and bed.last("grid").header.stamp.sec > begun,
        lambda: f"a newer grid; {bed.diagnosis('mapping')}",
    )


def once(bed, parent, child, static):
    """Publish an identity transform once, like a driver with two frame names swapped."""
    message = TransformStamped(
        header=header(time.time(), parent), child_frame_id=child, transform=transform_to_msg(np.eye(4))
    )
    topic, profile = ("/tf_static", qos.LATCHED) if static else ("/tf", qos.TF)

    publisher = bed.on_executor(lambda: bed.node.create_publisher(TFMessage, topic, profile))
    bed.until_heard(publisher)
    publisher.publish(TFMessage(transforms=[message]))


@pytest.mark.parametrize(
    ("parent", "child", "static"),
    [("base_link", "odom", False), ("base_link", "map", True), ("lidar_link", "base_link", True)],
)
def test_a_reversed_transform_ends_no_look_up(bed, robot, processes, parent, child, static):
    once(bed, parent, child, static)
    pair = f"{parent} -> {child} would close a loop"
    bed.until(lambda: pair in bed.diagnosis("mapping").get("tf.refused", ""), "the pair in the diagnostics")
    await_grid(bed, robot)
    bed.until(lambda: "would close a loop" in processes.log("mapping"), "it is in the log")
    processes.assert_alive()


def test_a_second_parent_is_named(bed, robot, processes):
    once(bed, "visual_odom", "base_link", False)
    pair = "visual_odom -> base_link and odom -> base_link: two parents"
    bed.until(lambda: pair in bed.diagnosis("mapping").get("tf.refused", ""), "the pair in the diagnostics")
    await_grid(bed, robot)
