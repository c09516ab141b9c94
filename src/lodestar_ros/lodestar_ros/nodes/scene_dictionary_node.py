"""ROS shell around `SceneDictionary`: convert, call, publish."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lodestar.assembly.config import (
    SCENE_DICTIONARY_CHANGES_PERIOD,
    SCENE_DICTIONARY_DISPLAY_PERIOD,
    SCENE_DICTIONARY_REGIONS_PERIOD,
    SceneDictionaryConfig,
)
from lodestar.assembly.scene_chain import SceneChain
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.scene.records import SceneDelta
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.saved_map import SaveConfig
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.conversions_scene import keyframe_from_msg, reading_from_msg, scene_to_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.map_files import MapFiles
from lodestar_ros.moved_things_watch import MovedThingsWatch
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.query_server import QueryServer
from lodestar_ros.region_naming import RegionNaming
from lodestar_ros.scene_amending import SceneAmending
from lodestar_ros.scene_client import InstanceClient
from lodestar_ros.scene_display import SceneDisplay
from lodestar_ros.scene_enrichment import SceneEnrichment
from lodestar_ros.scene_fields import SceneFields
from lodestar_ros.scene_rooms import SceneRooms
from lodestar_ros.workers import QueueWorker

EXPIRY = 1.0  # s between two checks for expired people and animals


class SceneDictionaryNode(LodestarNode):
    """Maintains the entities of the scene and answers queries about them.

    Subscribes: ``instances``, ``signs``, ``grid``, ``pillars``, ``keyframes``, ``tracks``, ``movers``,
    ``directive``, ``closed_ways``, ``mapping/building``.
    Publishes: ``~/entities`` (deltas), ``~/regions``, ``~/similarity/*``, ``~/keep_out_mask``,
    ``~/costmap_filter_info``, ``~/markers``, ``~/changes``. Serves: ``~/get_entities`` (paged), ``~/name_region``,
    ``~/amend``.
    Actions: ``~/query``, ``~/save``, ``~/load``, ``~/export``.
    """

    def __init__(self, **kwargs):
        super().__init__("scene_dictionary", **kwargs)
        PoseGraphInput(self)
        config = declare_part(self, SceneDictionaryConfig)
        book = RemotePhraseBook()
        book.connect(self)
        self._chain = SceneChain(config, self.shared, book)
        self._scene = self._chain.dictionary
        self._start = uuid.uuid4().hex[:6]  # identifies this process, whose revisions begin at its start
        self._entities = self.create_publisher(msg.SceneDelta, "~/entities", qos.EVENT)
        self._worker: QueueWorker = QueueWorker("update", self._update, self.diagnostics.error)
        self.on_close(self._worker.close)
        self.create_service(srv.GetEntities, "~/get_entities", self._on_get_entities)
        self._instances = InstanceClient(self, self._worker.submit, self._on_whole)
        self._queries = QueryServer(self, self._scene.entities, lambda: self._scene.rooms, book, config)
        self._enrichment = SceneEnrichment(self, self._chain, config)
        rooms = SceneRooms(
            self, self._chain, SCENE_DICTIONARY_REGIONS_PERIOD, self._worker.submit, self._publish
        )
        SceneFields(self, self._chain, SCENE_DICTIONARY_DISPLAY_PERIOD, self._worker.submit, rooms.look)
        self._files = MapFiles(
            self, self._chain, self._worker.submit, self._on_loaded,
            declare_config(self, SaveConfig, "saves."), declare_config(self, CheckpointConfig, "checkpoint."),
        )  # fmt: skip
        SceneAmending(self, self._chain, self._worker.submit, self._publish, self._files.hurry)
        MovedThingsWatch(
            self, self._chain, SCENE_DICTIONARY_CHANGES_PERIOD, self._worker.submit, self._publish
        )
        self._naming = RegionNaming(self, self._scene, self._chain.divide_again, self._files.take_now)
        self._display = SceneDisplay(self, self._scene, SCENE_DICTIONARY_DISPLAY_PERIOD)
        self.listen(
            msg.Keyframe, "keyframes", lambda m: self._scene.link_keyframe(keyframe_from_msg(m)), qos.EVENT
        )
        self.listen(msg.SignReading, "signs", self._on_signs, qos.EVENT)
        self.steady_timer(EXPIRY, lambda: self._worker.submit(self._expire_movers))
        self.diagnostics.value("entities", lambda: len(self._scene))
        for count in ("source_restarts", "orphans"):
            self.diagnostics.value(f"instances.{count}", partial(self._count, count))

    def _on_signs(self, message: msg.SignReading) -> None:
        reading = reading_from_msg(message)
        self._worker.submit(lambda: self._publish(self._chain.take_signs(reading)))

    def _expire_movers(self) -> None:
        """Expire people and animals by time, because no image shows that they left. Runs on the worker."""
        self._publish(self._scene.expire_movers())

    def _count(self, name: str) -> int:
        return self._scene.counts[name]

    def _on_whole(self, session: str, known: list[int]) -> None:
        self._worker.submit(lambda: self._publish(self._scene.claim(session, known)))

    def _on_loaded(self, delta: SceneDelta) -> None:
        """Publish a loaded scene and request all instances of the voxel map again. Runs on the worker."""
        self._start = uuid.uuid4().hex[:6]
        self._instances.restart()
        self._chain.divide_again()
        self._publish(delta)

    def _update(self, item: InstanceDelta | Callable[[], None]) -> None:
        """Apply a delta of instances or run a function, in order of arrival. Runs on the worker."""
        if callable(item):
            item()
            return
        for delta in self._chain.take_instances(item):
            self._publish(delta)

    def _publish(self, delta: SceneDelta) -> None:
        if delta.updated or delta.merges or delta.removed:
            self._entities.publish(scene_to_msg(self._of_this_start(delta))[0])

    def _of_this_start(self, delta: SceneDelta) -> SceneDelta:
        """Return the delta with this process in its session id, so that followers drop revisions of a killed
        dictionary.
        """
        return replace(delta, session_id=f"{delta.session_id}.{self._start}")

    def _on_get_entities(
        self, request: srv.GetEntities.Request, response: srv.GetEntities.Response
    ) -> srv.GetEntities.Response:
        delta, until = self._scene.delta_since(
            request.since_revision, request.since_id, request.page_size, request.ids, request.include_archived
        )
        response.delta, response.vectors = scene_to_msg(self._of_this_start(delta), request.include_vectors)
        response.until_id = until.id
        return response


main = main_of(SceneDictionaryNode)
