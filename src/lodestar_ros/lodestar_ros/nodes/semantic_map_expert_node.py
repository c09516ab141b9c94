"""ROS shell around `SemanticMapExpert`: viewpoints of known entities and of last-seen places."""

from __future__ import annotations

from collections import deque

import numpy as np

from lodestar.assembly.parts import expert
from lodestar.experts.config import SemanticMapExpertConfig
from lodestar.experts.descriptions import SceneDescription
from lodestar.experts.registry import SEMANTIC_MAP
from lodestar.experts.semantic_map import SemanticMapExpert
from lodestar.floors.per_floor import PerFloor
from lodestar.geometry.camera import PinholeCamera
from lodestar.language.priors import everyday_words
from lodestar.language.reasoner import Reasoner
from lodestar.language.reasoners import make_reasoner
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.camera_looks import CameraLooks
from lodestar_ros.conversions_agent import description_from_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.last_seen import LastSeenInput
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare_part
from lodestar_ros.scene_client import SceneClient


class SemanticMapExpertNode(LodestarNode):
    """Proposes viewpoints of known entities, of places where the memory last saw objects, and of likely rooms.

    Subscribes: ``grid``, ``looks``, ``entities``, ``scene_description``, ``last_seen``,
    ``mapping/building``.
    Action: ``~/propose``.
    """

    def __init__(self, **kwargs):
        super().__init__(SEMANTIC_MAP.node, **kwargs)
        book = RemotePhraseBook()
        config = declare_part(self, SemanticMapExpertConfig)
        mind = make_reasoner(config.reasoner)
        self.on_close(mind.close)
        self._memory = LastSeenInput(self)
        self._experts = self.timed(PerFloor(lambda: self._made(config, book, mind.reasoner)))
        book.connect(self).want(everyday_words())
        self._scene = SceneClient(self)
        self._heard: deque[SceneDescription] = deque(maxlen=10)
        self._text = ""
        self._server = ExpertServer(self, self._experts, self._scene.floors, refresh=self._refresh)
        self._looks = CameraLooks(self, self._server, self._look, config.view_period)
        self.listen(msg.SceneDescription, "scene_description", self._on_description, qos.EVENT, stamped=True)
        self.diagnostics.value("scene_description", lambda: self._text[:120])
        self.diagnostics.value("reasoner.tokens", mind.tokens)

    def _made(
        self, config: SemanticMapExpertConfig, book: RemotePhraseBook, mind: Reasoner
    ) -> SemanticMapExpert:
        """Create the expert of a floor."""
        made: SemanticMapExpert = expert(SEMANTIC_MAP, config, book, mind)
        made.use_memory(self._memory)
        return made

    def _look(self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float) -> None:
        there = self._experts.at(stamp)
        if there is not None:
            there.add_view(map_from_camera, camera, stamp)

    def _on_description(self, message: msg.SceneDescription) -> None:
        self._text = message.text
        self._heard.append(description_from_msg(message))

    def _refresh(self) -> None:
        """Give the newest scene and last-seen places to the expert. Runs on the worker before each request."""
        while self._heard:
            description = self._heard.popleft()
            one = self._experts.at(description.stamp)
            if one is not None:
                one.hear(description)
        self._experts.here.set_scene(self._scene.snapshot())


main = main_of(SemanticMapExpertNode)
