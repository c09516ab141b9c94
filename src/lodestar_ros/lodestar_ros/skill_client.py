"""Client of `run_skill`: a user's node carries skills out, is never waited for, and is told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.agent.errands.commands import RunSkill, SkillEnd
from lodestar_interfaces.action import RunSkill as RunSkillAction
from lodestar_ros.conversions_world import trace_to_msg
from lodestar_ros.sent_goal import SentGoal

ACCEPT_PATIENCE = 5.0  # s of real time in which a live server accepts a goal
_DOWN = "no node serves run_skill; start yours"


class SkillClient:
    """Has one skill carried out at a time; `on_end` is called on the executor with its ticket and how it ended.

    A node that is not up, that does not accept or that goes away has failed.
    """

    def __init__(self, node: Node, on_end: Callable[[int, SkillEnd], None]) -> None:
        self._on_end = on_end
        self._client = ActionClient(node, RunSkillAction, "run_skill")
        self._ticket = 0  # of the skill that is carried out; 0 = none
        self._sent: SentGoal | None = None
        self._begun_at = 0.0

    def run(self, command: RunSkill) -> None:
        """Have a skill carried out; one that is under way is cancelled."""
        self.cancel(self._ticket)
        ticket = command.ticket
        self._ticket, self._begun_at = ticket, time.monotonic()
        if not self._client.server_is_ready():
            self._end(ticket, SkillEnd(False, _DOWN))
            return
        goal = RunSkillAction.Goal(trace=trace_to_msg(command.trace))
        self._sent = SentGoal(self._client, RunSkillAction, goal, lambda feedback: None)
        self._sent.answer.add_done_callback(lambda done: self._on_accepted(ticket, done))

    def cancel(self, ticket: int) -> None:
        """Stop a skill, if it is the one that is carried out; its end is not told."""
        if ticket and ticket == self._ticket:
            self._ticket, sent, self._sent = 0, self._sent, None
            if sent is not None:
                sent.cancel()

    def stop(self) -> None:
        """Stop whatever is carried out, at once; its end is not told."""
        self.cancel(self._ticket)

    def check(self) -> None:
        """Tell of a node that does not accept or has gone; call this a few times a second."""
        if not self._ticket or self._sent is None:
            return
        if not self._client.server_is_ready():
            self._end(self._ticket, SkillEnd(False, "the node that carried it out went away"))
        elif not self._sent.answer.done() and time.monotonic() - self._begun_at > ACCEPT_PATIENCE:
            self._sent.cancel()
            self._end(self._ticket, SkillEnd(False, "the node that serves run_skill takes no goals"))

    def _on_accepted(self, ticket: int, future: Any) -> None:
        if ticket != self._ticket:
            return
        handle = future.result() if future.exception() is None else None
        if handle is None or not handle.accepted:
            self._end(ticket, SkillEnd(False, "the node that serves run_skill refused it"))
            return
        handle.get_result_async().add_done_callback(lambda done: self._on_result(ticket, done))

    def _on_result(self, ticket: int, future: Any) -> None:
        if ticket != self._ticket:
            return
        if future.exception() is not None:
            self._end(ticket, SkillEnd(False, str(future.exception())))
            return
        result = future.result().result
        code = result.error_code
        why = result.error_msg or (f"error code {code}" if code else "")
        self._end(ticket, SkillEnd(code == RunSkillAction.Result.NONE and not why, why))

    def _end(self, ticket: int, end: SkillEnd) -> None:
        self._ticket, self._sent = 0, None
        self._on_end(ticket, end)
