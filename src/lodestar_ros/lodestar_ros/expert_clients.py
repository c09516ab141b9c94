"""Asks the experts, all at once and without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.agent.commands import RequestProposals
from lodestar.experts.protocol import Proposal, Rejection, RejectionReason
from lodestar_interfaces.action import ProposeGoal
from lodestar_ros.conversions_agent import answer_from_result, request_to_goal


class ExpertClients:
    """One action client per expert; `on_answer` is called on the executor with each answer.

    An expert that is not up is answered for at once. One that is asked anew is told to drop the question before.
    """

    def __init__(
        self, node: Node, experts: tuple[str, ...], on_answer: Callable[[Proposal | Rejection], None]
    ) -> None:
        self._on_answer = on_answer
        self._clients = {name: ActionClient(node, ProposeGoal, f"{name}_expert/propose") for name in experts}
        self._open: dict[str, Any] = {}

    def ask(self, command: RequestProposals) -> None:
        """Send the request to every expert that it names."""
        epoch = command.request.epoch
        goal = request_to_goal(command.request)
        for name in command.experts:
            before = self._open.pop(name, None)
            if before is not None:
                before.cancel_goal_async()
            if not self._clients[name].server_is_ready():
                self._reject(name, epoch, RejectionReason.NO_DATA, f"{name}_expert is not up")
                continue
            future = self._clients[name].send_goal_async(goal)
            future.add_done_callback(lambda done, name=name: self._on_accepted(name, epoch, done))

    def _on_accepted(self, name: str, epoch: int, future: Any) -> None:
        handle = future.result() if future.exception() is None else None
        if handle is None or not handle.accepted:
            self._reject(name, epoch, RejectionReason.UNKNOWN, f"{name}_expert refused the request")
            return
        self._open[name] = handle
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
