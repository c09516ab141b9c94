"""The memory's snapshots for other nodes: deltas as they occur, pages on request, markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from visualization_msgs.msg import MarkerArray

from lodestar.memory.records import SnapshotDelta
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.conversions_scene import snapshots_to_msg
from lodestar_ros.markers import snapshot_markers
from lodestar_ros.memory_feed import MemoryFeed
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceWorker
from lodestar_ros.workers import Refused

DEFAULT_PAGE = 256  # snapshots per page


class SnapshotServer:
    """Publishes ``~/snapshots`` (deltas) and ``~/markers``. Serves: ``~/get_snapshots`` (paged).

    A change is noted in the run's folder before it is published, so that a successor in the same run
    continues from it.
    """

    def __init__(self, node: LodestarNode, feed: MemoryFeed, checkpoints: CheckpointConfig) -> None:
        self._node, self._feed = node, feed
        self._notes = Checkpointer(node, checkpoints)
        self._viewers = 0  # subscribers of the markers at their last publication
        self._restore()
        self._publisher = node.create_publisher(msg.SnapshotArray, "~/snapshots", qos.EVENT)
        self._markers = node.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        ServiceWorker(node, srv.GetSnapshots, "~/get_snapshots", self._get)

    def tell(self, delta: SnapshotDelta) -> None:
        """Publish a delta, and markers for changes or new subscribers. Runs on the feed's worker."""
        changed = bool(delta.updated or delta.removed)
        if changed:
            self._notes.note(snapshots=self._feed.chain.snapshot_state())
            self._publisher.publish(snapshots_to_msg(delta))
        viewers = self._markers.get_subscription_count()
        if viewers > 0 and (changed or viewers > self._viewers):
            self._show(delta.stamp)
        self._viewers = viewers

    def _show(self, stamp: float) -> None:
        chain = self._feed.chain
        poses = chain.snapshots.image_poses()
        shown = snapshot_markers(chain.snapshots.snapshots.values(), poses, chain.scene.entities, stamp)
        self._markers.publish(shown)

    def _restore(self) -> None:
        """Restore the snapshots that a predecessor in this run noted, if any."""
        state = self._notes.notes.get("snapshots")
        count = 0
        if isinstance(state, dict):
            try:
                self._feed.chain.restore_snapshots(state)
                count = len(self._feed.chain.snapshots.snapshots)
            except ValueError as error:
                self._node.diagnostics.error(error)
        self._notes.say_back(f"with its {count} snapshots", restored=state is not None)

    def _get(
        self, request: srv.GetSnapshots.Request, response: srv.GetSnapshots.Response
    ) -> srv.GetSnapshots.Response:
        found: list[SnapshotDelta] = []
        self._feed.alone(
            lambda: found.append(self._feed.chain.snapshots.since(self._node.now, request.since_revision))
        )
        pages = paged(found[0], request.page_size or DEFAULT_PAGE)
        if request.page >= len(pages):
            why = f"there are {len(pages)} pages, counted from 0"
            raise Refused(srv.GetSnapshots.Response.BAD_PAGE, why)
        response.snapshots, response.page_count = snapshots_to_msg(pages[request.page]), len(pages)
        return response


def paged(delta: SnapshotDelta, size: int) -> Sequence[SnapshotDelta]:
    """Return a delta in parts of at most `size` snapshots, at least one part; the first has the removed ids."""
    parts = [delta.updated[i : i + size] for i in range(0, len(delta.updated), size)] or [()]
    return [
        replace(delta, updated=part, removed=delta.removed if index == 0 else ())
        for index, part in enumerate(parts)
    ]
