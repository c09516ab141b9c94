"""Asynchronous client of `navigate_to_pose`, independent of Nav2's version.

Humble's result is empty, Jazzy's has `error_code` and `error_msg`, Kilted's has more codes; the goal is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from nav2_msgs.action import NavigateToPose
from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.agent.errands.commands import NavigationEvent, NavigationKind
from lodestar_ros.conversions import planar_to_stamped
from lodestar_ros.sent_goal import SentGoal


@dataclass(frozen=True)
class Nav2Config:
    """Timeouts of a silent navigator, in seconds of real time, because a dead navigator has no clock."""

    answer_timeout: float = 5.0  # seconds to the answer to a goal; chosen
    silence_timeout: float = 15.0  # seconds without feedback during a goal; chosen
    behavior_tree: str = ""  # path of a file; empty = the navigator's default


@dataclass
class _Goal:
    """One goal and its state; only the newest goal counts."""

    epoch: int
    heard: float
    sent: SentGoal | None = None
    handle: Any = None
    cancel: bool = False


_ENDINGS = {
    GoalStatus.STATUS_SUCCEEDED: NavigationKind.SUCCEEDED,
    GoalStatus.STATUS_ABORTED: NavigationKind.ABORTED,
    GoalStatus.STATUS_CANCELED: NavigationKind.CANCELED,
}


class Nav2Client:
    """Sends one goal at a time and reports its outcome, without blocking.

    on_event is called on the executor. Events of a replaced goal are dropped.
    """

    def __init__(
        self,
        node: Node,
        on_event: Callable[[NavigationEvent], None],
        config: Nav2Config = Nav2Config(),
        name: str = "navigate_to_pose",
    ) -> None:
        self._node = node
        self._on_event = on_event
        self._config = config
        self._client = ActionClient(node, NavigateToPose, name)
        self._cancel_all = node.create_client(CancelGoal, f"{name}/_action/cancel_goal")
        self._clearing = False  # all goals of the navigator must be cancelled
        self._goal: _Goal | None = None

    @property
    def available(self) -> bool:
        """Return whether a navigator is running."""
        return self._client.server_is_ready()

    def send(self, epoch: int, goal: np.ndarray, stamp: float) -> None:
        """Send the robot to goal (3,) x, y, yaw in map; replaces the previous goal."""
        if not self.available:
            self._goal = None
            self._report(NavigationKind.UNAVAILABLE, epoch, message="no navigator serves navigate_to_pose")
            return
        self._clearing = False
        current = self._goal = _Goal(epoch, time.monotonic())
        request = NavigateToPose.Goal(
            pose=planar_to_stamped(goal, stamp), behavior_tree=self._config.behavior_tree
        )
        # a zero stamp selects the newest transform
        request.pose.header.stamp.sec = request.pose.header.stamp.nanosec = 0
        current.sent = SentGoal(
            self._client,
            NavigateToPose,
            request,
            lambda message: self._on_feedback(current, message.feedback),
        )
        current.sent.answer.add_done_callback(lambda done: self._on_answer(current, done))

    def cancel(self) -> None:
        """Cancel the goal, also before it is accepted.

        Without a goal of this client, all goals of the navigator are cancelled as soon as it is discovered: a dead
        predecessor may have left one.
        """
        if self._goal is None:
            self._clearing = True
            self._clear()
            return
        self._goal.cancel = True  # cancelled again on acceptance: the navigator may not know the goal yet
        if self._goal.sent is not None:
            self._goal.sent.cancel()

    def _clear(self) -> None:
        if self._clearing and self._cancel_all.service_is_ready():
            self._clearing = False
            self._cancel_all.call_async(CancelGoal.Request())  # an empty request cancels every goal

    def check(self) -> None:
        """Report a navigator that does not answer, and cancel its goal; call this a few times a second."""
        self._clear()
        goal = self._goal
        if goal is None:
            return
        silent = time.monotonic() - goal.heard
        if goal.handle is None and silent > self._config.answer_timeout:
            self._goal = None
            if goal.sent is not None:
                goal.sent.cancel()  # the goal may still reach the navigator
            self._report(
                NavigationKind.UNAVAILABLE, goal.epoch, message=f"no answer to the goal in {silent:.1f} s"
            )
        elif goal.handle is not None and silent > self._config.silence_timeout:
            self._goal = None
            goal.handle.cancel_goal_async()  # the navigator may only be slow
            self._report(
                NavigationKind.ABORTED, goal.epoch, message=f"the navigator is silent for {silent:.1f} s"
            )

    def _on_answer(self, goal: _Goal, future: Any) -> None:
        handle = future.result() if future.exception() is None else None
        if handle is not None and handle.accepted:
            goal.handle, goal.heard = handle, time.monotonic()
            handle.get_result_async().add_done_callback(lambda done: self._on_result(goal, done))
            if goal.cancel or goal is not self._goal:
                handle.cancel_goal_async()
            if goal is self._goal:
                self._report(NavigationKind.ACCEPTED, goal.epoch)
        elif goal is self._goal:
            self._goal = None
            self._report(NavigationKind.REJECTED, goal.epoch, message="the navigator rejected the goal")

    def _on_feedback(self, goal: _Goal, feedback: Any) -> None:
        goal.heard = time.monotonic()
        if goal is self._goal:
            self._report(NavigationKind.FEEDBACK, goal.epoch, distance=float(feedback.distance_remaining))

    def _on_result(self, goal: _Goal, future: Any) -> None:
        if goal is not self._goal:
            return
        self._goal = None
        response = future.result() if future.exception() is None else None
        kind = _ENDINGS.get(response.status if response is not None else None, NavigationKind.UNAVAILABLE)
        result = getattr(response, "result", None)
        message = getattr(result, "error_msg", "") or (
            "" if response is not None else str(future.exception())
        )
        self._report(kind, goal.epoch, int(getattr(result, "error_code", 0)), message)

    def _report(
        self,
        kind: NavigationKind,
        epoch: int,
        code: int = 0,
        message: str = "",
        distance: float = float("nan"),
    ) -> None:
        self._on_event(NavigationEvent(kind, code, message, distance, epoch))
