"""A client of `follow_directive` that is in the graph only while it has something to send or to wait for.

A directive does not outlive its clients (`client_watch.py`), and every client that is in the graph at its start counts.
A client that were always there would keep the directives of others going after their own clients are gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient

from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos
from lodestar_ros.directive_run import RECEIPT_TIMEOUT
from lodestar_ros.node import LodestarNode
from lodestar_ros.selector_watch import SILENCE_TIMEOUT
from lodestar_ros.sent_goal import SentGoal

PERIOD = 0.1  # s of real time between two looks at what is to be sent
SERVER_PATIENCE = 10.0  # s that a goal waits for a goal selector (real time)
MOST = 4  # goals that wait at once


class DirectiveSender:
    """Sends goals and tells what came of them. All on the executor.

    on_feedback(text) is called when the text changes, on_result(result) at the end of each goal, on_failure(text)
    where no result will come. Subscribes: ``heartbeat``.
    """

    def __init__(
        self,
        node: LodestarNode,
        on_feedback: Callable[[str], object],
        on_result: Callable[[FollowDirective.Result], None],
        on_failure: Callable[[str], object],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node, self._steady = node, steady
        self._on_feedback, self._on_result, self._on_failure = on_feedback, on_result, on_failure
        self._client: ActionClient | None = None
        self._waiting: list[tuple[float, FollowDirective.Goal]] = []  # with the time until which they wait
        self._open: list[SentGoal] = []
        self._told: tuple[str, ...] = ()
        self._heard, self._start_id = (
            0.0,
            "",
        )  # newest heartbeat of the goal selector, and which process sent it
        node.listen(Heartbeat, "heartbeat", self._on_beat, qos.COMMAND)
        node.steady_timer(PERIOD, self._work)
        node.on_close(self.close)

    @property
    def active(self) -> int:
        """Return the number of goals that are sent or wait."""
        return len(self._waiting) + len(self._open)

    def send(self, goal: FollowDirective.Goal) -> None:
        """Send a goal as soon as a goal selector is there."""
        if len(self._waiting) >= MOST:
            self._on_failure(f"{MOST} texts wait for the goal selector already; say it again when it is up")
            return
        self._waiting.append((self._steady() + SERVER_PATIENCE, goal))
        self._work()

    def close(self) -> None:
        """Cancel what is under way: the robot stops."""
        for sent in self._open:
            sent.cancel()
        self._open.clear()
        self._waiting.clear()

    def _work(self) -> None:
        if not self.active:
            if self._client is not None:
                self._client.destroy()
                self._client = None
            return
        if self._client is None:
            self._client = ActionClient(self._node, FollowDirective, "follow_directive")
        now = self._steady()
        if self._waiting and self._client.server_is_ready():
            waiting, self._waiting = self._waiting, []
            for _, goal in waiting:
                self._begin(goal)
        late = [entry for entry in self._waiting if now > entry[0]]
        self._waiting = [entry for entry in self._waiting if entry not in late]
        if late:
            self._on_failure("no goal selector answered; start the stack, then say it again")
        for sent in [one for one in self._open if one.seek() > RECEIPT_TIMEOUT]:
            sent.cancel()  # it may have come although its answer is missing
            self._open.remove(sent)
            self._on_failure(f"the goal selector did not answer within {RECEIPT_TIMEOUT:.0f} s; say it again")
        if self._open and now - self._heard > SILENCE_TIMEOUT:
            self._lose()

    def _on_beat(self, beat: Heartbeat) -> None:
        if self._open and self._start_id and beat.start_id != self._start_id:
            self._lose()
        self._heard, self._start_id = self._steady(), beat.start_id

    def _lose(self) -> None:
        """Give up every goal: the goal selector that had them is gone."""
        for sent in self._open:
            sent.cancel()  # it may be alive, with a connection in one direction only
        self._open.clear()
        self._on_failure(
            "the goal selector is gone, and the motion gate has stopped the robot; when it is back: python -m "
            "lodestar_ros.hold off, then say it again"
        )

    def _begin(self, goal: FollowDirective.Goal) -> None:
        assert self._client is not None
        sent = SentGoal(self._client, FollowDirective, goal, self._hear)
        self._open.append(sent)
        self._heard = self._steady()
        sent.answer.add_done_callback(lambda answer: self._accepted(sent, answer))

    def _accepted(self, sent: SentGoal, answer: Any) -> None:
        if sent not in self._open:
            return
        if answer.exception() is not None or not answer.result().accepted:
            self._open.remove(sent)
            self._on_failure("the goal selector refused the goal; see its log for the reason")
            return
        answer.result().get_result_async().add_done_callback(lambda result: self._ended(sent, result))

    def _ended(self, sent: SentGoal, result: Any) -> None:
        if sent not in self._open:
            return
        self._open.remove(sent)
        if result.exception() is not None:
            self._on_failure(f"the result was lost: {result.exception()}")
        else:
            self._on_result(result.result().result)

    def _hear(self, message: Any) -> None:
        for text in (message.feedback.unseen, message.feedback.text):
            if text and text not in self._told:
                self._on_feedback(text)
        self._told = (message.feedback.unseen, message.feedback.text)
