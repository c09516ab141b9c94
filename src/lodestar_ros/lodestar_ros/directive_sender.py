"""A client of `follow_directive` whose goals have an owner: they end with this process (`client_watch.py`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.action import ActionClient

from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos
from lodestar_ros.client_watch import OwnedGoal
from lodestar_ros.directive_run import RECEIPT_TIMEOUT
from lodestar_ros.node import LodestarNode
from lodestar_ros.selector_watch import SILENCE_TIMEOUT
from lodestar_ros.sent_goal import SentGoal

PERIOD = 0.1  # s of real time between two checks for goals to send
SERVER_PATIENCE = 10.0  # s of real time that a goal waits for a goal selector
MOST = 4  # most goals that wait at once


@dataclass(frozen=True)
class GoalEars:
    """Callbacks of one goal: feedback(message), result(message), or failure(text) without a result."""

    feedback: Callable[[FollowDirective.Feedback], object]
    result: Callable[[FollowDirective.Result], object]
    failure: Callable[[str], object]


class TextEars:
    """Passes on the texts of feedback when they change."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._told: tuple[str, ...] = ()

    def hear(self, feedback: FollowDirective.Feedback) -> None:
        """Pass on the feedback's texts if they are new."""
        for text in (feedback.unseen, feedback.text):
            if text and text not in self._told:
                self._tell(text)
        self._told = (feedback.unseen, feedback.text)


@dataclass(eq=False)
class _Entry:
    """A goal with its callbacks. until: steady time, s, until which it waits for a goal selector."""

    goal: FollowDirective.Goal
    ears: GoalEars
    until: float
    sent: SentGoal | None = None


class DirectiveSender:
    """Sends goals and reports their feedback and results. Executor only. Subscribes: ``heartbeat``."""

    def __init__(self, node: LodestarNode, steady: Callable[[], float] = time.monotonic) -> None:
        self._node, self._steady = node, steady
        self._owner = OwnedGoal(node)
        self._client = ActionClient(node, FollowDirective, "follow_directive")
        self._waiting: list[_Entry] = []
        self._open: list[_Entry] = []
        # time of the newest heartbeat, and start id of its goal selector
        self._heard, self._start_id = 0.0, ""
        node.listen(Heartbeat, "heartbeat", self._on_beat, qos.COMMAND)
        node.steady_timer(PERIOD, self._work)
        node.on_close(self.close)

    @property
    def active(self) -> int:
        """Return the number of goals that were sent or wait."""
        return len(self._waiting) + len(self._open)

    def send(self, goal: FollowDirective.Goal, ears: GoalEars) -> None:
        """Send a goal as soon as a goal selector is available."""
        if len(self._waiting) >= MOST:
            ears.failure(f"{MOST} texts wait for the goal selector already; say it again when it is up")
            return
        self._waiting.append(_Entry(self._owner.mark(goal), ears, self._steady() + SERVER_PATIENCE))
        self._work()

    def cancel(self) -> int:
        """Cancel every sent goal, whose result is still reported, and drop waiting goals; return the number of both."""
        waiting, self._waiting = self._waiting, []
        for entry in waiting:
            entry.ears.failure("cancelled before it was sent")
        for entry in self._open:
            assert entry.sent is not None
            entry.sent.cancel()
        return len(waiting) + len(self._open)

    def close(self) -> None:
        """Cancel all sent goals without reporting their ends; the robot stops."""
        for entry in self._open:
            assert entry.sent is not None
            entry.sent.cancel()
        self._open.clear()
        self._waiting.clear()

    def _work(self) -> None:
        if not self.active:
            return
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
            entry.sent.cancel()  # the goal may have arrived although its answer is missing
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
        """Report a failure for every sent goal, because the goal selector has disappeared."""
        lost, self._open = self._open, []
        for entry in lost:
            assert entry.sent is not None
            entry.sent.cancel()  # the server may live, connected in one direction only
            entry.ears.failure(
                "the goal selector is gone, and the motion gate has stopped the robot; when it is back: python -m "
                "lodestar_ros.hold off, then say it again"
            )

    def _begin(self, entry: _Entry) -> None:
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
