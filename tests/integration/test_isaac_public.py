"""Tests with names and frames of the public project Zhefan-Xu/isaac-go2-ros2: its topics give a scan and a grid."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import OccupancyGrid
from sensor_msgs.msg import LaserScan, PointCloud2
from tf2_msgs.msg import TFMessage

from lodestar.geometry.poses import planar_transform
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, header, transform_to_msg
from lodestar_ros.conversions_sensors import cloud_to_msg

NODES = ("cloud_scan", "mapping", "motion_gate")
BASE, LIDAR = "unitree_go2/base_link", "unitree_go2/lidar_frame"
X, Y, HEIGHT = 1.0, 2.0, 0.32  # m, position of the robot in map, facing +y
TURN = np.pi / 2.0


class PublicSimulator:
    """Fake of the public project's simulator: TF from map, and a cloud of a wall 2 m ahead and the floor."""

    def __init__(self, bed) -> None:
        self._bed = bed
        self._tf = bed.node.create_publisher(TFMessage, "/tf", qos.TF)
        static = bed.node.create_publisher(TFMessage, "/tf_static", qos.LATCHED)
        static.publish(
            TFMessage(transforms=[_stamped(BASE, LIDAR, planar_transform(0.2, 0.0, 0.0, 0.2), 0.0)])
        )
        self._points = bed.node.create_publisher(PointCloud2, "/unitree_go2/lidar/point_cloud", 10)
        side, up = np.meshgrid(np.linspace(-1.5, 1.5, 120), np.linspace(-0.5, 0.6, 45))
        wall = np.column_stack([np.full(side.size, 1.8), side.ravel(), up.ravel()])
        ahead, side = np.meshgrid(np.linspace(0.5, 1.75, 50), np.linspace(-1.0, 1.0, 80))
        floor = np.column_stack([ahead.ravel(), side.ravel(), np.full(ahead.size, -HEIGHT - 0.2)])
        self._cloud = np.concatenate([wall, floor]).astype(np.float32)

    def publish(self) -> None:
        now = self._bed.node.get_clock().now().nanoseconds * 1e-9
        place = planar_transform(X, Y, TURN, HEIGHT)
        self._tf.publish(TFMessage(transforms=[_stamped("map", BASE, place, now)]))
        self._points.publish(cloud_to_msg(self._cloud, now, LIDAR))


def _stamped(parent: str, child: str, transform: np.ndarray, stamp: float) -> TransformStamped:
    return TransformStamped(
        header=header(stamp, parent), child_frame_id=child, transform=transform_to_msg(transform)
    )


@pytest.fixture(scope="module")
def simulator(bed, processes):
    bed.hear(LaserScan, "scan", qos.RELIABLE)
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    bed.hear(Twist, "unitree_go2/cmd_vel", qos.COMMAND)
    processes.start(*NODES, use="isaac", bridge="isaac_go2_ros2", navigator="external")
    assert len(processes.starter.pids()) == len(NODES)
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "every node's diagnostics")
    return bed.on_executor(lambda: PublicSimulator(bed))


def test_the_cloud_becomes_a_scan_from_the_robots_body(bed, simulator) -> None:
    def scanned() -> bool:
        simulator.publish()
        return bool(bed.heard["scan"]) and np.isfinite(bed.last("scan").ranges).any()

    bed.until(scanned, "a scan")
    scan = bed.last("scan")
    assert scan.header.frame_id == "scan_link"
    ranges = np.array(scan.ranges)
    ahead = ranges[np.abs(scan.angle_min + scan.angle_increment * np.arange(len(ranges))) < 0.05]
    assert ahead.min() == pytest.approx(2.0, abs=0.02), "0.2 m to the LiDAR and 1.8 m to the wall"


def test_the_grid_has_the_wall_where_it_is_in_map(bed, simulator) -> None:
    """`cloud_scan` adds the frames odom and base_link, which mapping needs and no other node publishes."""

    def mapped() -> bool:
        simulator.publish()
        if not bed.heard["grid"]:
            return False
        grid = grid_from_msg(bed.last("grid"))
        return bool((grid.cells == 100).any())

    bed.until(mapped, "an occupied cell")
    message = bed.last("grid")
    cells = np.array(message.data).reshape(message.info.height, message.info.width)
    rows, columns = np.nonzero(cells == 100)
    origin, step = message.info.origin.position, message.info.resolution
    assert message.header.frame_id == "map"
    np.testing.assert_allclose(origin.y + (rows + 0.5) * step, Y + 2.0, atol=2 * step)
    assert np.abs(origin.x + (columns + 0.5) * step - X).max() < 1.5 + 2 * step


def test_the_gate_commands_under_the_name_of_the_project(bed, simulator) -> None:
    bed.until(lambda: bed.heard["unitree_go2/cmd_vel"], "the gate's velocity")
    assert bed.last("unitree_go2/cmd_vel") == Twist(), "nothing is allowed to move"
    assert bed.node.count_publishers("cmd_vel_out") == 0
