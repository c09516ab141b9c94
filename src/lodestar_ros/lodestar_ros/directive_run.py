"""Client-side run of one directive: send the goal, follow it, and detect its end or the loss of the goal selector."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from rclpy.action import ActionClient

from lodestar_interfaces.action import FollowDirective
from lodestar_ros.selector_watch import SILENCE_TIMEOUT, SelectorWatch
from lodestar_ros.sent_goal import SentGoal, Wait

# Timeouts in seconds of wall time.
RECEIPT_TIMEOUT = 10.0
CANCEL_TIMEOUT = 5.0
_WITHDRAW_TIMEOUT = 1.0  # for cancelling a goal that was not acknowledged
_POLL = 0.1


class End(Enum):
    """Outcomes of sending a directive: result, refused, unanswered, goal selector gone, or stopped by the
    client.
    """

    RESULT = auto()  # the action's result is in `result`
    REFUSED = auto()
    UNANSWERED = auto()  # the goal selector did not acknowledge the goal
    SILENT = auto()  # the goal selector is gone; `silent` holds the seconds
    STOPPED = auto()  # stopped by the client


class DirectiveRun:
    """Sends one directive and waits for its end, on the calling thread.

    wait: spins until a future is done or the given seconds have passed, and returns whether it is done. It may return
    early when the client is to stop. result: of the action. silent: seconds since the goal selector's last message.
    """

    def __init__(self, client: ActionClient, watch: SelectorWatch, wait: Wait) -> None:
        self._client, self._watch, self._wait = client, watch, wait
        self._sent: SentGoal | None = None
        self._handle: Any = None
        self.result: FollowDirective.Result | None = None
        self.silent = 0.0

    @property
    def accepted(self) -> bool:
        """Return whether the goal selector has accepted the directive."""
        return self._handle is not None

    def follow(
        self, goal: Any, identity: bytes | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> End:
        """Send the goal and wait for its end. stopped: returns whether the client gives up; the goal is left
        running.
        """
        self._watch.begin()
        self._sent = SentGoal(self._client, FollowDirective, goal, self._watch.on_feedback, identity)
        if not self._sent.wait(self._wait, RECEIPT_TIMEOUT):
            if not stopped():
                # the goal may have arrived although its answer is missing
                self._wait(self._sent.cancel(), _WITHDRAW_TIMEOUT)
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
                handle.cancel_goal_async()  # the server may live, connected in one direction only
                self._wait(finished, _POLL)
                return End.SILENT
        self.result = finished.result().result
        return End.RESULT

    def cancel(self, wait: Wait | None = None) -> None:
        """Cancel the goal and wait for its end. wait: a variant of `wait` that does not return early."""
        wait = wait or self._wait
        if self._handle is not None:
            self._handle.cancel_goal_async()
            wait(self._handle.get_result_async(), CANCEL_TIMEOUT)
        elif self._sent is not None:
            wait(self._sent.cancel(), CANCEL_TIMEOUT)
