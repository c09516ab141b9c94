"""Client that follows a stream of deltas (numbered changes): the ROS shell around `Follower`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from lodestar.mapping.follower import PAGE_SIZE, Follower, Part, Request
from lodestar.timing.stamps import Periodic
from lodestar_interfaces.srv import GetEntities

RETRY = 0.5  # s between two checks for pages to request
ANSWER_TIMEOUT = 2.0  # s after which a page counts as lost
SILENCE = 5.0  # s without a delta after which the owner is asked for missed ones; chosen
Parts = Sequence[tuple[Part, Any]]


class DeltaClient:
    """Follows a stream of deltas and requests missed ones in pages, without blocking.

    Executor only, except `restart`. read(response): returns the page and the id of its cursor; raises
    ValueError. take(parts): applies them in order.
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
        # the requested page and the time (monotonic) of its request
        self._asked: tuple[Request, float] | None = None
        self._news = time.monotonic()
        self._restart, self._restarts = False, Periodic(SILENCE)
        node.create_timer(RETRY, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._ask()

    def hear(self, delta: Any) -> None:
        """Accept a delta of the stream, as a record or as its message."""
        self._news = time.monotonic()
        self._give(self.follower.hear(delta))

    def restart(self) -> None:
        """Request all pages again within `SILENCE` seconds. Safe to call from any thread."""
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
        except Exception as error:
            # error of the middleware, or an unreadable page: the timer requests it again
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
    """Return a client that requests the scene's pages as messages. archived: include archived entities."""
    return DeltaClient(
        node, GetEntities, service, lambda page: (page.delta, page.until_id), take, include_archived=archived
    )
