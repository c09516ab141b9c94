"""Layers of the scene dictionary that are drawn anew when something changed: markers, similarity, vectors."""

from __future__ import annotations

from nav_msgs.msg import OccupancyGrid
from visualization_msgs.msg import MarkerArray

from lodestar.language.directive import Directive
from lodestar.mapping.pillars import PillarMap
from lodestar.models.phrases import MissingPhrases
from lodestar.query.scoring import QueryConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_agent import directive_from_msg
from lodestar_ros.conversions_map import pillars_from_msg, similarity_to_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.layers import LAYERS, similarity_layers
from lodestar_ros.markers import entity_markers
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import LatestWorker

CHANNEL = "caption"


class SceneDisplay:
    """Refreshes at most once per `period` seconds, on a worker, and only what has changed.

    Subscribes: ``pillars``, ``directive``. Publishes: ``~/similarity/{target,neighbor,constraint}``, ``~/markers``.
    """

    def __init__(
        self,
        node: LodestarNode,
        scene: SceneDictionary,
        book: RemotePhraseBook,
        config: QueryConfig,
        period: float,
    ) -> None:
        self._node, self._scene, self._book, self._config = node, scene, book, config
        self._directive: Directive | None = None
        self._pillars: PillarMap | None = None
        self._shown: tuple = ()
        self._markers = node.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        self._layers = {
            layer: node.create_publisher(OccupancyGrid, f"~/similarity/{layer}", qos.LATCHED)
            for layer in LAYERS
        }
        node.listen(msg.PillarMap, "pillars", self._on_pillars, qos.LATCHED)
        node.listen(msg.Directive, "directive", self._on_directive, qos.LATCHED)
        self._worker: LatestWorker = LatestWorker("display", self._refresh, node.diagnostics.error)
        node.on_close(self._worker.close)
        node.diagnostics.value("display.latency_s", lambda: self._worker.latency)
        node.steady_timer(period, lambda: self._worker.submit(None))

    def _on_pillars(self, message: msg.PillarMap) -> None:
        self._pillars = pillars_from_msg(message)

    def _on_directive(self, message: msg.Directive) -> None:
        self._directive = directive_from_msg(message)

    def _refresh(self, _item: None) -> None:
        """On the worker."""
        try:
            captions = self._scene.captions_without(CHANNEL)
            if captions:
                vectors = self._book.vectors(captions)
                self._scene.set_vectors(CHANNEL, self._book.model, captions, vectors)
            state = (self._scene.revision, id(self._directive), id(self._pillars))
            if state != self._shown:
                self._draw()
                self._shown = state
        except MissingPhrases as error:
            self._node.diagnostics.status(f"waiting for the text embedder: {error}", ok=False)
        else:
            self._node.diagnostics.status("running")

    def _draw(self) -> None:
        entities, stamp = self._scene.entities(), self._node.now
        if self._markers.get_subscription_count() > 0:
            self._markers.publish(entity_markers(entities.values(), stamp))
        directive, pillars = self._directive, self._pillars
        if directive is None or pillars is None:
            return
        for layer, field in similarity_layers(directive, pillars, entities, self._book, self._config):
            self._layers[layer].publish(similarity_to_msg(field, pillars.resolution, pillars.origin, stamp))
