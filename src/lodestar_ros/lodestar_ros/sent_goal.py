"""A goal of an action that can be cancelled from the moment it is sent.

A server may receive a client's requests seconds before it discovers the client's reader, and answers in between are
lost ("client will not receive response"). The goal then runs, and a client that waits for the answer could not cancel
it. So the goal's id is created here: feedback with this id proves the acceptance, and the goal can be cancelled
without an answer.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID


class SentGoal:
    """`answer` completes with the goal's handle as soon as the server has answered or sent feedback of the goal.
    Everything happens on the executor.

    on_feedback: called with every feedback message of this goal. identity: 16 bytes, by which another process finds the
    goal again (see `goal_of`); None = random ones.
    """

    def __init__(
        self,
        client: ActionClient,
        action: Any,
        goal: Any,
        on_feedback: Callable[[Any], None],
        identity: bytes | None = None,
    ) -> None:
        self.answer: Future = Future()
        self._handle = goal_of(client, action, identity or uuid.uuid4().bytes)
        self._on_feedback = on_feedback
        sent = client.send_goal_async(goal, feedback_callback=self._hear, goal_uuid=self._handle.goal_id)
        sent.add_done_callback(self._answered)

    def cancel(self) -> Future:
        """Cancel the goal, whether it was answered or not."""
        return self._handle.cancel_goal_async()

    def _hear(self, message: Any) -> None:
        if not self.answer.done():
            self.answer.set_result(self._handle)
        self._on_feedback(message)

    def _answered(self, sent: Future) -> None:
        if self.answer.done():
            return
        error = sent.exception()
        if error is not None:
            self.answer.set_exception(error)
        else:
            self.answer.set_result(sent.result())


def goal_of(client: ActionClient, action: Any, identity: bytes) -> ClientGoalHandle:
    """Return the handle of a goal that was sent under this identity, also by a process that is dead."""
    accepted = action.Impl.SendGoalService.Response(accepted=True)
    return ClientGoalHandle(client, UUID(uuid=list(identity)), accepted)
