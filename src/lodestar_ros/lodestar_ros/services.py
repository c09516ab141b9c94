"""Services whose requests are answered on a thread, and a blocking client for workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent import futures
from functools import partial
from types import MappingProxyType
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Codes, Mailbox, QueueWorker, refuse


class ServiceWorker:
    """Service that computes its answers one after another on a thread, so that the executor never waits.

    answer(request, response) returns the response; an error is written into the response, see `refuse`. submit: runs
    work in order on a thread of its owner; None = use a new thread that ends with the node.
    """

    def __init__(
        self,
        node: LodestarNode,
        service_type: Any,
        name: str,
        answer: Callable[[Any, Any], Any],
        codes: Codes = MappingProxyType({}),
        submit: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self._node = node
        self._answer, self._codes = answer, codes
        self._mailbox = Mailbox(node)
        if submit is None:
            worker: QueueWorker = QueueWorker(name, lambda work: work())
            node.on_close(worker.close)
            submit = worker.submit
        self._submit = submit
        group = ReentrantCallbackGroup()  # a request under way must not block the node's other callbacks
        self._service = node.create_service(service_type, name, self._on_request, callback_group=group)

    async def _on_request(self, request: Any, response: Any) -> Any:
        future = Future(executor=self._node.executor)
        self._submit(lambda: self._work(request, response, future))
        return await future

    def _work(self, request: Any, response: Any, future: Future) -> None:
        try:
            response = self._answer(request, response)
        except Exception as error:
            response = refuse(self._node, response, error, self._codes)
        self._mailbox.post(lambda: future.set_result(response))


class ServiceCaller:
    """Blocking client of a service for workers; the executor sends the requests."""

    PERIOD = 0.05  # s of real time between two checks for requests

    def __init__(self, node: LodestarNode, service_type: Any, name: str, patience: float) -> None:
        self._type, self._patience = service_type, patience
        self._client = node.create_client(service_type, name)
        self._waiting: deque[tuple[Any, futures.Future[Any]]] = deque()
        self._open: set[futures.Future[Any]] = set()
        self._closed = False
        node.steady_timer(self.PERIOD, self._send)

    def call(self, **fields: Any) -> Any:
        """Return the response to a request with these fields; None without an answer within `patience` s."""
        answer: futures.Future[Any] = futures.Future()
        self._open.add(answer)  # before `_closed` is read, because `close` may be called at any time
        try:
            if self._closed or not self._client.service_is_ready():
                return None
            self._waiting.append((self._type.Request(**fields), answer))
            return answer.result(self._patience)
        except (TimeoutError, futures.CancelledError):
            return None
        finally:
            self._open.discard(answer)

    def close(self) -> None:
        """Abort all waiting calls; call this before the workers that wait are closed."""
        self._closed = True
        for answer in list(self._open):
            answer.cancel()

    def _send(self) -> None:
        while self._waiting:
            request, answer = self._waiting.popleft()
            self._client.call_async(request).add_done_callback(partial(_give, answer))


def _give(answer: futures.Future[Any], given: Future) -> None:
    if not answer.cancelled():
        answer.set_result(given.result() if given.exception() is None else None)
