"""A follower of the scene dictionary: applies deltas, pages what it missed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType

from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg
from lodestar_interfaces.srv import GetEntities
from lodestar_ros import qos
from lodestar_ros.conversions_scene import scene_from_msg
from lodestar_ros.node import LodestarNode

RETRY = 0.5  # s
ANSWER_TIMEOUT = 5.0  # s after which a page is taken for lost
PAGE_SIZE = 256


class SceneClient:
    """Keeps a mirror of the scene. A late start and a gap are filled by paging, without waiting.

    Subscribes: ``entities``. Calls: ``get_entities``. on_change is called on the executor.
    """

    def __init__(self, node: LodestarNode, on_change: Callable[[], None] | None = None) -> None:
        self.mirror = SceneMirror()
        self.pagings = 0  # times a gap was filled
        self._on_change = on_change
        self._lock = threading.Lock()
        self._behind = True  # until the first paging, nobody knows what was before
        self._pages: list[SceneDelta] = []
        self._since = 0
        self._asked_at = 0.0
        self._waiting: Any = None
        self._client = node.create_client(GetEntities, "get_entities")
        node.listen(msg.SceneDelta, "entities", self._on_delta, qos.EVENT)
        node.diagnostics.value("scene.revision", lambda: self.mirror.revision)
        node.diagnostics.value("scene.pagings", lambda: self.pagings)
        node.create_timer(RETRY, self._page, clock=Clock(clock_type=ClockType.STEADY_TIME))

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
            self._behind = True
            self._page()

    def _page(self) -> None:
        """Ask for the next page while something is missing."""
        if self._waiting is not None and time.monotonic() - self._asked_at > ANSWER_TIMEOUT:
            self._waiting, self._pages = None, []
        if not self._behind or self._waiting is not None or not self._client.service_is_ready():
            return
        if not self._pages:
            self._since = self.mirror.revision
        request = GetEntities.Request(
            since_revision=self._since, page=len(self._pages), page_size=PAGE_SIZE, include_archived=True
        )
        self._asked_at = time.monotonic()
        future = self._waiting = self._client.call_async(request)
        future.add_done_callback(self._on_page)

    def _on_page(self, future: Any) -> None:
        if future is not self._waiting:
            return
        self._waiting = None
        response = future.result() if future.exception() is None else None
        if response is None or response.error_code != 0:
            self._pages = []  # the timer starts over
            return
        page = scene_from_msg(response.delta, response.vectors)
        if self._pages and page.revision != self._pages[0].revision:
            self._pages = []  # the scene changed between two pages
            self._page()
            return
        self._pages.append(page)
        if len(self._pages) < response.page_count:
            self._page()
            return
        with self._lock:
            self.mirror.fill(self._pages)
        self._pages, self._behind = [], False
        self.pagings += 1
        self._changed()

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change()
