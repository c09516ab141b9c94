"""The memory's snapshots for others: changes as they come, everything on demand, markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from visualization_msgs.msg import MarkerArray

from lodestar.memory.records import SnapshotDelta
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.conversions_snapshots import snapshots_to_msg
from lodestar_ros.markers import snapshot_markers
from lodestar_ros.memory_feed import MemoryFeed
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import ServiceWorker

DEFAULT_PAGE = 256  # snapshots


class SnapshotServer:
    """Publish ``~/snapshots`` (deltas) and ``~/markers``. Serves: ``~/get_snapshots`` (paged)."""

    def __init__(self, node: LodestarNode, feed: MemoryFeed) -> None:
        self._node, self._feed = node, feed
        self._publisher = node.create_publisher(msg.SnapshotArray, "~/snapshots", qos.EVENT)
        self._markers = node.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        self._service = ServiceWorker(node, srv.GetSnapshots, "~/get_snapshots", self._get)
        node.on_close(self._service.close)

    def tell(self, delta: SnapshotDelta) -> None:
        """Publish a change. On the feed's worker."""
        if not (delta.updated or delta.removed):
            return
        self._publisher.publish(snapshots_to_msg(delta))
        if self._markers.get_subscription_count() > 0:
            chain = self._feed.chain
            poses = chain.snapshots.image_poses()
            shown = snapshot_markers(
                chain.snapshots.snapshots.values(), poses, chain.scene.entities, delta.stamp
            )
            self._markers.publish(shown)

    def _get(
        self, request: srv.GetSnapshots.Request, response: srv.GetSnapshots.Response
    ) -> srv.GetSnapshots.Response:
        found: list[SnapshotDelta] = []
        self._feed.alone(
            lambda: found.append(self._feed.chain.snapshots.since(self._node.now, request.since_revision))
        )
        pages = paged(found[0], request.page_size or DEFAULT_PAGE)
        if request.page >= len(pages):
            response.error_code = srv.GetSnapshots.Response.BAD_PAGE
            response.error_msg = f"there are {len(pages)} pages, counted from 0"
            return response
        response.snapshots, response.page_count = snapshots_to_msg(pages[request.page]), len(pages)
        return response


def paged(delta: SnapshotDelta, size: int) -> Sequence[SnapshotDelta]:
    """Return a delta in parts of at most `size` snapshots, at least one; the first has what was removed."""
    parts = [delta.updated[i : i + size] for i in range(0, len(delta.updated), size)] or [()]
    return [
        replace(delta, updated=part, removed=delta.removed if index == 0 else ())
        for index, part in enumerate(parts)
    ]
