"""Clients of the experts' `propose` actions, called in parallel and without waiting."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.agent.errands.commands import RequestProposals
from lodestar.experts.protocol import Proposal, Rejection, RejectionReason
from lodestar.experts.registry import expert_spec
from lodestar_interfaces.action import ProposeGoal
from lodestar_ros.conversions_agent import answer_from_result, request_to_goal

#: Seconds of real time. A live server accepts within milliseconds, under load within seconds.
ACCEPT_PATIENCE = 5.0


class ExpertClients:
    """Sends requests to all experts in parallel, and calls `on_answer` on the executor with each answer.

    An expert that is not running is reported as a rejection at once. A new request cancels the expert's
    previous one. Call `check` often: it reports a rejection if an expert does not accept a request, for
    example because it was killed, or disappears after accepting one. The restarted expert can then be asked.
    """

    def __init__(
        self, node: Node, experts: tuple[str, ...], on_answer: Callable[[Proposal | Rejection], None]
    ) -> None:
        self._on_answer = on_answer
        self._clients = {
            name: ActionClient(node, ProposeGoal, f"{expert_spec(name).node}/propose") for name in experts
        }
        self._open: dict[str, Any] = {}
        # expert -> epoch and send time of its unaccepted request
        self._untaken: dict[str, tuple[int, float]] = {}
        self._epochs: dict[str, int] = {}  # expert -> epoch of its accepted request

    def ask(self, command: RequestProposals) -> None:
        """Send the request to every expert that the command names."""
        epoch = command.request.epoch
        goal = request_to_goal(command.request)
        for name in command.experts:
            before = self._open.pop(name, None)
            if before is not None:
                before.cancel_goal_async()
            if not self._clients[name].server_is_ready():
                self._reject(name, epoch, RejectionReason.NO_DATA, f"{name}_expert is not up")
                continue
            self._untaken[name] = epoch, time.monotonic()
            future = self._clients[name].send_goal_async(goal)
            future.add_done_callback(lambda done, name=name: self._on_accepted(name, epoch, done))

    def check(self) -> None:
        """Report rejections of experts that did not accept in time or have disappeared; call this regularly."""
        now = time.monotonic()
        for name, (epoch, sent) in list(self._untaken.items()):
            if now - sent > ACCEPT_PATIENCE:
                del self._untaken[name]
                self._reject(name, epoch, RejectionReason.NO_DATA, f"{name}_expert does not take questions")
        for name in [name for name in self._open if not self._clients[name].server_is_ready()]:
            del self._open[name]
            self._reject(name, self._epochs[name], RejectionReason.NO_DATA, f"{name}_expert went away")

    def _on_accepted(self, name: str, epoch: int, future: Any) -> None:
        handle = future.result() if future.exception() is None else None
        if handle is not None and not handle.accepted:
            handle = None
        if self._untaken.get(name, (0, 0.0))[0] != epoch:  # a rejection or a newer request has replaced it
            if handle is not None:
                handle.cancel_goal_async()
            return
        del self._untaken[name]
        if handle is None:
            self._reject(name, epoch, RejectionReason.UNKNOWN, f"{name}_expert refused the request")
            return
        self._open[name], self._epochs[name] = handle, epoch
        handle.get_result_async().add_done_callback(lambda done: self._on_result(name, epoch, handle, done))

    def _on_result(self, name: str, epoch: int, handle: Any, future: Any) -> None:
        if self._open.get(name) is handle:
            del self._open[name]
        if future.exception() is not None:
            self._reject(name, epoch, RejectionReason.UNKNOWN, str(future.exception()))
            return
        self._on_answer(answer_from_result(future.result().result, name, epoch))

    def _reject(self, name: str, epoch: int, reason: RejectionReason, message: str) -> None:
        self._on_answer(Rejection(name, epoch, reason, message))
