"""Publisher of the planar scan that SLAM Toolbox reads."""

from __future__ import annotations

import array

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import LaserScan

from lodestar_go2.lidar import SCAN_ANGLE, SCAN_RANGE_MAX, SCAN_RANGE_MIN, SCAN_STEP
from lodestar_ros import qos
from lodestar_ros.conversions import header

SCAN = "scan_link"  # frame of the scan, equal to base_link


class ScanPublisher:
    """Publishes ``scan``, reliably: SLAM Toolbox does not receive a best-effort scan."""

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(LaserScan, "scan", qos.RELIABLE)
        self._newest = 0.0

    def publish(self, ranges: np.ndarray, stamp: float) -> None:
        """Publish ranges (M,) float32, metres, of `scan_of`, measured at the stamp in seconds."""
        scan = LaserScan(header=header(stamp, SCAN), range_min=SCAN_RANGE_MIN, range_max=SCAN_RANGE_MAX)
        scan.angle_min = SCAN_ANGLE
        scan.angle_increment = SCAN_STEP
        scan.angle_max = scan.angle_min + (len(ranges) - 1) * SCAN_STEP
        scan.scan_time = stamp - self._newest if 0.0 < stamp - self._newest < 1.0 else 0.0
        scan.ranges = array.array("f", ranges.tobytes())
        self._newest = stamp
        self._publisher.publish(scan)
