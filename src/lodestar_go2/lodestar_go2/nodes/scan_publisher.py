"""Publisher of the planar scan that SLAM Toolbox reads."""

from __future__ import annotations

import array

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import LaserScan

from lodestar_go2.lidar import ScanConfig, scan_angle
from lodestar_ros import qos
from lodestar_ros.conversions import header

SCAN = "scan_link"  # frame of the scan: that of base_link


class ScanPublisher:
    """Publish ``scan``, reliably: SLAM Toolbox never hears a best-effort scan."""

    def __init__(self, node: Node, config: ScanConfig) -> None:
        self._config = config
        self._publisher = node.create_publisher(LaserScan, "scan", qos.RELIABLE)
        self._newest = 0.0

    def publish(self, ranges: np.ndarray, stamp: float) -> None:
        """Publish ranges (M,) float32, metres, of `scan_of`, measured at the stamp in seconds."""
        config = self._config
        scan = LaserScan(header=header(stamp, SCAN), range_min=config.range_min, range_max=config.range_max)
        scan.angle_min = scan_angle(config)
        scan.angle_increment = config.scan_step
        scan.angle_max = scan.angle_min + (len(ranges) - 1) * config.scan_step
        scan.scan_time = stamp - self._newest if 0.0 < stamp - self._newest < 1.0 else 0.0
        scan.ranges = array.array("f", ranges.tobytes())
        self._newest = stamp
        self._publisher.publish(scan)
