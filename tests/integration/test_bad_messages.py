"""Tests of invalid messages to all nodes with external inputs: they are counted, and no node dies."""

from __future__ import annotations

import array
import math
import time

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import OccupancyGrid, Odometry
from sensor_msgs.msg import BatteryState, CameraInfo, PointCloud2, PointField
from tf2_msgs.msg import TFMessage

from integration.fakes import CAMERA, OPTICAL, FakeRobot
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg, header
from lodestar_ros.conversions_sensors import camera_to_msg, cloud_to_msg

NODES = ("mapping", "frontier_expert", "goal_selector", "motion_gate", "scene_dictionary", "sim_navigator")
CLOUD, INFO = "points", "camera/color/camera_info"


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    processes.start(*NODES, parameters={"frontier_expert": {"battery.full_range": 1000.0}})
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "every node's diagnostics")
    return robot


def grid(**changes):
    message = grid_to_msg(OccupancyGrid2D(np.zeros((40, 40), np.int8), 0.1, (-2.0, -2.0), time.time()))
    for name, value in changes.items():
        setattr(message.info, name, value)
    return message


def placed(x, w=1.0):
    message = grid()
    message.info.origin.position.x, message.info.origin.orientation.w = x, w
    return message


def cells(values):
    message = grid()
    message.data = array.array("b", values)
    return message


def camera(**changes):
    message = camera_to_msg(CAMERA, time.time(), OPTICAL)
    for name, value in changes.items():
        setattr(message, name, value)
    return message


def cloud(**changes):
    message = cloud_to_msg(np.full((10, 3), 9e5, np.float32), time.time(), "lidar_link")
    for name, value in changes.items():
        setattr(message, name, value)
    return message


def transform(parent, child, x):
    stamped = TransformStamped(header=header(time.time(), parent), child_frame_id=child)
    stamped.transform.translation.x = x
    return TFMessage(transforms=[stamped])


def odometry(x):
    message = Odometry(header=header(time.time(), "odom"))
    message.twist.twist.linear.x = x
    return message


def twist(x):
    message = Twist()
    message.linear.x = x
    return message


FIELD = PointField(name="x", offset=4_000_000_000, datatype=PointField.FLOAT32, count=1)
BAD = [
    (
        "grid",
        OccupancyGrid,
        qos.LATCHED,
        [
            lambda: grid(resolution=1e-30),
            lambda: grid(resolution=math.nan),
            lambda: grid(resolution=math.inf),
            lambda: grid(resolution=-0.1),
            lambda: grid(height=4_000_000_000),
            lambda: placed(math.nan),
            lambda: placed(1e300),
            lambda: placed(0.0, math.nan),
            lambda: cells([]),
            lambda: grid(height=0, width=0),
        ],
    ),
    (
        INFO,
        CameraInfo,
        qos.SENSOR,
        [
            lambda: camera(k=[math.nan] * 9),
            lambda: camera(k=[1e-300] * 9),
            lambda: camera(width=0),
            lambda: camera(width=2**32 - 1),
            lambda: camera(k=[0.0] * 9),
        ],
    ),
    (
        CLOUD,
        PointCloud2,
        qos.SENSOR,
        [
            lambda: cloud(),
            lambda: cloud(width=2**32 - 1, height=2**32 - 1),
            lambda: cloud(point_step=0),
            lambda: cloud(data=b""),
            lambda: cloud(fields=[]),
            lambda: cloud(fields=[FIELD, *(PointField(name=n, offset=0, datatype=7, count=1) for n in "yz")]),
        ],
    ),
    (
        "/tf",
        TFMessage,
        qos.TF,
        [
            lambda: transform("odom", "base_link", math.nan),
            lambda: transform("odom", "base_link", 1e300),
            lambda: transform("", "", 0.0),
            lambda: transform("a" * 4000, "odom", 0.0),
            lambda: TFMessage(),
        ],
    ),
    ("odom", Odometry, qos.RELIABLE, [lambda: odometry(math.nan), lambda: odometry(math.inf)]),
    (
        "battery",
        BatteryState,
        qos.SENSOR,
        [lambda: BatteryState(percentage=math.nan), lambda: BatteryState(percentage=-1e30)],
    ),
    ("cmd_vel", Twist, qos.COMMAND, [lambda: twist(math.nan), lambda: twist(1e300)]),
]


def test_what_no_sensor_sends_is_dropped_and_ends_no_node(bed, robot, processes):
    for topic, kind, profile, messages in BAD:
        publisher = bed.on_executor(
            lambda topic=topic, kind=kind, profile=profile: bed.node.create_publisher(kind, topic, profile)
        )
        bed.until_heard(publisher)
        for make in 2 * messages:
            publisher.publish(make())
            time.sleep(0.06)  # streams are best effort; a node accepts one camera info per 0.25 s
    counted = {
        "frontier_expert": "grid",
        "goal_selector": "grid",
        "scene_dictionary": "grid",
        "sim_navigator": "grid",
    }
    for name, topic in counted.items():
        key = f"{topic}.dropped.malformed"
        bed.until(lambda name=name, key=key: bed.count(name, key) >= 1, f"{key} of {name}")
    processes.assert_alive()
    robot.publish_grid()
    for name in NODES:
        bed.next("/diagnostics", lambda message, name=name: message.status[0].name == name)
    processes.assert_alive()
