"""A client of `follow_directive` that is in the graph only while it has something to send or to wait for.

A directive does not outlive its clients (`client_watch.py`), and every client that is in the graph at its start counts.
A client that were always there would keep the directives of others going after their own clients are gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class GoalEars:
    """Listeners to one goal. feedback: each one; result: its end; failure(text): no result will come."""

    feedback: Callable[[FollowDirective.Feedback], object]
    result: Callable[[FollowDirective.Result], object]
    failure: Callable[[str], object]


class TextEars:
    """Tells texts of feedback when they change."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._told: tuple[str, ...] = ()

    def hear(self, feedback: FollowDirective.Feedback) -> None:
        """Take in feedback."""
        for text in (feedback.unseen, feedback.text):
            if text and text not in self._told:
                self._tell(text)
        self._told = (feedback.unseen, feedback.text)


@dataclass(eq=False)
class _Entry:
    """A goal with its listeners. until: steady time until which it waits for a goal selector."""

    goal: FollowDirective.Goal
    ears: GoalEars
    until: float
    sent: SentGoal | None = None


class DirectiveSender:
    """Sends goals and tells what came of them. All on the executor. Subscribes: ``heartbeat``."""

    def __init__(self, node: LodestarNode, steady: Callable[[], float] = time.monotonic) -> None:
        self._node, self._steady = node, steady
        self._client: ActionClient | None = None
        self._waiting: list[_Entry] = []
        self._open: list[_Entry] = []
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

    def send(self, goal: FollowDirective.Goal, ears: GoalEars) -> None:
        """Send a goal as soon as a goal selector is there."""
        if len(self._waiting) >= MOST:
            ears.failure(f"{MOST} texts wait for the goal selector already; say it again when it is up")
            return
        self._waiting.append(_Entry(goal, ears, self._steady() + SERVER_PATIENCE))
        self._work()

    def cancel(self) -> int:
        """Cancel every goal, whose end is still told; return how many that are. What waits is not sent."""
        waiting, self._waiting = self._waiting, []
        for entry in waiting:
            entry.ears.failure("cancelled before it was sent")
        for entry in self._open:
            assert entry.sent is not None
            entry.sent.cancel()
        return len(waiting) + len(self._open)

    def close(self) -> None:
        """Cancel what is under way: the robot stops."""
        for entry in self._open:
            assert entry.sent is not None
            entry.sent.cancel()
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
            for entry in waiting:
                self._begin(entry)
        late = [entry for entry in self._waiting if now > entry.until]
        self._waiting = [entry for entry in self._waiting if entry not in late]
        for entry in late:
            entry.ears.failure("no goal selector answered; start the stack, then say it again")
        for entry in [
            one for one in self._open if one.sent is not None and one.sent.seek() > RECEIPT_TIMEOUT
        ]:
            assert entry.sent is not None
            entry.sent.cancel()  # it may have come although its answer is missing
            self._open.remove(entry)
            entry.ears.failure(
                f"the goal selector did not answer within {RECEIPT_TIMEOUT:.0f} s; say it again"
            )
        if self._open and now - self._heard > SILENCE_TIMEOUT:
            self._lose()

    def _on_beat(self, beat: Heartbeat) -> None:
        if self._open and self._start_id and beat.start_id != self._start_id:
            self._lose()
        self._heard, self._start_id = self._steady(), beat.start_id

    def _lose(self) -> None:
        """Give up every goal: the goal selector that had them is gone."""
        lost, self._open = self._open, []
        for entry in lost:
            assert entry.sent is not None
            entry.sent.cancel()  # it may be alive, with a connection in one direction only
            entry.ears.failure(
                "the goal selector is gone, and the motion gate has stopped the robot; when it is back: python -m "
                "lodestar_ros.hold off, then say it again"
            )

    def _begin(self, entry: _Entry) -> None:
        assert self._client is not None

        def hear(told: Any) -> None:
            entry.ears.feedback(told.feedback)

        entry.sent = SentGoal(self._client, FollowDirective, entry.goal, hear)
        self._open.append(entry)
        self._heard = self._steady()
        entry.sent.answer.add_done_callback(lambda answer: self._accepted(entry, answer))

    def _accepted(self, entry: _Entry, answer: Any) -> None:
        if entry not in self._open:
            return
        if answer.exception() is not None or not answer.result().accepted:
            self._open.remove(entry)
            entry.ears.failure("the goal selector refused the goal; see its log for the reason")
            return
        answer.result().get_result_async().add_done_callback(lambda result: self._ended(entry, result))

    def _ended(self, entry: _Entry, result: Any) -> None:
        if entry not in self._open:
            return
        self._open.remove(entry)
        if result.exception() is not None:
            entry.ears.failure(f"the result was lost: {result.exception()}")
        else:
            entry.ears.result(result.result().result)
