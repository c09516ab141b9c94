"""ROS shell around `Navigator`: a NavigateToPose server that replaces Nav2."""

from __future__ import annotations

import contextlib
import math
import time
from functools import partial

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle

from lodestar.geometry.poses import yaw_of
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_ros import qos
from lodestar_ros.conversions import (
    BadMessage,
    grid_from_msg,
    planar_from_msg,
    stamp_from_msg,
    velocity_from_msg,
    velocity_to_msg,
)
from lodestar_ros.executors import main_of
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.keep_out import KeepOutInput
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare, declare_part
from lodestar_ros.workers import Mailbox
from lodestar_sim.navigator import Navigator, NavigatorConfig, NavigatorError, NavigatorStatus
from lodestar_sim.nodes.active_goal import ActiveGoal
from lodestar_sim.nodes.navigation_messages import path_to_msg

PERIOD, POSE_HOLDS = 0.05, 0.5  # s, simulated: between two commands; validity of the newest transform
FEEDBACK_EVERY = 4  # commands between two feedback messages
ODOMETRY_PATIENCE = 5.0  # s of real time without odometry after which a goal is aborted


class SimNavigatorNode(LodestarNode):
    """Drive to poses on the grid. Time is taken from the stamps of odometry.

    Subscribes: ``grid``, ``costmap_filter_info``, ``odom``, TF. Publishes: ``cmd_vel`` (20 Hz, driving), ``plan``.
    Action: ``navigate_to_pose``; a new goal replaces the current one, as with Nav2.
    """

    def __init__(self, **kwargs):
        super().__init__("sim_navigator", **kwargs)
        self._navigator = Navigator(declare_part(self, NavigatorConfig))
        self._navigator.warm_up()
        self._stamped = declare(self, "cmd_vel_stamped", bool, False)
        self._grid_holds = declare(self, "grid_holds", float, 6.0) or math.inf  # s, simulated; 0 = forever
        self._grid: OccupancyGrid2D | None = None
        self._goal: ActiveGoal | None = None
        self._now = self._updated = self._grid_heard = 0.0  # s, stamps of odometry
        self._heard, self._updates = time.monotonic(), 0
        self._mailbox, self._keep_out = Mailbox(self), KeepOutInput(self)
        self._transforms = self.transforms(newest=True).buffer
        self._command = self.create_publisher(
            TwistStamped if self._stamped else Twist, "cmd_vel", qos.COMMAND
        )
        self._plan = self.create_publisher(Path, "plan", qos.EVENT)
        self.listen(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)
        self.listen(Odometry, "odom", self._on_odometry, qos.RELIABLE)
        self.steady_timer(0.5, self._check_odometry)
        self._server = ActionServer(
            self, NavigateToPose, "navigate_to_pose", lambda handle: None, goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted, cancel_callback=self._on_cancel,
        )  # fmt: skip

    def _on_grid(self, message: OccupancyGrid) -> None:
        self._grid, self._grid_heard = grid_from_msg(message), self._now

    def _on_goal(self, request: NavigateToPose.Goal) -> GoalResponse:
        try:
            planar_from_msg(request.pose.pose)
        except BadMessage as error:
            self.get_logger().warning(f"goal rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        if self._goal is not None:
            self._conclude(NavigatorStatus.ABORTED, 0, "a newer goal took its place")
        self._goal = ActiveGoal(handle, self._now)
        try:
            target = self._goal.target(self._transforms)
        except TransformUnavailable as error:
            self._conclude(NavigatorStatus.ABORTED, NavigatorError.TF_ERROR, str(error))
            return
        self._navigator.set_goal(target)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        """Stop the robot before the cancellation is accepted."""
        if self._goal is None or handle != self._goal.handle:
            return CancelResponse.REJECT
        self._navigator.cancel()
        self._send(np.zeros(3))
        self._mailbox.post(partial(self._conclude_cancelled, handle))
        return CancelResponse.ACCEPT

    def _conclude_cancelled(self, handle: ServerGoalHandle) -> None:
        if self._goal is not None and self._goal.handle == handle:
            self._conclude(NavigatorStatus.CANCELED)

    def _on_odometry(self, message: Odometry) -> None:
        self._now, self._heard = stamp_from_msg(message.header.stamp), time.monotonic()
        if self._now < self._updated:  # the simulation was restarted
            self._updated = self._grid_heard = self._now
        if self._goal is None or not self._navigator.active or self._now - self._updated < PERIOD - 1e-6:
            return
        self._updated = self._now
        pose, velocity = None, velocity_from_msg(message.twist.twist)
        with contextlib.suppress(TransformUnavailable):
            t = self._transforms.lookup_fresh("map", "base_link", self._now, POSE_HOLDS)
            pose = (t[0, 3], t[1, 3], yaw_of(t))
        grid = self._grid if self._now - self._grid_heard <= self._grid_holds else None
        step = self._navigator.update(self._now, self._keep_out.apply(grid), pose, velocity)
        self._send(step.command)
        if step.path is not None and step.path is not self._goal.path:
            self._plan.publish(path_to_msg(step.path, self._now))
            self._goal.path = step.path
        if step.status is not NavigatorStatus.ACTIVE:
            self._conclude(step.status, step.error_code, step.error_msg)
        elif pose is not None and math.isfinite(step.distance_remaining):  # no feedback without a plan
            if self._updates % FEEDBACK_EVERY == 0:
                self._goal.report(pose, self._now, step)
            self._updates += 1

    def _check_odometry(self) -> None:
        if self._goal is not None and time.monotonic() - self._heard > ODOMETRY_PATIENCE:
            self._navigator.cancel()
            error = NavigatorError.CONTROLLER_TF_ERROR, "no odometry is received: is the base running?"
            self._conclude(NavigatorStatus.ABORTED, *error)

    def _conclude(self, status: NavigatorStatus, code: int = 0, text: str = "") -> None:
        """Stop the robot and end the goal with a result."""
        goal, self._goal = self._goal, None
        assert goal is not None
        self._send(np.zeros(3))
        goal.end(status is NavigatorStatus.SUCCEEDED, code, text)

    def _send(self, command: np.ndarray) -> None:
        self._command.publish(velocity_to_msg(command, self._now, self._stamped))


main = main_of(SimNavigatorNode)
