"""Periodic comparison of the scene with the loaded map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lodestar.assembly.scene_chain import SceneChain
from lodestar.scene.moved_things import MovedThings, SeenElsewhere
from lodestar.scene.records import SceneDelta
from lodestar.scene.session_changes import ThingChange
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.change_events import events_of
from lodestar_ros.conversions import header
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import LatestWorker


class MovedThingsWatch:
    """Compares the scene with the loaded map on its own thread; archives entities that were seen elsewhere.

    They are archived on the worker that publishes the scene's changes. Publishes: ``~/changes`` since the map
    was loaded, on changes, while the topic has subscribers.
    """

    def __init__(
        self,
        node: LodestarNode,
        chain: SceneChain,
        period: float,
        submit: Callable[[Callable[[], None]], None],
        publish: Callable[[SceneDelta], None],
    ) -> None:
        self._node, self._chain, self._scene, moved = node, chain, chain.dictionary, chain.moved
        self._submit, self._publish, self._archived = submit, publish, 0
        self._told: tuple[list[ThingChange] | None, int] = (None, 0)
        if moved is None:
            return
        self._changes = node.create_publisher(msg.MapChanges, "~/changes", qos.LATCHED)
        worker: LatestWorker[MovedThings] = LatestWorker("moved", self._compare, node.diagnostics.error)
        node.on_close(worker.close)
        node.steady_timer(period, lambda: worker.submit(moved))
        node.diagnostics.value("archived.seen_elsewhere", lambda: self._archived)

    def _compare(self, moved: MovedThings) -> None:
        """Compare the scene with the loaded map; publish changes. Runs on the comparison's thread."""
        found = moved.find()
        if found.ids:
            self._submit(lambda: self._archive(moved, found))
        readers = self._changes.get_subscription_count()
        if readers and (moved.changes is not self._told[0] or readers != self._told[1]):
            self._told = moved.changes, readers
            self._tell(moved.changes)

    def _tell(self, changes: list[ThingChange]) -> None:
        stamp = self._node.now
        against = "the map that was loaded" if self._scene.has_loaded else ""
        events = events_of(changes, self._room_at, stamp)
        self._changes.publish(msg.MapChanges(header=header(stamp, "map"), against=against, changes=events))

    def _room_at(self, place: np.ndarray) -> str:
        if not self._chain.building.is_here(float(place[2])):
            return ""  # the region map covers only the robot's floor
        identity = int(self._scene.rooms.at(np.asarray(place, float)[None])[0])
        region = self._scene.regions.get(identity)
        return "" if region is None else region.label

    def _archive(self, moved: MovedThings, found: SeenElsewhere) -> None:
        """Archive entities that were seen elsewhere, and publish their deltas. Runs on the scene's worker."""
        for delta in moved.archive(found):
            self._archived += 1
            self._publish(delta)
