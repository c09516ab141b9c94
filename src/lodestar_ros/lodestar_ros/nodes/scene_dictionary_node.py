"""ROS shell around `SceneDictionary`: convert, call, publish."""

from __future__ import annotations

from dataclasses import dataclass

from nav_msgs.msg import OccupancyGrid
from visualization_msgs.msg import MarkerArray

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.regions import segment_regions
from lodestar.language.directive import Directive
from lodestar.mapping.pillars import PillarMap
from lodestar.mapping.records import InstanceDelta
from lodestar.models.phrases import MissingPhrases
from lodestar.query.scoring import QueryConfig
from lodestar.scene.dictionary import SceneConfig, SceneDictionary
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_agent import directive_from_msg
from lodestar_ros.conversions_scene import (
    keyframe_from_msg,
    pillars_from_msg,
    regions_to_msg,
    scene_to_msg,
    similarity_to_msg,
)
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.layers import LAYERS, similarity_layers
from lodestar_ros.markers import entity_markers
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.query_server import QueryServer
from lodestar_ros.scene_client import InstanceClient
from lodestar_ros.workers import LatestWorker, QueueWorker

CHANNEL = "caption"


@dataclass(frozen=True)
class SceneNodeConfig:
    """Periods in seconds of real time."""

    layers_period: float = 1.0  # between markers, similarity layers and vectors
    regions_period: float = 5.0


class SceneDictionaryNode(LodestarNode):
    """Keep the entities of the scene and answer queries about them.

    Subscribes: ``instances``, ``grid``, ``pillars``, ``keyframes``, ``directive``.
    Publishes: ``~/entities`` (deltas), ``~/regions``, ``~/similarity/*``, ``~/markers``.
    Serves: ``~/get_entities`` (paged). Action: ``~/query``.
    """

    def __init__(self, **kwargs):
        super().__init__("scene_dictionary", **kwargs)
        self._config = declare_config(self, SceneNodeConfig)
        self._query_config = declare_config(self, QueryConfig, "query.")
        self._scene = SceneDictionary(declare_config(self, SceneConfig, "scene."))
        self._book = RemotePhraseBook()
        self._book.connect(self)
        self._grid: OccupancyGrid2D | None = None
        self._directive: Directive | None = None
        self._pillars: PillarMap | None = None
        self._done: tuple = ()
        self._regions_of: OccupancyGrid2D | None = None
        self._entities_pub = self.create_publisher(msg.SceneDelta, "~/entities", qos.EVENT)
        self._regions_pub = self.create_publisher(msg.RegionArray, "~/regions", qos.LATCHED)
        self._markers_pub = self.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        self._layer_pubs = {
            layer: self.create_publisher(OccupancyGrid, f"~/similarity/{layer}", qos.LATCHED) for layer in LAYERS
        }
        self._updates: QueueWorker = QueueWorker("update", self._update, self.diagnostics.error)
        self._layers: LatestWorker = LatestWorker("layers", self._refresh, self.diagnostics.error)
        self.on_close(self._updates.close)
        self.on_close(self._layers.close)
        self.create_service(srv.GetEntities, "~/get_entities", self._on_get_entities)
        self._instances = InstanceClient(self, self._updates.submit)
        self._queries = QueryServer(self, self._scene.entities, self._book, self._query_config)
        self.listen(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)
        self.listen(msg.PillarMap, "pillars", self._on_pillars, qos.LATCHED)
        self.listen(msg.Directive, "directive", self._on_directive, qos.LATCHED)
        self.listen(msg.Keyframe, "keyframes", self._on_keyframe, qos.EVENT)
        self.steady_timer(self._config.layers_period, lambda: self._layers.submit("layers"))
        self.steady_timer(self._config.regions_period, self._find_regions)
        self.diagnostics.value("entities", lambda: len(self._scene.entities()))
        self.diagnostics.value("layers.latency_s", lambda: self._layers.latency)

    def _on_grid(self, message: OccupancyGrid) -> None:
        self._grid = grid_from_msg(message)

    def _on_pillars(self, message: msg.PillarMap) -> None:
        self._pillars = pillars_from_msg(message)

    def _on_directive(self, message: msg.Directive) -> None:
        self._directive = directive_from_msg(message)

    def _on_keyframe(self, message: msg.Keyframe) -> None:
        self._scene.link_keyframe(keyframe_from_msg(message))

    def _update(self, item: InstanceDelta | OccupancyGrid2D) -> None:
        """On the worker, in the order of arrival."""
        if isinstance(item, OccupancyGrid2D):
            mask, found = segment_regions(item)
            regions = self._scene.assign_regions(mask, item.origin, item.resolution, found)
            self._regions_pub.publish(regions_to_msg(mask, item, regions, self._scene.revision))
            self._publish(self._scene.flush())
        else:
            self._publish(self._scene.update(item))

    def _publish(self, delta: SceneDelta) -> None:
        if delta.updated or delta.merges or delta.removed:
            self._entities_pub.publish(scene_to_msg(delta)[0])

    def _find_regions(self) -> None:
        if self._grid is not None and self._grid is not self._regions_of:
            self._regions_of = self._grid
            self._updates.submit(self._grid)

    def _refresh(self, _item: str) -> None:
        """On the other worker: what is for the eye, and vectors."""
        try:
            captions = self._scene.captions_without(CHANNEL)
            if captions:
                vectors = self._book.vectors(captions)
                self._scene.set_vectors(CHANNEL, self._book.model, captions, vectors)
            state = (self._scene.revision, id(self._directive), id(self._pillars))
            if state != self._done:
                self._show()
                self._done = state
        except MissingPhrases as error:
            self.diagnostics.status(f"waiting for the text embedder: {error}", ok=False)
            return
        self.diagnostics.status("running")

    def _show(self) -> None:
        entities, stamp = self._scene.entities(), self.now
        if self._markers_pub.get_subscription_count() > 0:
            self._markers_pub.publish(entity_markers(entities.values(), stamp))
        directive, pillars = self._directive, self._pillars
        if directive is None or pillars is None:
            return
        for layer, field in similarity_layers(directive, pillars, entities, self._book, self._query_config):
            self._layer_pubs[layer].publish(similarity_to_msg(field, pillars.resolution, pillars.origin, stamp))

    def _on_get_entities(
        self, request: srv.GetEntities.Request, response: srv.GetEntities.Response
    ) -> srv.GetEntities.Response:
        try:
            delta, pages = self._scene.delta_since(
                request.since_revision, request.page, request.page_size, request.ids, request.include_archived
            )
        except ValueError as error:
            response.error_code, response.error_msg = srv.GetEntities.Response.BAD_PAGE, str(error)
            return response
        response.delta, response.vectors = scene_to_msg(delta, request.include_vectors)
        response.page_count = pages
        return response


main = main_of(SceneDictionaryNode)
