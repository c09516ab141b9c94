"""Tests of go2_lidar with clouds from the driver of a Mid-360 mounted upside down."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sensor_msgs.msg import LaserScan, PointCloud2, PointField

from integration.bed import Bed, Processes
from lodestar_ros import qos
from lodestar_ros.conversions import header
from lodestar_ros.conversions_sensors import cloud_from_msg

MOUNT = {"lidar.topic": "livox/lidar", "lidar.x": 0.2, "lidar.y": 0.0, "lidar.z": 0.15}
UPSIDE_DOWN = {**MOUNT, "lidar.roll": math.pi, "lidar.pitch": 0.0, "lidar.yaw": 0.0}
AHEAD, LEFT = (2.0, 0.0, 0.1), (0.2, 3.0, 0.0)  # metres in base_link
ROW = np.dtype(
    [(name, "<f4") for name in ("x", "y", "z", "intensity")]
    + [("tag", "u1"), ("line", "u1"), ("timestamp", "<f8")]
)


def livox(stamp: float) -> PointCloud2:
    """Return a cloud of two points in the sensor's frame and one beam without a return."""
    rows = np.zeros(3, ROW)
    for row, (x, y, z) in zip(rows, (AHEAD, LEFT)):
        row["x"], row["y"], row["z"] = x - 0.2, -y, -(z - 0.15)
    rows["timestamp"] = stamp * 1e9 + np.linspace(0.0, 1e8, 3)
    message = PointCloud2(header=header(stamp, "livox_frame"), height=1, width=3, is_dense=True)
    kinds = {"f": PointField.FLOAT32, "B": PointField.UINT8, "d": PointField.FLOAT64}
    message.fields = [
        PointField(name=name, offset=ROW.fields[name][1], datatype=kinds[ROW.fields[name][0].char], count=1)
        for name in ROW.names
    ]
    message.point_step, message.row_step, message.data = ROW.itemsize, 3 * ROW.itemsize, rows.tobytes()
    return message


def test_points_and_scan_come_of_a_mid_360_that_hangs_upside_down(bed: Bed, processes: Processes) -> None:
    bed.hear(PointCloud2, "points", qos.SENSOR)
    bed.hear(LaserScan, "scan", qos.RELIABLE)
    processes.start(
        "go2_lidar", use="go2", parameters={"go2_lidar": UPSIDE_DOWN}, slam="none", navigator="external"
    )
    driver = bed.on_executor(lambda: bed.node.create_publisher(PointCloud2, "livox/lidar", 10))

    def sweep() -> None:
        driver.publish(livox(bed.node.get_clock().now().nanoseconds * 1e-9 - 0.1))

    bed.on_executor(lambda: bed.node.create_timer(0.1, sweep))
    points = bed.next("points")
    assert points.header.frame_id == "lidar_link"
    expected = np.array([AHEAD, LEFT]) - (0.2, 0.0, 0.15)
    assert cloud_from_msg(points) == pytest.approx(expected, abs=1e-5), (
        "upright, and without the beam of nothing"
    )
    scan = bed.next("scan")
    hits = {
        round(scan.angle_min + i * scan.angle_increment, 1): r for i, r in enumerate(scan.ranges) if r < 20.0
    }
    assert hits == {0.0: pytest.approx(2.0), 1.5: pytest.approx(math.hypot(*LEFT[:2]))}
