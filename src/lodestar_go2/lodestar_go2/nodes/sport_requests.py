"""Numbered requests to the robot's sport service, its answers, and the guard's confirmations."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rclpy.task import Future
from std_msgs.msg import Int64
from unitree_api.msg import Request, Response

from lodestar_go2 import conversions
from lodestar_go2.sport import ID_BLOCK, SportApi, SportRequest
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode

NOT_IMPLEMENTED = 3203  # status of a request that the firmware does not have (unitree_sdk2)
SPORT_PATIENCE = 6.0  # s for the answers to a request and for its effect: to stand up takes 2 s; chosen
SPORT_SILENCE = 2.0  # s without an answer to requests to stop, after which the service counts as deaf; chosen


@dataclass(eq=False)
class _Asked:
    """Requests sent for a person's call.

    open: unanswered numbers; code: status of a refusal; until: deadline, seconds of the steady clock.
    """

    open: set[int]
    is_seen: Callable[[], bool]
    until: float
    future: Future
    code: int = 0

    def outcome(self, now: float) -> str | None:
        """Return why the requests failed; "" if they succeeded, None if that is not known yet."""
        if self.code:
            return f"the sport service refused it with status {self.code}"
        if not self.open and self.is_seen():
            return ""
        if now < self.until:
            return None
        return "the sport service does not answer" if self.open else "the robot was not seen to do it"


class SportRequests:
    """Sends requests and waits for their answers. on_heard: called when the guard confirms one of them.

    Publishes: ``api/sport/request``. Subscribes: ``api/sport/response``, ``go2_guard/heard``.
    """

    def __init__(self, node: LodestarNode, on_heard: Callable[[], None]) -> None:
        # a random block of numbers, so that answers to an earlier process of the node do not count
        self._first = self._sent = random.getrandbits(40) * ID_BLOCK
        self._node, self._on_heard = node, on_heard
        self._asked: list[_Asked] = []
        self._refused: dict[int, int] = {}  # request -> status of its newest refusal
        self._unanswered: float | None = None  # steady time of the first stop since the newest answer
        self._requests = node.create_publisher(Request, "api/sport/request", qos.EVENT)
        node.listen(Response, "api/sport/response", self._on_response, qos.EVENT)
        node.listen(Int64, "go2_guard/heard", self._hear, qos.COMMAND)

    def send(self, requests: Iterable[SportRequest]) -> set[int]:
        """Send the requests in order; return their numbers."""
        first = self._sent + 1
        for request in requests:
            self._sent += 1
            self._requests.publish(conversions.request_to_msg(request, self._sent))
            if request.api is not SportApi.MOVE and self._unanswered is None:
                self._unanswered = time.monotonic()
        return set(range(first, self._sent + 1))

    def ask(self, requests: Iterable[SportRequest], is_seen: Callable[[], bool]) -> Future:
        """Send requests; return a future of why they failed, "" = they were done and `is_seen` is true."""
        until, future = time.monotonic() + SPORT_PATIENCE, Future(executor=self._node.executor)
        self._asked.append(_Asked(self.send(requests), is_seen, until, future))
        return future

    def check(self) -> None:
        """Complete the futures whose outcome is known."""
        now = time.monotonic()
        for asked in list(self._asked):
            outcome = asked.outcome(now)
            if outcome is not None:
                self._asked.remove(asked)
                asked.future.set_result(outcome)

    @property
    def troubles(self) -> list[str]:
        """Return in words which requests the sport service refuses, and whether it does not answer."""
        found = [
            f"the sport service refuses request {api} with status {code}"
            for api, code in self._refused.items()
        ]
        if self._unanswered is not None and time.monotonic() - self._unanswered > SPORT_SILENCE:
            found.append("the sport service does not answer")
        return found

    def _on_response(self, message: Response) -> None:
        identity, code = message.header.identity, message.header.status.code
        if not self._first < identity.id <= self._sent:
            return
        self._unanswered = None
        if identity.api_id == SportApi.SWITCH_GAIT and code == NOT_IMPLEMENTED:
            code = 0  # newer firmware has no such request: it climbs with its own gait
        self._refused.pop(identity.api_id, None)
        if code:
            self._refused[identity.api_id] = code
        for asked in self._asked:
            if identity.id in asked.open:
                asked.open.discard(identity.id)
                asked.code = asked.code or code

    def _hear(self, number: Int64) -> None:
        if self._first < number.data <= self._sent:
            self._on_heard()
