"""Calls from the web server's loop to ROS: the executor sends them, and the loop receives the answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.action import ActionClient

from lodestar_console.web.stack_port import Outcome
from lodestar_ros.node import LodestarNode
from lodestar_ros.sent_goal import SentGoal

PERIOD = 0.02  # s between two checks of the queue of calls


class NotThere(Exception):
    """No node serves the called service or action; the message gives the remedy."""


class Caller:
    """Clients of services and actions, callable from the web server's loop."""

    def __init__(self, node: LodestarNode) -> None:
        self._node = node
        self._posted: deque[Callable[[], None]] = deque()
        self._clients: dict[str, Any] = {}
        node.steady_timer(PERIOD, self._drain)

    def post(self, work: Callable[[], None]) -> None:
        """Schedule a function on the executor; callable from any thread."""
        self._posted.append(work)

    def _drain(self) -> None:
        while self._posted:
            try:
                self._posted.popleft()()
            except Exception as error:
                self._node.diagnostics.error(error)

    def offer_service(self, kind: Any, name: str) -> None:
        """Create the client of a service. Called on the executor, when the node starts."""
        self._clients[name] = self._node.create_client(kind, name)

    def offer_action(self, kind: Any, name: str) -> None:
        """Create the client of an action. Called on the executor, when the node starts."""
        self._clients[name] = kind, ActionClient(self._node, kind, name)

    async def service(self, name: str, request: Any, patience: float = 5.0) -> Any:
        """Call a service and return its response. Raises NotThere, asyncio.TimeoutError."""
        client = self._clients[name]
        if not client.service_is_ready():
            raise NotThere(f"nobody serves {name} yet; the stack may still be starting")
        answer = Answer()
        self.post(lambda: client.call_async(request).add_done_callback(answer.take))
        return await asyncio.wait_for(answer.future, patience)

    async def action(self, name: str, goal: Any, patience: float = 60.0) -> Any:
        """Send a goal and return its result. Raises as `service`.

        The goal is cancelled on a timeout, or if the calling task is cancelled.
        """
        kind, client = self._clients[name]
        if not client.server_is_ready():
            raise NotThere(f"nobody serves {name} yet; the stack may still be starting")
        answer, sent = Answer(), list[SentGoal]()

        def send() -> None:
            goal_sent = SentGoal(client, kind, goal, lambda _: None)
            sent.append(goal_sent)
            goal_sent.answer.add_done_callback(partial(_accepted, answer))

        self.post(send)
        try:
            return await asyncio.wait_for(answer.future, patience)
        except (asyncio.CancelledError, asyncio.TimeoutError):
            self.post(partial(_cancel, sent))
            raise


def _cancel(sent: list[SentGoal]) -> None:
    for goal in sent:
        goal.cancel()


def _accepted(answer: Answer, handle: Any) -> None:
    if handle.exception() is not None or not handle.result().accepted:
        answer.give(NotThere("it refused the request; try again"))
    else:
        handle.result().get_result_async().add_done_callback(answer.take)


class Answer:
    """A future of the web server's loop that the executor completes."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def take(self, told: Any) -> None:
        """Complete the future with the outcome of an rclpy future."""
        error = told.exception()
        value = told.result() if error is None else error
        self.give(getattr(value, "result", value))

    def give(self, value: Any) -> None:
        """Complete the future with a value or an exception; callable from any thread."""

        def settle() -> None:
            if self.future.done():
                return
            if isinstance(value, BaseException):
                self.future.set_exception(value)
            else:
                self.future.set_result(value)

        self._loop.call_soon_threadsafe(settle)


def refused(error_code: int, error_msg: str) -> Outcome:
    """Return the outcome of a request that a node refused."""
    return Outcome(False, error_msg or f"It was refused (error {error_code}).", str(error_code))
