"""One goal of the simulated navigator: target, feedback and result."""

from __future__ import annotations

import numpy as np
from nav2_msgs.action import NavigateToPose
from rclpy.action.server import ServerGoalHandle

from lodestar.geometry.poses import yaw_of
from lodestar_ros.conversions import pose_from_msg
from lodestar_ros.transforms import TransformBuffer
from lodestar_sim.navigator import NavigatorStep
from lodestar_sim.nodes.navigation_messages import feedback_to_msg, result_to_msg


class ActiveGoal:
    """A goal accepted at `started`, seconds. path: the last published path, (N, 2) metres."""

    def __init__(self, handle: ServerGoalHandle, started: float) -> None:
        self.handle = handle
        self.path: np.ndarray | None = None
        self._started = started

    def target(self, transforms: TransformBuffer) -> tuple[float, float, float]:
        """Return the target x, y, yaw in map. Raises TransformUnavailable."""
        pose = self.handle.request.pose
        map_from_goal = pose_from_msg(pose.pose)
        if pose.header.frame_id not in ("", "map"):
            map_from_goal = transforms.lookup("map", pose.header.frame_id) @ map_from_goal
        return map_from_goal[0, 3], map_from_goal[1, 3], yaw_of(map_from_goal)

    def report(self, pose: tuple[float, float, float], now: float, step: NavigatorStep) -> None:
        """Publish feedback at a pose in map. now: seconds."""
        self.handle.publish_feedback(feedback_to_msg(pose, now, now - self._started, step))

    def end(self, succeeded: bool, code: int, text: str) -> None:
        """Send the result; if cancellation was requested, the goal ends as canceled."""

        def finish(goal: ServerGoalHandle) -> NavigateToPose.Result:
            if goal.is_cancel_requested:
                goal.canceled()
            elif succeeded:
                goal.succeed()
            else:
                goal.abort()
            return result_to_msg(code, text)

        self.handle.execute(finish)
