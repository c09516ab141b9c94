"""Camera views (poses and intrinsics, without images) for an expert that records which cells the camera has seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sensor_msgs.msg import CameraInfo

from lodestar.geometry.camera import PinholeCamera
from lodestar.timing.stamps import Phased
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_sensors import camera_from_msg
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.rgbd import MAP_HOLDS
from lodestar_ros.sync import PoseQueue
from lodestar_ros.workers import LatestWorker


class CameraLooks:
    """Passes the camera's view (pose, intrinsics, stamp) to an expert on a worker, once per `period` seconds.

    The period is measured by stamps. add_view: adds a view to the expert of the robot's floor; not called
    while the robot is between two floors.
    """

    def __init__(
        self,
        node: LodestarNode,
        server: ExpertServer,
        add_view: Callable[[np.ndarray, PinholeCamera, float], None],
        period: float,
    ) -> None:
        self._server, self._add_view = server, add_view
        self._frames = declare_config(node, FrameNames, "frames.")
        self._due = node.timed(Phased(period))
        self._views: LatestWorker = LatestWorker("views", self._look, node.diagnostics.error)
        node.on_close(self._views.close)
        monitor = node.diagnostics.input("camera_info")
        self._queue: PoseQueue = node.timed(
            PoseQueue(self._resolve, self._views.submit, lambda error: monitor.drop("no_transform"))
        )
        self._buffer = node.transforms(self._queue.retry).buffer
        node.listen(CameraInfo, "camera_info", self._on_camera_info, qos.SENSOR, stamped=True)

    def _on_camera_info(self, message: CameraInfo) -> None:
        if self._due.due(stamp_from_msg(message.header.stamp)):
            self._queue.add(message)

    def _resolve(self, message: CameraInfo) -> tuple[np.ndarray, PinholeCamera, float]:
        stamp, frames = stamp_from_msg(message.header.stamp), self._frames
        odom_from_camera = self._buffer.lookup(frames.odom, message.header.frame_id, stamp)
        map_from_odom = self._buffer.lookup(frames.map, frames.odom, stamp, MAP_HOLDS)
        return map_from_odom @ odom_from_camera, camera_from_msg(message), stamp

    def _look(self, view: tuple[np.ndarray, PinholeCamera, float]) -> None:
        """Pass a view to the expert. Runs on the worker."""
        with self._server.lock:
            if self._server.update():
                self._add_view(*view)
