"""ROS shell around an expert that needs only the grid, the scene and the vectors of phrases."""

from __future__ import annotations

from typing import Any

from lodestar.assembly.parts import expert
from lodestar.experts.protocol import SceneReader
from lodestar.experts.registry import expert_spec
from lodestar.floors.per_floor import PerFloor
from lodestar.language.reasoners import make_reasoner
from lodestar_ros.building_input import BuildingInput
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError, declare_part
from lodestar_ros.scene_client import SceneClient


class ExpertNode(LodestarNode):
    """Runs the expert that the node's name selects; raises ParameterError for an unknown name.

    Subscribes: ``grid``, ``mapping/building``, and ``entities`` if the expert uses the scene.
    Action: ``~/propose``.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("expert", **kwargs)
        try:
            spec = expert_spec(self.get_name())
        except KeyError as error:
            raise ParameterError(f"{error.args[0]}: start it as __node:=NAME_expert") from error
        book = RemotePhraseBook()
        config: Any = declare_part(self, spec.config)
        mind = None
        if spec.reasons:
            mind = make_reasoner(config.reasoner)
            self.on_close(mind.close)
        reasoner = mind.reasoner if mind is not None else None
        self._experts = self.timed(PerFloor[Any](lambda: expert(spec, config, book, reasoner)))
        book.connect(self)
        self._scene = SceneClient(self) if isinstance(self._experts.here, SceneReader) else None
        floors = BuildingInput(self) if self._scene is None else self._scene.floors
        self._server = ExpertServer(self, self._experts, floors, refresh=self._refresh)

    def _refresh(self) -> None:
        """Give the newest scene to the expert, if it uses one. Runs on the worker before each request."""
        if self._scene is not None:
            self._experts.here.set_scene(self._scene.snapshot())


main = main_of(ExpertNode)
