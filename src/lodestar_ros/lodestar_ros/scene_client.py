"""Clients that follow the scene dictionary and the instances."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lodestar.floors.records import Building
from lodestar.mapping.follower import Part
from lodestar.mapping.instances.records import InstanceDelta
from lodestar.scene.floor_mirrors import FloorMirrors
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg
from lodestar_interfaces.srv import GetInstances
from lodestar_ros import qos
from lodestar_ros.building_input import BuildingInput
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_regions import regions_from_msg
from lodestar_ros.conversions_scene import instances_from_msg, scene_from_msg
from lodestar_ros.delta_client import DeltaClient, Parts, entities_client
from lodestar_ros.node import LodestarNode


class SceneClient:
    """Keeps two copies (mirrors) of the scene, one of all floors and one of the robot's floor.

    They stay complete if messages are lost or late.

    Subscribes: ``entities``, ``regions``, ``mapping/building``. Calls: ``get_entities``. run: runs work that
    grows with the scene (conversion, application), in the order given: at once on the executor, or on a
    thread. on_delta(delta, paged): called there with each applied delta; paged: it came from
    ``get_entities``. on_building(building): called there with new floors, after the mirrors were updated.
    archived: mirror archived entities too.
    """

    def __init__(
        self,
        node: LodestarNode,
        run: Callable[[Callable[[], None]], None] = lambda work: work(),
        on_delta: Callable[[SceneDelta, bool], None] | None = None,
        *,
        archived: bool = False,
        on_building: Callable[[Building], None] | None = None,
    ) -> None:
        self._mirrors = FloorMirrors(archived)
        self._rooms_of = 0.0  # stamp of the grid from which the newest rooms were found
        self.is_filled = False  # whether all pages were received once
        self._node, self._on_delta, self._on_building = node, on_delta, on_building
        self._region_reach = node.shared.region_reach
        self._lock = threading.Lock()
        self._stream = entities_client(
            node, "get_entities", lambda parts: run(lambda: self._apply(parts)), archived=archived
        )
        node.listen(msg.SceneDelta, "entities", self._stream.hear, qos.EVENT)
        node.listen(
            msg.RegionArray, "regions", lambda regions: run(lambda: self._set_regions(regions)), qos.LATCHED
        )
        self.floors = BuildingInput(node, lambda building: run(lambda: self._take_building(building)))
        node.diagnostics.value("scene.revision", lambda: self.mirror.revision)
        node.diagnostics.value("scene.entities", lambda: len(self.mirror.entities))
        node.diagnostics.value("scene.pagings", lambda: self._stream.follower.fills)

    @property
    def mirror(self) -> SceneMirror:
        """Return the scene of all floors."""
        return self._mirrors.whole

    @property
    def here(self) -> SceneMirror:
        """Return the scene of the robot's floor; each floor has its own mirror. With one known floor it is
        the whole scene.
        """
        return self._mirrors.here

    def snapshot(self) -> SceneMirror:
        """Return a copy of the robot's floor's scene, for another thread."""
        with self._lock:
            return self._mirrors.here.snapshot()

    def _take_building(self, building: Building) -> None:
        with self._lock:
            self._mirrors.follow(building, keeps_rooms=self._rooms_of >= building.since > 0.0)
        if self._on_building is not None:
            self._on_building(building)

    def _apply(self, parts: Parts) -> None:
        try:
            deltas = [(part, scene_from_msg(one)) for part, one in parts if part is not Part.OVERTAKEN]
        except (BadMessage, ValueError) as error:
            self._tell_malformed("entities", error)
            self._stream.restart()
            return
        with self._lock:
            for part, delta in deltas:
                self._mirrors.take(delta, first=part is Part.FIRST)
            self.is_filled |= any(part is Part.FIRST for part, _ in deltas)
        if self._on_delta is not None:
            for part, delta in deltas:
                self._on_delta(delta, part is not Part.NEXT)

    def _set_regions(self, message: msg.RegionArray) -> None:
        try:
            regions = regions_from_msg(message, self._region_reach)
        except (BadMessage, ValueError) as error:
            self._tell_malformed("regions", error)
            return
        with self._lock:
            self._mirrors.set_regions(*regions)
            self._rooms_of = stamp_from_msg(message.header.stamp)

    def _tell_malformed(self, topic: str, error: Exception) -> None:
        self._node.diagnostics.input(topic).drop("malformed")
        self._node.get_logger().warning(f"{topic}: {error}", throttle_duration_sec=5.0)


class InstanceClient:
    """Passes on deltas of the instances in order, on the executor; missed ones are fetched in pages.

    on_whole(session, ids): called after pages that hold all instances. Subscribes: ``instances``.
    Calls: ``get_instances``.
    """

    def __init__(
        self,
        node: LodestarNode,
        on_delta: Callable[[InstanceDelta], None],
        on_whole: Callable[[str, list[int]], None],
    ) -> None:
        self._on_delta, self._on_whole = on_delta, on_whole
        stream = DeltaClient(
            node,
            GetInstances,
            "get_instances",
            lambda page: (instances_from_msg(page.instances), page.until_id),
            self._take,
        )
        self.restart = stream.restart
        node.listen(
            msg.InstanceArray,
            "instances",
            lambda message: stream.hear(instances_from_msg(message)),
            qos.EVENT,
            stamped=True,
        )
        node.diagnostics.value("instances.pagings", lambda: stream.follower.fills)

    def _take(self, parts: Parts) -> None:
        for _, delta in parts:
            self._on_delta(delta)
        if any(part is Part.FIRST for part, _ in parts):
            pages = [delta for part, delta in parts if part in (Part.FIRST, Part.PAGE)]
            known = {instance.id for page in pages for instance in page.updated}
            gone = {i for page in pages for i in (*page.removed, *(merge.loser for merge in page.merges))}
            self._on_whole(pages[0].session_id, sorted(known - gone))
