"""Markers of the scene for RViz."""

from __future__ import annotations

from visualization_msgs.msg import MarkerArray

from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.moved_things import MOST_COMPARED
from lodestar_ros import qos
from lodestar_ros.markers import entity_markers
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import LatestWorker


class SceneDisplay:
    """Publishes ``~/markers`` at most once per `period` seconds, on a worker, while the topic has subscribers.

    After a map was loaded, the markers also show the changes since then.
    """

    def __init__(self, node: LodestarNode, scene: SceneDictionary, period: float) -> None:
        self._node, self._scene = node, scene
        self._shown: tuple[int, int] = (-1, 0)
        self._markers = node.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        self._worker: LatestWorker = LatestWorker("display", self._refresh, node.diagnostics.error)
        node.on_close(self._worker.close)
        node.steady_timer(period, lambda: self._worker.submit(None))

    def _refresh(self, _item: None) -> None:
        """Publish the markers. Runs on the worker."""
        viewers = self._markers.get_subscription_count()
        state = (self._scene.revision, viewers)
        if viewers > 0 and state != self._shown:
            entities, regions = self._scene.entities().values(), self._scene.regions.values()
            changes = self._scene.changes_since_load(MOST_COMPARED)
            self._markers.publish(
                entity_markers(entities, self._node.now, regions, changes, self._scene.rooms)
            )
            self._shown = state
