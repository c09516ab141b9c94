"""ROS shell that converts a simulator's clouds to a scan, and publishes the frames that the simulator lacks."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from lodestar.geometry.poses import transform_points
from lodestar_go2.lidar import CloudScanConfig, scan_of, without_body
from lodestar_go2.nodes.scan_publisher import SCAN, ScanPublisher
from lodestar_ros import qos
from lodestar_ros.conversions import header, stamp_from_msg, transform_to_msg
from lodestar_ros.conversions_sensors import cloud_from_msg
from lodestar_ros.executors import main_of
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.sync import PoseQueue


class CloudScanNode(LodestarNode):
    """Converts clouds in any frame of TF to the scan that SLAM and Nav2 need.

    Subscribes: ``points``, TF. Publishes: ``scan`` (in scan_link, reliable), ``/tf_static`` (base_link -> scan_link,
    and `equal_frames`).
    """

    def __init__(self, **kwargs):
        super().__init__("cloud_scan", **kwargs)
        self._config = declare_config(self, CloudScanConfig)
        self._frames = declare_config(self, FrameNames, "frames.")
        static = self.create_publisher(TFMessage, "/tf_static", qos.LATCHED)
        pairs = [(self._frames.base, SCAN), *self._config.pairs()]
        static.publish(
            TFMessage(
                transforms=[
                    TransformStamped(
                        header=header(0.0, parent),
                        child_frame_id=child,
                        transform=transform_to_msg(np.eye(4)),
                    )
                    for parent, child in pairs
                ]
            )
        )
        self._scan = ScanPublisher(self)
        self._queue: PoseQueue = self.timed(PoseQueue(self._resolve, self._publish, self._on_drop))
        self._buffer = self.transforms(self._queue.retry).buffer
        self.listen(PointCloud2, "points", self._queue.add, qos.SENSOR, stamped=True)

    def _resolve(self, message: PointCloud2) -> tuple[float, np.ndarray]:
        stamp = stamp_from_msg(message.header.stamp)
        base_from_sensor = self._buffer.lookup(self._frames.base, message.header.frame_id, stamp)
        return stamp, transform_points(base_from_sensor, cloud_from_msg(message))

    def _publish(self, item: tuple[float, np.ndarray]) -> None:
        stamp, points = item
        self._scan.publish(scan_of(without_body(points, self._config.scan), self._config.scan), stamp)

    def _on_drop(self, error: TransformUnavailable) -> None:
        self.diagnostics.input("points").drop("no_transform")
        self.get_logger().warning(str(error), throttle_duration_sec=5.0)
        self.diagnostics.status(str(error), ok=False)


main = main_of(CloudScanNode)
