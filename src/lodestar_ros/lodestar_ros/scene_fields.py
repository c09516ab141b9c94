"""Similarity layers and keep-out zones of the directive, updated on changes."""

from __future__ import annotations

from collections.abc import Callable

from nav_msgs.msg import OccupancyGrid

from lodestar.assembly import scene_parts
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive
from lodestar.mapping.pillars import PillarMap
from lodestar.models.phrases import MissingPhrases
from lodestar.query.fields import LAYERS
from lodestar.scene.dictionary import SceneDictionary
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_directive import directive_from_msg
from lodestar_ros.conversions_map import pillars_from_msg, similarity_to_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.keep_out import KeepOutPublisher
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import LatestWorker


class SceneFields:
    """Update changed layers at most once per `period` seconds, on a worker.

    Subscribes: ``pillars``, ``directive``. Publishes: ``~/similarity/{target,neighbor,constraint}``,
    ``~/keep_out_mask``, ``~/costmap_filter_info``. grid(): the newest grid, None before the first.
    """

    def __init__(
        self,
        node: LodestarNode,
        scene: SceneDictionary,
        book: RemotePhraseBook,
        grid: Callable[[], OccupancyGrid2D | None],
        period: float,
    ) -> None:
        self._node, self._scene, self._grid = node, scene, grid
        self._fields = scene_parts.directive_fields(book, node.shared)
        self._directive: Directive | None = None
        self._pillars: PillarMap | None = None
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
        pillars, stamp = self._pillars, self._node.now
        try:
            update = self._fields.refresh(self._scene, self._directive, pillars, self._grid(), stamp=stamp)
        except MissingPhrases as error:
            self._node.diagnostics.status(f"waiting for the text embedder: {error}", ok=False)
            return
        if update is None:
            return
        for layer, field in update.layers.items():
            assert pillars is not None
            self._layers[layer].publish(similarity_to_msg(field, pillars.resolution, pillars.origin, stamp))
        if update.zones is not None:
            self._keep_out.publish(update.zones)
