"""Use Nav2's BasicNavigator together with Lodestar: ask Nav2 for a path, let `follow_directive` drive.

    python docs/examples/basic_navigator.py 4.0 2.5

`BasicNavigator.goToPose` would move nothing: motion_gate passes velocities only while a directive runs, because only
then the hold, the keep-out zones and the battery are supervised. During a directive, `goToPose` would take the
navigator away from it. All queries and costmap functions of BasicNavigator work as usual.

Needs nav2_simple_commander (ros-$ROS_DISTRO-nav2-simple-commander). Ctrl-C cancels the directive.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient

from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective

try:
    from nav2_simple_commander.robot_navigator import BasicNavigator
except ImportError:
    BasicNavigator = None

EXIT_FAILED, EXIT_USAGE = 1, 2
LONGEST = 50.0  # m, longest path that is driven


def main(arguments: list[str]) -> int:
    """Drive to x, y in map if Nav2 has a path of at most LONGEST; return the exit status."""
    if BasicNavigator is None:
        print(
            "nav2_simple_commander is not installed: sudo apt-get install ros-$ROS_DISTRO-nav2-simple-commander"
        )
        return EXIT_USAGE
    x, y = (float(word) for word in arguments)
    rclpy.init()
    navigator = BasicNavigator()
    try:
        # wait for bt_navigator only: SLAM provides the pose, and there is no AMCL
        navigator.waitUntilNav2Active(localizer="robot_localization")
        length = way_length(navigator, x, y)
        if not length <= LONGEST:
            print(
                f"Nav2 has no way to ({x}, {y})" if math.isinf(length) else f"the way is {length:.0f} m long"
            )
            return EXIT_FAILED
        print(f"the way is {length:.1f} m long; going")
        result = drive(navigator, x, y)
        print(result.report or result.error_msg)
        if not result.success:
            navigator.clearAllCostmaps()  # obstacles that blocked the path may be gone
        return 0 if result.success else EXIT_FAILED
    finally:
        navigator.destroy_node()
        rclpy.try_shutdown()


def way_length(navigator: Any, x: float, y: float) -> float:
    """Return the length of Nav2's path from the robot, m; inf if there is none."""
    goal = PoseStamped()
    goal.header.frame_id = "map"
    goal.header.stamp = navigator.get_clock().now().to_msg()
    goal.pose.position.x, goal.pose.position.y, goal.pose.orientation.w = x, y, 1.0
    path = navigator.getPath(PoseStamped(), goal, use_start=False)
    if path is None or not path.poses:
        return math.inf
    points = [(pose.pose.position.x, pose.pose.position.y) for pose in path.poses]
    return sum(math.dist(one, other) for one, other in itertools.pairwise(points))


def drive(node: Any, x: float, y: float) -> Any:
    """Send the directive "go to x, y; keep away from the wet floor" and return its result."""
    client = ActionClient(node, FollowDirective, "follow_directive")
    client.wait_for_server()
    goal = FollowDirective.Goal(
        directive=msg.Directive(
            text=f"go to ({x}, {y})",
            subtasks=[
                msg.Subtask(kind=msg.Subtask.KIND_GO, pose=[msg.PlanarPose(x=x, y=y, heading=math.nan)])
            ],
            constraints=[msg.Constraint(item=msg.Item(text="the wet floor"))],
        )
    )
    sent = client.send_goal_async(goal)
    rclpy.spin_until_future_complete(node, sent)
    finished = sent.result().get_result_async()
    try:
        rclpy.spin_until_future_complete(node, finished)
    except KeyboardInterrupt:
        rclpy.spin_until_future_complete(node, sent.result().cancel_goal_async(), timeout_sec=5.0)
        rclpy.spin_until_future_complete(node, finished, timeout_sec=5.0)
    return finished.result().result if finished.done() else FollowDirective.Result(error_msg="no answer")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
