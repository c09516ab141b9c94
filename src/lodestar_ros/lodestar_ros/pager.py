"""Fills gaps in a stream of deltas by paging a service, without waiting."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

RETRY = 0.5  # s
ANSWER_TIMEOUT = 2.0  # s after which a page counts as lost
PAGE_SIZE = 256


class Pager:
    """Fetch all pages since a revision, from the start again if the revision changes meanwhile.

    read(response) returns the page as a record with a `revision`. on_pages gets them all at once, on the executor.
    """

    def __init__(
        self,
        node: Node,
        service_type: Any,
        name: str,
        since: Callable[[], int],
        read: Callable[[Any], Any],
        on_pages: Callable[[list[Any]], None],
        **options: Any,
    ) -> None:
        self.fills = 0
        self._service_type, self._options = service_type, options
        self._since_now, self._read, self._on_pages = since, read, on_pages
        self._node = node
        self._client = node.create_client(service_type, name)
        self._wanted = False
        self._pages: list[Any] = []
        self._since = 0
        self._asked_at = 0.0
        self._waiting: Any = None
        node.create_timer(RETRY, self._page, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def fill(self) -> None:
        """Start fetching the missing pages, unless that is in progress."""
        self._wanted = True
        self._page()

    def want(self) -> None:
        """As `fill`, but from any thread; starts within `RETRY` seconds."""
        self._wanted = True

    def _page(self) -> None:
        if self._waiting is not None and time.monotonic() - self._asked_at > ANSWER_TIMEOUT:
            self._waiting, self._pages = None, []
        if not self._wanted or self._waiting is not None or not self._client.service_is_ready():
            return
        if not self._pages:
            self._since = self._since_now()
        request = self._service_type.Request(
            since_revision=self._since, page=len(self._pages), page_size=PAGE_SIZE, **self._options
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
            self._pages = []  # the timer restarts the fetch
            return
        try:
            page = self._read(response)
        except ValueError as error:
            self._pages = []
            self._node.get_logger().error(f"bad page from the service: {error}", throttle_duration_sec=5.0)
            return
        if self._pages and page.revision != self._pages[0].revision:
            self._pages = []  # the revision changed between two pages
            self._page()
            return
        self._pages.append(page)
        if len(self._pages) < response.page_count:
            self._page()
            return
        pages, self._pages, self._wanted = self._pages, [], False
        self.fills += 1
        self._on_pages(pages)
