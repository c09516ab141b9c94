"""Stand-in for nav2_simple_commander's `robot_navigator`, of which no wheel exists: the part that our tests call.

It speaks to the same actions in the same way as Kilted's. `test_basic_navigator.py` takes the real one where it is
installed.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from nav2_msgs.action import ComputePathToPose, NavigateToPose
from rclpy.action import ActionClient
from rclpy.node import Node


class TaskResult(Enum):
    UNKNOWN = 0
    SUCCEEDED = 1
    CANCELED = 2
    FAILED = 3


_RESULTS = {
    GoalStatus.STATUS_SUCCEEDED: TaskResult.SUCCEEDED,
    GoalStatus.STATUS_CANCELED: TaskResult.CANCELED,
    GoalStatus.STATUS_ABORTED: TaskResult.FAILED,
}


class BasicNavigator(Node):
    """A node that blocks in its calls."""

    def __init__(self, node_name: str = "basic_navigator", namespace: str = "") -> None:
        super().__init__(node_name, namespace=namespace)
        self._drives = ActionClient(self, NavigateToPose, "navigate_to_pose")
        self._plans = ActionClient(self, ComputePathToPose, "compute_path_to_pose")
        self._handle: Any = None
        self._finished: Any = None
        self._feedback: Any = None
        self._status = GoalStatus.STATUS_UNKNOWN

    def destroy_node(self) -> None:
        self._drives.destroy()
        self._plans.destroy()
        super().destroy_node()

    def _send(self, client: ActionClient, goal: Any, feedback: Any = None) -> Any:
        while not client.wait_for_server(timeout_sec=1.0):
            self.get_logger().info("an action server is not available, waiting...")
        sent = client.send_goal_async(goal, feedback)
        rclpy.spin_until_future_complete(self, sent)
        return sent.result()

    def _on_feedback(self, message: Any) -> None:
        self._feedback = message.feedback

    def goToPose(self, pose: PoseStamped, behavior_tree: str = "") -> bool:
        goal = NavigateToPose.Goal(pose=pose, behavior_tree=behavior_tree)
        self._handle = self._send(self._drives, goal, self._on_feedback)
        if not self._handle.accepted:
            return False
        self._finished = self._handle.get_result_async()
        return True

    def cancelTask(self) -> None:
        if self._finished:
            rclpy.spin_until_future_complete(self, self._handle.cancel_goal_async())

    def isTaskComplete(self) -> bool:
        if not self._finished:
            return True
        rclpy.spin_until_future_complete(self, self._finished, timeout_sec=0.1)
        if not self._finished.done():
            return False
        self._status = self._finished.result().status
        return True

    def getFeedback(self) -> Any:
        return self._feedback

    def getResult(self) -> TaskResult:
        return _RESULTS.get(self._status, TaskResult.UNKNOWN)

    def waitUntilNav2Active(self, navigator: str = "bt_navigator", localizer: str = "amcl") -> None:
        """Return at once: the real one waits for a state of bt_navigator, which our navigator has not."""

    def getPath(
        self, start: PoseStamped, goal: PoseStamped, planner_id: str = "", use_start: bool = False
    ) -> Any:
        asked = ComputePathToPose.Goal(start=start, goal=goal, planner_id=planner_id, use_start=use_start)
        handle = self._send(self._plans, asked)
        if not handle.accepted:
            return None
        finished = handle.get_result_async()
        rclpy.spin_until_future_complete(self, finished)
        answer = finished.result()
        return answer.result.path if answer.status == GoalStatus.STATUS_SUCCEEDED else None

    def clearAllCostmaps(self) -> None:
        """Return at once: there are no costmaps."""
