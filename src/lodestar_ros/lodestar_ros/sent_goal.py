"""A goal of an action that can be cancelled from the moment it is sent.

A server may receive a client's requests seconds before it discovers the client's reader, and answers in between are
lost ("client will not receive response"). The goal then runs, and a client that waits for the answer could not cancel
it. So the goal's id is created here: feedback with this id proves the acceptance, and the goal can be cancelled
without an answer. A goal that ends at once sends no feedback, so the result is also requested from the
server, by id.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID

ASK_AGAIN = 1.0  # s without an answer after which the result is requested from the server

Wait = Callable[[Any, float], bool]


class SentGoal:
    """A goal whose `answer` completes with its handle after the server's answer, its first feedback, or its result.

    Executor only. on_feedback: called with every feedback message of this goal. identity: 16 bytes, by which another
    process finds the goal again (see `goal_of`); None = random.
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
        self._began = self._asked = time.monotonic()
        sent = client.send_goal_async(goal, feedback_callback=self._hear, goal_uuid=self._handle.goal_id)
        sent.add_done_callback(self._answered)

    def cancel(self) -> Future:
        """Cancel the goal, with or without an answer."""
        return self._handle.cancel_goal_async()

    def seek(self) -> float:
        """Return the seconds since sending without an answer; 0 if it was answered. Call this a few times a second.

        Every ASK_AGAIN seconds the result is requested from the server. The reply that the goal is unknown
        changes nothing, because the goal may still be on its way.
        """
        now = time.monotonic()
        if self.answer.done():
            return 0.0
        if now - self._asked >= ASK_AGAIN:
            self._asked = now
            self._handle.get_result_async().add_done_callback(self._told)
        return now - self._began

    def wait(self, wait: Wait, seconds: float) -> bool:
        """Wait until `answer` is done, calling `seek` meanwhile; return whether it is done.

        wait: spins until a future is done or the given seconds have passed, and returns whether it is done.
        An early return means that the caller must stop.
        """
        end = time.monotonic() + seconds
        while (left := min(ASK_AGAIN, end - time.monotonic())) > 0.0:
            began = time.monotonic()
            if wait(self.answer, left) or time.monotonic() - began < left:
                break
            self.seek()
        return self.answer.done()

    def _told(self, result: Future) -> None:
        if self.answer.done() or result.exception() is not None:
            return
        if result.result().status != GoalStatus.STATUS_UNKNOWN:
            self.answer.set_result(self._handle)

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
    """Return the handle of a goal that was sent with this identity, possibly by a dead process."""
    accepted = action.Impl.SendGoalService.Response(accepted=True)
    return ClientGoalHandle(client, UUID(uuid=list(identity)), accepted)
