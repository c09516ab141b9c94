"""Followers of the scene dictionary and of the instances: the ROS shell around `Follower`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from lodestar.mapping.follower import PAGE_SIZE, Follower, Part, Request
from lodestar.mapping.records import InstanceDelta
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar.timing.stamps import Periodic
from lodestar_interfaces import msg
from lodestar_interfaces.srv import GetEntities, GetInstances
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_regions import regions_from_msg
from lodestar_ros.conversions_scene import instances_from_msg, scene_from_msg
from lodestar_ros.node import LodestarNode

RETRY = 0.5  # s between two looks at what is to be asked for
ANSWER_TIMEOUT = 2.0  # s after which a page counts as lost
SILENCE = 5.0  # s without news after which the owner is asked whether there are any; chosen
Parts = Sequence[tuple[Part, Any]]


class DeltaClient:
    """Follow a stream of deltas and page what is missing; nothing waits. All on the executor but `restart`.

    read(response): the page and the id of its cursor; raises ValueError. take(parts): applies them in their order.
    """

    def __init__(
        self,
        node: Node,
        service_type: Any,
        service: str,
        read: Callable[[Any], tuple[Any, int]],
        take: Callable[[Parts], None],
        **options: Any,
    ) -> None:
        self.follower: Follower[Any] = Follower()
        self._node, self._read, self._take = node, read, take
        self._make_request = partial(service_type.Request, page_size=PAGE_SIZE, **options)
        self._client = node.create_client(service_type, service)
        self._asked: tuple[Request, float] | None = (
            None  # the page on its way and the time (monotonic) of its request
        )
        self._news = time.monotonic()
        self._restart, self._restarts = False, Periodic(SILENCE)
        node.create_timer(RETRY, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._ask()

    def hear(self, delta: Any) -> None:
        """Take a delta of the stream, as a record or as its message."""
        self._news = time.monotonic()
        self._give(self.follower.hear(delta))

    def restart(self) -> None:
        """Page everything again within `SILENCE` seconds; from any thread."""
        self._restart = True

    def _look(self) -> None:
        now = time.monotonic()
        if self._asked is not None and now - self._asked[1] > ANSWER_TIMEOUT:
            self.follower.give_up(self._asked[0])
        if self._restart and self._restarts.due(now):
            self._restart = False
            self.follower.restart()
        elif now - self._news > SILENCE:
            self._news = now
            self.follower.doubt()
        self._ask()

    def _ask(self) -> None:
        if not self._client.service_is_ready():
            return
        request = self.follower.request()
        if request is not None:
            self._asked = request, time.monotonic()
            cursor = request.since
            message = self._make_request(since_revision=cursor.revision, since_id=cursor.id)
            self._client.call_async(message).add_done_callback(partial(self._on_answer, request))

    def _on_answer(self, request: Request, future: Any) -> None:
        try:
            page, until_id = self._read(future.result())
        except Exception as error:  # of the middleware, or a page that cannot be read: the timer asks again
            self.follower.give_up(request)
            self._node.get_logger().error(f"no page from the service: {error}", throttle_duration_sec=5.0)
        else:
            self._give(self.follower.answer(request, page, until_id))

    def _give(self, parts: Parts) -> None:
        if parts:
            self._take(parts)
        self._ask()


def entities_client(
    node: Node, service: str, take: Callable[[Parts], None], *, archived: bool
) -> DeltaClient:
    """Return a client that pages the scene as messages. archived: archived entities too."""
    return DeltaClient(
        node, GetEntities, service, lambda page: (page.delta, page.until_id), take, include_archived=archived
    )


class SceneClient:
    """Keep a mirror of the scene, whatever of it is lost or late.

    Subscribes: ``entities``, ``regions``. Calls: ``get_entities``. run: runs work that grows with the scene
    (conversion, application), in the order given: at once on the executor, or on a thread. on_delta(delta, paged) is
    called there with each delta that was applied. archived: mirror archived entities too.
    """

    def __init__(
        self,
        node: LodestarNode,
        run: Callable[[Callable[[], None]], None] = lambda work: work(),
        on_delta: Callable[[SceneDelta, bool], None] | None = None,
        *,
        archived: bool = False,
    ) -> None:
        self.mirror = SceneMirror(archived)
        self.is_filled = False  # everything was paged once
        self._node, self._on_delta = node, on_delta
        self._region_reach = node.shared.region_reach
        self._lock = threading.Lock()
        self._stream = entities_client(
            node, "get_entities", lambda parts: run(lambda: self._apply(parts)), archived=archived
        )
        node.listen(msg.SceneDelta, "entities", self._stream.hear, qos.EVENT)
        node.listen(
            msg.RegionArray, "regions", lambda regions: run(lambda: self._set_regions(regions)), qos.LATCHED
        )
        node.diagnostics.value("scene.revision", lambda: self.mirror.revision)
        node.diagnostics.value("scene.entities", lambda: len(self.mirror.entities))
        node.diagnostics.value("scene.pagings", lambda: self._stream.follower.fills)

    def snapshot(self) -> SceneMirror:
        """A copy for another thread."""
        with self._lock:
            return self.mirror.snapshot()

    def _apply(self, parts: Parts) -> None:
        try:
            deltas = [(part, scene_from_msg(one)) for part, one in parts if part is not Part.OVERTAKEN]
        except (BadMessage, ValueError) as error:
            self._tell_malformed("entities", error)
            self._stream.restart()
            return
        with self._lock:
            for part, delta in deltas:
                self.mirror.take(delta, first=part is Part.FIRST)
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
            self.mirror.set_regions(*regions)

    def _tell_malformed(self, topic: str, error: Exception) -> None:
        self._node.diagnostics.input(topic).drop("malformed")
        self._node.get_logger().warning(f"{topic}: {error}", throttle_duration_sec=5.0)


class InstanceClient:
    """Pass on the deltas of the instances and the pages of what was missed, on the executor, in their order.

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
