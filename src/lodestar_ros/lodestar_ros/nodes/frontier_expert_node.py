"""ROS shell around `FrontierExpert`: viewpoints of unknown space."""

from __future__ import annotations

from collections import deque

import numpy as np
from visualization_msgs.msg import MarkerArray

from lodestar.assembly.parts import expert
from lodestar.experts.config import FrontierExpertConfig
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.registry import FRONTIER
from lodestar.floors.per_floor import PerFloor
from lodestar.geometry.camera import PinholeCamera
from lodestar.keyframes.records import Keyframe
from lodestar.language.priors import everyday_words
from lodestar.memory.snapshots.frontiers import FRONTIER_SNAPSHOT_IMAGES
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.battery import BatteryConfig, BatteryInput
from lodestar_ros.camera_looks import CameraLooks
from lodestar_ros.conversions_agent import frontiers_to_msg
from lodestar_ros.conversions_scene import keyframe_from_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.markers import frontier_markers
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.scene_client import SceneClient

_EVERY_ID = 1 << 32  # greater than any keyframe id


class FrontierExpertNode(LodestarNode):
    """Proposes frontiers, and remembers which cells the camera has seen.

    Subscribes: ``grid``, ``looks``, ``keyframes``, ``stored_keyframes``, ``entities``, ``battery``,
    ``mapping/building``.
    Publishes: ``~/frontiers``, ``~/markers``. Action: ``~/propose``.
    """

    def __init__(self, **kwargs):
        super().__init__(FRONTIER.node, **kwargs)
        book = RemotePhraseBook(patience=0.0)  # the expert also works without vectors
        config = declare_part(self, FrontierExpertConfig)
        self._experts: PerFloor[FrontierExpert] = self.timed(PerFloor(lambda: expert(FRONTIER, config, book)))
        book.connect(self).want(everyday_words())
        self._scene = SceneClient(self)
        self._keyframes: deque[Keyframe] = deque(maxlen=FRONTIER_SNAPSHOT_IMAGES)
        self._stored: msg.StoredKeyframes | None = None  # newest message about the stored images
        self._loads = 0  # load counter of the images that the expert knows
        self._frontiers = self.create_publisher(msg.FrontierArray, "~/frontiers", qos.LATCHED)
        self._markers = self.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        # the charger is on the first floor; on other floors the goal selector reserves the energy for the way to it
        home = self._experts.here
        BatteryInput(self, declare_config(self, BatteryConfig, "battery."), home.set_energy)
        self._server = ExpertServer(
            self, self._experts, self._scene.floors, refresh=self._refresh, after=self._publish
        )
        self._looks = CameraLooks(self, self._server, self._look, config.view_period)
        self.listen(msg.Keyframe, "keyframes", self._on_keyframe, qos.EVENT)
        self.listen(msg.StoredKeyframes, "stored_keyframes", self._on_stored, qos.LATCHED)

    def _look(self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float) -> None:
        there = self._experts.at(stamp)
        if there is not None:
            there.add_view(map_from_camera, camera, stamp)

    def _on_keyframe(self, message: msg.Keyframe) -> None:
        self._keyframes.append(keyframe_from_msg(message))

    def _on_stored(self, message: msg.StoredKeyframes) -> None:
        if self._stored is not None and self._stored.loads != message.loads:
            self._keyframes.clear()  # after a load the ids name other images
        self._stored = message

    def _refresh(self) -> None:
        """Give new images and the newest scene to the expert. Runs on the worker before each request."""
        stored = self._stored
        if stored is not None:
            if stored.loads != self._loads:
                for one in self._experts.all:
                    one.keep_images((), _EVERY_ID)
            self._loads = stored.loads
            self._experts.here.keep_images(stored.ids, int(stored.next_id))
        while self._keyframes:
            keyframe = self._keyframes.popleft()
            there = self._experts.at(keyframe.stamp)
            if there is not None:
                there.add_image(keyframe.map_from_camera, keyframe.camera, keyframe.id)
        self._experts.here.set_scene(self._scene.snapshot())

    def _publish(self) -> None:
        """Publish the frontiers. Runs on the worker after each answer."""
        stamp = self.now
        frontiers = self._experts.here.frontiers()
        self._frontiers.publish(frontiers_to_msg(frontiers, stamp))
        if self._markers.get_subscription_count() > 0:
            self._markers.publish(frontier_markers(frontiers, stamp))


main = main_of(FrontierExpertNode)
