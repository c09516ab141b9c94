"""ROS shell around `FrontierExpert`: viewpoints of unknown space."""

from __future__ import annotations

from collections import deque

import numpy as np
from sensor_msgs.msg import CameraInfo
from visualization_msgs.msg import MarkerArray

from lodestar.assembly.parts import expert
from lodestar.experts.config import FrontierExpertConfig
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.registry import FRONTIER
from lodestar.geometry.camera import PinholeCamera
from lodestar.keyframes.records import Keyframe
from lodestar.language.priors import everyday_words
from lodestar.timing.stamps import Phased
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.battery import BatteryConfig, BatteryInput
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_agent import frontiers_to_msg
from lodestar_ros.conversions_scene import keyframe_from_msg
from lodestar_ros.conversions_sensors import camera_from_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.markers import frontier_markers
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.rgbd import MAP_HOLDS
from lodestar_ros.scene_client import SceneClient
from lodestar_ros.sync import PoseQueue
from lodestar_ros.workers import LatestWorker

_EVERY_ID = 1 << 32  # above every id of a keyframe


class FrontierExpertNode(LodestarNode):
    """Propose frontiers; remember where the camera has looked.

    Subscribes: ``grid``, ``camera_info``, ``keyframes``, ``stored_keyframes``, ``entities``, ``battery``, TF.
    Publishes: ``~/frontiers``, ``~/markers``. Action: ``~/propose``.
    """

    def __init__(self, **kwargs):
        super().__init__(FRONTIER.node, **kwargs)
        book = RemotePhraseBook(patience=0.0)  # the expert also works without vectors
        config = declare_part(self, FrontierExpertConfig)
        self._expert: FrontierExpert = expert(FRONTIER, config, book)
        book.connect(self).want(everyday_words())
        self._scene = SceneClient(self)
        self._frames = declare_config(self, FrameNames, "frames.")
        self._view_due = self.timed(Phased(config.view_period))
        self._keyframes: deque[Keyframe] = deque(maxlen=config.expert.pieces.snapshots.images)
        self._stored: msg.StoredKeyframes | None = None  # the newest word of which images there are
        self._loads = 0  # of the images that the expert knows
        self._frontiers = self.create_publisher(msg.FrontierArray, "~/frontiers", qos.LATCHED)
        self._markers = self.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        BatteryInput(self, declare_config(self, BatteryConfig, "battery."), self._expert.set_energy)
        self._server = ExpertServer(self, self._expert, self._refresh, self._publish)
        self._views: LatestWorker = LatestWorker("views", self._look, self.diagnostics.error)
        self.on_close(self._views.close)
        monitor = self.diagnostics.input("camera_info")
        self._queue: PoseQueue = self.timed(
            PoseQueue(self._resolve, self._views.submit, lambda error: monitor.drop("no_transform"))
        )
        self._buffer = self.transforms(self._queue.retry).buffer
        self.listen(CameraInfo, "camera_info", self._on_camera_info, qos.SENSOR, stamped=True)
        self.listen(msg.Keyframe, "keyframes", self._on_keyframe, qos.EVENT)
        self.listen(msg.StoredKeyframes, "stored_keyframes", self._on_stored, qos.LATCHED)

    def _on_camera_info(self, message: CameraInfo) -> None:
        if self._view_due.due(stamp_from_msg(message.header.stamp)):
            self._queue.add(message)

    def _on_keyframe(self, message: msg.Keyframe) -> None:
        self._keyframes.append(keyframe_from_msg(message))

    def _on_stored(self, message: msg.StoredKeyframes) -> None:
        if self._stored is not None and self._stored.loads != message.loads:
            self._keyframes.clear()  # their ids mean other images now
        self._stored = message

    def _resolve(self, message: CameraInfo) -> tuple[np.ndarray, PinholeCamera, float]:
        stamp, frames = stamp_from_msg(message.header.stamp), self._frames
        odom_from_camera = self._buffer.lookup(frames.odom, message.header.frame_id, stamp)
        map_from_odom = self._buffer.lookup(frames.map, frames.odom, stamp, MAP_HOLDS)
        return map_from_odom @ odom_from_camera, camera_from_msg(message), stamp

    def _look(self, view: tuple[np.ndarray, PinholeCamera, float]) -> None:
        """On the worker."""
        with self._server.lock:
            self._server.update_grid()
            self._expert.add_view(*view)

    def _refresh(self) -> None:
        """On the worker, before each request."""
        stored = self._stored
        if stored is not None:
            if stored.loads != self._loads:
                self._expert.keep_images((), _EVERY_ID)
            self._loads = stored.loads
            self._expert.keep_images(stored.ids, int(stored.next_id))
        while self._keyframes:
            keyframe = self._keyframes.popleft()
            self._expert.add_image(keyframe.map_from_camera, keyframe.camera, keyframe.id)
        self._expert.set_scene(self._scene.snapshot())

    def _publish(self) -> None:
        """On the worker, after each answer."""
        stamp = self.now
        frontiers = self._expert.frontiers()
        self._frontiers.publish(frontiers_to_msg(frontiers, stamp))
        if self._markers.get_subscription_count() > 0:
            self._markers.publish(frontier_markers(frontiers, stamp))


main = main_of(FrontierExpertNode)
