"""ROS shell around the LiDAR: publishes upright, deskewed clouds without the robot's body, and a scan."""

from __future__ import annotations

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from lodestar_go2.conversions import ages_from_msg, static_transform
from lodestar_go2.lidar import LidarConfig, deskewed, in_base, scan_of, without_body
from lodestar_go2.nodes.scan_publisher import SCAN, ScanPublisher
from lodestar_go2.stamps import StampRepair
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_sensors import cloud_rows_from_msg, cloud_to_msg, is_sound
from lodestar_ros.executors import main_of
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config

LIDAR = "lidar_link"


class Go2LidarNode(LodestarNode):
    """Converts the clouds of the robot's LiDAR to clouds and scans for mapping and SLAM.

    Subscribes: ``utlidar/cloud``, or the topic in `lidar.topic`; ``odom``. Publishes: ``points`` (in lidar_link,
    upright), ``scan`` (reliable), ``/tf_static`` (base_link -> lidar_link, scan_link).
    """

    def __init__(self, **kwargs):
        super().__init__("go2_lidar", **kwargs)
        self._config = declare_config(self, LidarConfig, "lidar.")
        self._stamps = self.timed(StampRepair())
        self._frames = declare_config(self, FrameNames, "frames.")
        self._velocity = (0.0, 0.0, 0.0)
        self._static = self.create_publisher(TFMessage, "/tf_static", qos.LATCHED)
        places = ((LIDAR, self._config.base_from_lidar), (SCAN, np.eye(4)))
        self._static.publish(
            TFMessage(transforms=[static_transform(self._frames.base, name, pose) for name, pose in places])
        )
        self._points = self.create_publisher(PointCloud2, "points", qos.SENSOR)
        self._scan = ScanPublisher(self)
        self.listen(PointCloud2, self._config.topic, self._on_cloud, qos.SENSOR)
        self.listen(Odometry, "odom", self._on_odometry, qos.RELIABLE)
        self.diagnostics.value("clock.offset_s", lambda: round(self._stamps.offset, 3))
        self.diagnostics.value("stamps", lambda: dict(self._stamps.counts) or "sound")

    def _on_odometry(self, message: Odometry) -> None:
        twist = message.twist.twist
        self._velocity = (twist.linear.x, twist.linear.y, twist.angular.z)

    def _on_cloud(self, message: PointCloud2) -> None:
        stamp = self._stamps.repaired(stamp_from_msg(message.header.stamp), self.now)
        if stamp is None:
            return
        points, ages = cloud_rows_from_msg(message), ages_from_msg(message)
        sound = is_sound(points) & points.any(axis=1)  # a Mid-360 sends the origin for a beam without return
        base = in_base(points[sound], self._config)
        if ages is not None:  # to the end of the sweep, which is the time of the repaired stamp
            base = deskewed(base, ages[sound], self._velocity)
        seen = without_body(base, self._config)
        shifted = seen - self._config.base_from_lidar[:3, 3]
        self._points.publish(cloud_to_msg(shifted.astype(np.float32), stamp, LIDAR))
        self._scan.publish(scan_of(seen, self._config), stamp)


main = main_of(Go2LidarNode)
