"""One directive from a client that waits for its end: sent, answered, followed, or lost with its goal selector."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from rclpy.action import ActionClient

from lodestar_interfaces.action import FollowDirective
from lodestar_ros.selector_watch import SILENCE_TIMEOUT, SelectorWatch
from lodestar_ros.sent_goal import SentGoal, Wait

# Seconds of wall time.
RECEIPT_TIMEOUT = 10.0
CANCEL_TIMEOUT = 5.0
_WITHDRAW_TIMEOUT = 1.0  # for the cancel of a goal that nobody answered
_POLL = 0.1


class End(Enum):
    """Ways in which it ends for the client."""

    RESULT = auto()  # `result` has it
    REFUSED = auto()
    UNANSWERED = auto()  # nobody said that the directive was received
    SILENT = auto()  # the goal selector is gone; `silent` says for how long
    STOPPED = auto()  # by the client itself


class DirectiveRun:
    """Runs on the thread that calls.

    wait: spins until a future is done or so many seconds have passed, and returns whether it is done. It may return
    early where the client is to stop. result: of the action. silent: seconds without a word of the goal selector.
    """

    def __init__(self, client: ActionClient, watch: SelectorWatch, wait: Wait) -> None:
        self._client, self._watch, self._wait = client, watch, wait
        self._sent: SentGoal | None = None
        self._handle: Any = None
        self.result: FollowDirective.Result | None = None
        self.silent = 0.0

    @property
    def accepted(self) -> bool:
        """Return whether the goal selector has taken the directive."""
        return self._handle is not None

    def follow(
        self, goal: Any, identity: bytes | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> End:
        """Send the goal and wait for its end. stopped: asked whether the client gives up; the goal is left running."""
        self._watch.begin()
        self._sent = SentGoal(self._client, FollowDirective, goal, self._watch.on_feedback, identity)
        if not self._sent.wait(self._wait, RECEIPT_TIMEOUT):
            if not stopped():
                self._wait(
                    self._sent.cancel(), _WITHDRAW_TIMEOUT
                )  # it may have come although its answer is missing
            return End.STOPPED if stopped() else End.UNANSWERED
        handle = self._sent.answer.result()
        if not handle.accepted:
            return End.REFUSED
        self._handle = handle
        finished = handle.get_result_async()
        self._watch.accepted()
        while not self._wait(finished, _POLL):
            self.silent = self._watch.silent
            if stopped():
                return End.STOPPED
            if self.silent > SILENCE_TIMEOUT:
                handle.cancel_goal_async()  # it may be alive with a connection in one direction only
                self._wait(finished, _POLL)
                return End.SILENT
        self.result = finished.result().result
        return End.RESULT

    def cancel(self, wait: Wait | None = None) -> None:
        """Cancel what was sent, and wait for its end. wait: one that does not return early."""
        wait = wait or self._wait
        if self._handle is not None:
            self._handle.cancel_goal_async()
            wait(self._handle.get_result_async(), CANCEL_TIMEOUT)
        elif self._sent is not None:
            wait(self._sent.cancel(), CANCEL_TIMEOUT)
