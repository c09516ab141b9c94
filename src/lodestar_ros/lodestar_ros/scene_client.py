"""Followers of the scene dictionary and of the instances: apply deltas and page gaps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from lodestar.assembly import mirror_parts
from lodestar.mapping.records import InstanceDelta
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg
from lodestar_interfaces.srv import GetEntities, GetInstances
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_regions import regions_from_msg
from lodestar_ros.conversions_scene import instances_from_msg, scene_from_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.pager import Pager

T = TypeVar("T")


def _at_once(work: Callable[[], None]) -> None:
    work()


@dataclass(frozen=True)
class _Page:
    """A received page, converted when the mirror is filled."""

    response: GetEntities.Response

    @property
    def revision(self) -> int:
        return int(self.response.delta.revision)


class SceneClient:
    """Keep a mirror of the scene. A late start and gaps are filled by paging, without waiting.

    Subscribes: ``entities``, ``regions``. Calls: ``get_entities``. run: runs work that grows with the scene
    (conversion, application), in the order given: at once on the executor, or on a thread. on_change is called there,
    and before it on_delta(delta, paged) with each delta that was applied.
    """

    def __init__(
        self,
        node: LodestarNode,
        on_change: Callable[[], None] | None = None,
        run: Callable[[Callable[[], None]], None] = _at_once,
        on_delta: Callable[[SceneDelta, bool], None] | None = None,
    ) -> None:
        self.mirror = mirror_parts.scene_mirror()
        self._node, self._on_change, self._run = node, on_change, run
        self._on_delta = on_delta
        self._region_reach = node.shared.region_reach
        self._lock = threading.Lock()
        self._pager = Pager(
            node,
            GetEntities,
            "get_entities",
            lambda: self.mirror.since,
            _Page,
            lambda pages: run(lambda: self._fill(pages)),
            include_archived=True,
        )
        node.listen(msg.SceneDelta, "entities", lambda delta: run(lambda: self._apply(delta)), qos.EVENT)
        node.listen(
            msg.RegionArray, "regions", lambda regions: run(lambda: self._set_regions(regions)), qos.LATCHED
        )
        node.diagnostics.value("scene.revision", lambda: self.mirror.revision)
        node.diagnostics.value("scene.entities", lambda: len(self.mirror.entities))
        node.diagnostics.value("scene.pagings", lambda: self._pager.fills)
        self._refill = self._pager.fill if run is _at_once else self._pager.want
        self._pager.fill()  # earlier deltas are unknown

    @property
    def is_filled(self) -> bool:
        """Return whether the scene was paged once."""
        return self._pager.fills > 0

    def snapshot(self) -> SceneMirror:
        """A copy for another thread."""
        with self._lock:
            return self.mirror.snapshot()

    def _apply(self, message: msg.SceneDelta) -> None:
        delta = self._converted(lambda: scene_from_msg(message), "entities")
        if delta is None:
            return
        with self._lock:
            applied = self.mirror.apply(delta)
        if applied:
            self._changed([delta], False)
        else:
            self._refill()

    def _set_regions(self, message: msg.RegionArray) -> None:
        converted = self._converted(lambda: regions_from_msg(message, self._region_reach), "regions")
        if converted is not None:
            with self._lock:
                self.mirror.set_regions(*converted)

    def _fill(self, pages: list[_Page]) -> None:
        convert = lambda page: scene_from_msg(page.response.delta, page.response.vectors)  # noqa: E731
        deltas = self._converted(lambda: [convert(page) for page in pages], "entities")
        if deltas is None:
            self._refill()
            return
        with self._lock:
            self.mirror.fill(deltas)
        self._changed(deltas, True)

    def _converted(self, convert: Callable[[], T], topic: str) -> T | None:
        """Return the conversion's result; None for a malformed message, which is counted."""
        try:
            return convert()
        except (BadMessage, ValueError) as error:
            self._node.diagnostics.input(topic).drop("malformed")
            self._node.get_logger().warning(f"{topic}: {error}", throttle_duration_sec=5.0)
            return None

    def _changed(self, deltas: list[SceneDelta], paged: bool) -> None:
        if self._on_delta is not None:
            for delta in deltas:
                self._on_delta(delta, paged)
        if self._on_change is not None:
            self._on_change()


class InstanceClient:
    """Pass on every delta of the instances, and the pages that fill a gap, on the executor.

    on_whole(session, ids): called after pages with all instances. Subscribes: ``instances``.
    Calls: ``get_instances``.
    """

    def __init__(
        self,
        node: LodestarNode,
        on_delta: Callable[[InstanceDelta], None],
        on_whole: Callable[[str, list[int]], None],
    ) -> None:
        self._on_delta, self._on_whole = on_delta, on_whole
        self._revision = 0
        self._session = ("", 0)
        self._all_due = True  # not all instances of the current session were paged yet
        self._pager = Pager(
            node,
            GetInstances,
            "get_instances",
            lambda: 0 if self._all_due else self._revision,
            lambda response: instances_from_msg(response.instances),
            self._on_pages,
        )
        node.listen(msg.InstanceArray, "instances", self._on_message, qos.EVENT, stamped=True)
        node.diagnostics.value("instances.pagings", lambda: self._pager.fills)
        self._pager.fill()

    def restart(self) -> None:
        """Page everything again after the next delta; from any thread."""
        self._revision, self._all_due = 0, True

    def _on_message(self, message: msg.InstanceArray) -> None:
        delta = instances_from_msg(message)
        session = (delta.session_id, delta.map_id)
        if session != self._session:
            self._session, self._revision, self._all_due = session, 0, True
            self._pager.fill()
        gap = delta.previous_revision > self._revision
        if gap:
            self._pager.fill()  # from the revision before the gap
        else:
            self._revision = max(self._revision, delta.revision)
        self._on_delta(delta)  # a delta is complete for the instances in it

    def _on_pages(self, pages: list[InstanceDelta]) -> None:
        for page in pages:
            self._session = (page.session_id, page.map_id)
            self._revision = max(self._revision, page.revision)
            self._on_delta(page)
        if pages and pages[0].previous_revision == 0:
            self._all_due = False
            self._on_whole(pages[0].session_id, [instance.id for page in pages for instance in page.updated])
