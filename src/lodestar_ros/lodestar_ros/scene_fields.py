"""Similarity layers and keep-out zones of the directive, drawn anew when something changed."""

from __future__ import annotations

from collections.abc import Callable

from nav_msgs.msg import OccupancyGrid

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive
from lodestar.mapping.pillars import PillarMap
from lodestar.models.phrases import MissingPhrases
from lodestar.query.config import QueryConfig
from lodestar.query.fields import LAYERS, layer_texts
from lodestar.query.keep_out import KeepOutZones
from lodestar.scene.dictionary import SceneDictionary
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_agent import directive_from_msg
from lodestar_ros.conversions_map import pillars_from_msg, similarity_to_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.keep_out import KeepOutPublisher
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import LatestWorker


class SceneFields:
    """Refreshes at most once per `period` seconds, on a worker, and only what has changed.

    Subscribes: ``pillars``, ``directive``. Publishes: ``~/similarity/{target,neighbor,constraint}``,
    ``~/keep_out_mask``, ``~/costmap_filter_info``. grid(): the newest grid, None before the first.
    """

    def __init__(
        self,
        node: LodestarNode,
        scene: SceneDictionary,
        book: RemotePhraseBook,
        config: QueryConfig,
        grid: Callable[[], OccupancyGrid2D | None],
        period: float,
    ) -> None:
        self._node, self._scene, self._grid = node, scene, grid
        self._zones = KeepOutZones(book, config)
        self._directive: Directive | None = None
        self._followed: Directive | None = None
        self._pillars: PillarMap | None = None
        self._shown: tuple = (-1, None, None, None)
        self._layers = {
            layer: node.create_publisher(OccupancyGrid, f"~/similarity/{layer}", qos.LATCHED)
            for layer in LAYERS
        }
        self._keep_out = KeepOutPublisher(node)
        node.listen(msg.PillarMap, "pillars", self._on_pillars, qos.LATCHED)
        node.listen(msg.Directive, "directive", self._on_directive, qos.LATCHED)
        self._worker: LatestWorker = LatestWorker("fields", self._refresh, node.diagnostics.error)
        node.on_close(self._worker.close)
        node.diagnostics.value("fields.latency_s", lambda: self._worker.latency)
        node.steady_timer(period, lambda: self._worker.submit(None))

    def _on_pillars(self, message: msg.PillarMap) -> None:
        self._pillars = pillars_from_msg(message)

    def _on_directive(self, message: msg.Directive) -> None:
        self._directive = directive_from_msg(message)
        self._worker.submit(None)

    def _refresh(self, _item: None) -> None:
        """On the worker."""
        directive, pillars, grid = self._directive, self._pillars, self._grid()
        state = (self._scene.revision, directive, pillars, grid)
        if state[0] == self._shown[0] and all(a is b for a, b in zip(state[1:], self._shown[1:])):
            return
        try:
            self._draw(directive, pillars, grid)
            self._shown = state
        except MissingPhrases as error:
            self._node.diagnostics.status(f"waiting for the text embedder: {error}", ok=False)

    def _draw(
        self, directive: Directive | None, pillars: PillarMap | None, grid: OccupancyGrid2D | None
    ) -> None:
        stamp = self._node.now
        if directive is not self._followed:
            self._zones.follow(directive)
            self._followed = directive
        if grid is not None and (pillars is None or not self._zones.active):
            self._keep_out.publish(grid, None, stamp)
        if directive is None or pillars is None:
            return
        entities = self._scene.entities()
        self._zones.fields.follow(entities)
        for layer, texts in layer_texts(directive).items():
            if layer != "constraint":
                field = self._zones.fields.field(layer, texts, pillars)
                self._layers[layer].publish(
                    similarity_to_msg(field, pillars.resolution, pillars.origin, stamp)
                )
        regions = self._scene.regions
        field = self._zones.field(entities, pillars, regions)
        self._layers["constraint"].publish(
            similarity_to_msg(field, pillars.resolution, pillars.origin, stamp)
        )
        if grid is not None and self._zones.active:
            mask = self._zones.mask(grid, entities, pillars, regions, self._scene.rooms)
            self._keep_out.publish(grid, mask, stamp)
