"""ROS shell around `SemanticMapExpert`: which remembered thing is meant, and from where can it be faced."""

from __future__ import annotations

from lodestar.experts.semantic_map import SemanticMapConfig, SemanticMapExpert
from lodestar.language.reasoner import OfflineReasoner
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.scene_client import SceneClient


class SemanticMapExpertNode(LodestarNode):
    """Propose viewpoints of remembered entities.

    Subscribes: ``grid``, ``entities``, ``scene_description``. Action: ``~/propose``.
    """

    def __init__(self, **kwargs):
        super().__init__("semantic_map_expert", **kwargs)
        book = RemotePhraseBook()
        self._expert = SemanticMapExpert(declare_config(self, SemanticMapConfig), book, OfflineReasoner())
        book.connect(self)
        self._scene = SceneClient(self)
        self._description = ""
        self._server = ExpertServer(self, self._expert, refresh=self._refresh)
        self.listen(msg.SceneDescription, "scene_description", self._on_description, qos.EVENT, stamped=True)
        self.diagnostics.value("scene_description", lambda: self._description[:120])

    def _on_description(self, message: msg.SceneDescription) -> None:
        self._description = message.text

    def _refresh(self) -> None:
        """On the worker, before each question."""
        self._expert.set_scene(self._scene.snapshot())


main = main_of(SemanticMapExpertNode)
