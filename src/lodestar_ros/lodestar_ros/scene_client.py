"""Followers of the scene dictionary and of the instances: apply deltas, page what they missed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lodestar.mapping.records import InstanceDelta
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg
from lodestar_interfaces.srv import GetEntities, GetInstances
from lodestar_ros import qos
from lodestar_ros.conversions_map import regions_from_msg
from lodestar_ros.conversions_scene import instances_from_msg, scene_from_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.pager import Pager


class SceneClient:
    """Keeps a mirror of the scene. A late start and a gap are filled by paging, without waiting.

    Subscribes: ``entities``, ``regions``. Calls: ``get_entities``. on_change is called on the executor.
    """

    def __init__(self, node: LodestarNode, on_change: Callable[[], None] | None = None) -> None:
        self.mirror = SceneMirror()
        self._on_change = on_change
        self._lock = threading.Lock()
        self._pager = Pager(
            node,
            GetEntities,
            "get_entities",
            lambda: self.mirror.since,
            lambda response: scene_from_msg(response.delta, response.vectors),
            self._on_pages,
            include_archived=True,
        )
        node.listen(msg.SceneDelta, "entities", self._on_delta, qos.EVENT)
        node.listen(msg.RegionArray, "regions", self._on_regions, qos.LATCHED)
        node.diagnostics.value("scene.revision", lambda: self.mirror.revision)
        node.diagnostics.value("scene.entities", lambda: len(self.mirror.entities))
        node.diagnostics.value("scene.pagings", lambda: self._pager.fills)
        self._pager.fill()  # nobody knows what was before

    def snapshot(self) -> SceneMirror:
        """A copy for another thread."""
        with self._lock:
            return self.mirror.snapshot()

    def _on_delta(self, message: msg.SceneDelta) -> None:
        with self._lock:
            applied = self.mirror.apply(scene_from_msg(message))
        if applied:
            self._changed()
        else:
            self._pager.fill()

    def _on_regions(self, message: msg.RegionArray) -> None:
        regions, rooms = regions_from_msg(message)
        with self._lock:
            self.mirror.set_regions(regions, rooms)

    def _on_pages(self, pages: list[SceneDelta]) -> None:
        with self._lock:
            self.mirror.fill(pages)
        self._changed()

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change()


class InstanceClient:
    """Hands every delta of the instances on, and the pages that fill a gap, on the executor.

    Subscribes: ``instances``. Calls: ``get_instances``.
    """

    def __init__(self, node: LodestarNode, on_delta: Callable[[InstanceDelta], None]) -> None:
        self._on_delta = on_delta
        self._revision = 0
        self._session = ("", 0)
        self._pager = Pager(
            node,
            GetInstances,
            "get_instances",
            lambda: self._revision,
            lambda response: instances_from_msg(response.instances),
            self._on_pages,
        )
        node.listen(msg.InstanceArray, "instances", self._on_message, qos.EVENT, stamped=True)
        node.diagnostics.value("instances.pagings", lambda: self._pager.fills)
        self._pager.fill()

    def restart(self) -> None:
        """Hand everything on once more, from the next delta on; from any thread."""
        self._revision = 0

    def _on_message(self, message: msg.InstanceArray) -> None:
        delta = instances_from_msg(message)
        session = (delta.session_id, delta.map_id)
        if session != self._session:
            self._session, self._revision = session, 0
        gap = delta.previous_revision > self._revision
        if gap:
            self._pager.fill()  # from what was known before the gap
        else:
            self._revision = max(self._revision, delta.revision)
        self._on_delta(delta)  # what it says is whole for what it names

    def _on_pages(self, pages: list[InstanceDelta]) -> None:
        for page in pages:
            self._session = (page.session_id, page.map_id)
            self._revision = max(self._revision, page.revision)
            self._on_delta(page)
