"""Tests of the navigator node as a separate process, over real DDS."""

from __future__ import annotations

import math

import numpy as np
import pytest
from waiting import PATIENCE, Moment, wait_for

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("nav2_msgs.action", reason="needs the built workspace")

from geometry_msgs.msg import Twist
from nav2_msgs.action import NavigateToPose
from nav2_msgs.msg import CostmapFilterInfo
from nav_msgs.msg import OccupancyGrid, Odometry
from nav_msgs.msg import Path as PathMsg
from rclpy.action import ActionClient
from rclpy.duration import Duration
from running import Listener, start_of

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg, planar_to_stamped, stamp_from_msg
from lodestar_sim.navigator import NavigatorError
from lodestar_sim.robot import CollisionRaster

pytestmark = pytest.mark.ros

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6  # states of action_msgs/GoalStatus


class Client:
    """Action client that also relays the navigator's velocity to the base, like the motion gate."""

    def __init__(self, listener: Listener):
        self.listener = listener
        node = listener.node
        listener.hear(Odometry, "sim/ground_truth", qos.EVENT)
        listener.hear(PathMsg, "plan", qos.EVENT)
        listener.heard["cmd_vel"] = []
        base = node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND)

        def relay(message: Twist) -> None:
            listener.heard["cmd_vel"].append(message)
            base.publish(message)

        node.create_subscription(Twist, "cmd_vel", relay, qos.COMMAND)
        self._grid = node.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
        self._client = ActionClient(node, NavigateToPose, "navigate_to_pose")
        self.feedback: list = []

    def show(self, world) -> None:
        """Publish the true grid."""
        geometry = world.geometry(0.0)
        raster = CollisionRaster(geometry.vertices, geometry.triangles, 0.1)
        self._grid.publish(
            grid_to_msg(OccupancyGrid2D((raster.cells * 100).astype(np.int8), 0.1, raster.origin))
        )

    def send(self, pose, frame: str = "map"):
        self.listener.until(self._client.server_is_ready, "the server")
        self.listener.until(lambda: self.listener.heard["sim/ground_truth"], "the simulator")
        goal = NavigateToPose.Goal(pose=planar_to_stamped(pose, 0.0, frame))
        sent = self._client.send_goal_async(
            goal, feedback_callback=lambda m: self.feedback.append(m.feedback)
        )
        self.listener.until(sent.done, "the answer to a goal")
        return sent.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.listener.until(future.done, "the result")
        return future.result()

    def refused(self, pose):
        """The refusal of a goal, once the navigator has heard why."""
        goes = lambda: (result := self.result(self.send(pose))).status != SUCCEEDED and result  # noqa: E731
        return wait_for(goes, f"a refusal of {pose}")

    def place(self) -> tuple[float, float]:
        position = self.listener.last("sim/ground_truth").pose.pose.position
        return position.x, position.y

    def standing(self) -> bool:
        twist = self.listener.last("sim/ground_truth").twist.twist
        return twist.linear.x == twist.linear.y == twist.angular.z == 0.0


@pytest.fixture
def client(processes, listener, world_file, furnished_room):
    sim = processes.start("sim", world=world_file, seed=3, **start_of(-3.0, 0.0, 0.0))
    navigator = processes.start("sim_navigator", use_sim_time=True, grid_holds=0.0)
    one = Client(listener)
    one.pids = [*sim.pids(), *navigator.pids()]
    one.show(furnished_room)
    return one


def test_the_navigator_reaches_reports_replaces_cancels_and_gives_up(client, listener):
    handle = client.send((-1.2, -1.2, 0.0))
    assert handle.accepted
    result = client.result(handle)
    assert (result.status, result.result.error_code) == (SUCCEEDED, 0)
    assert math.dist(client.place(), (-1.2, -1.2)) < 0.2
    remaining = [feedback.distance_remaining for feedback in client.feedback]
    assert remaining[0] > 1.7
    assert remaining[-1] < 0.6
    assert listener.heard["plan"][0].poses[-1].pose.position.x == pytest.approx(-1.2, abs=0.06)
    listener.until(lambda: listener.last("cmd_vel").linear.x == 0.0, "the command to stand")

    first = client.send((3.0, -2.0, 0.0))
    second = client.send((-2.2, -1.0, 3.0))
    replaced = client.result(first)
    assert (replaced.status, replaced.result.error_code) == (ABORTED, 0)
    assert client.result(second).status == SUCCEEDED
    assert math.dist(client.place(), (-2.2, -1.0)) < 0.2

    handle = client.send((3.0, -2.0, 0.0))
    listener.until(lambda: not client.standing(), "motion")
    moment = Moment.now(client.pids)
    canceled = handle.cancel_goal_async()
    listener.until(canceled.done, "the cancel")
    at = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    listener.until(client.standing, "the stop")
    stopped = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    assert stopped - at < 0.5 + moment.waits()
    assert client.result(handle).status == CANCELED

    for pose, frame, code in (
        ((50.0, 0.0, 0.0), "map", NavigatorError.GOAL_OUTSIDE_MAP),
        ((1.5, 0.0, 0.0), "map", NavigatorError.GOAL_OCCUPIED),
        ((1.0, 1.0, 0.0), "moon", NavigatorError.TF_ERROR),
    ):
        result = client.result(client.send(pose, frame))
        assert (result.status, result.result.error_code) == (ABORTED, code)
        assert result.result.error_msg
    assert not client.send((math.nan, 0.0, 0.0)).accepted
    assert client.result(client.send((0.3, 0.0, 0.0), "base_link")).status == SUCCEEDED  # other frame


def _zone(x0: float, y0: float, x1: float, y1: float) -> OccupancyGrid:
    """Return a keep-out mask of 8 x 8 m around the origin with one forbidden rectangle."""
    cells = np.zeros((80, 80), np.int8)
    cells[round((y0 + 4) * 10) : round((y1 + 4) * 10), round((x0 + 4) * 10) : round((x1 + 4) * 10)] = 100
    return grid_to_msg(OccupancyGrid2D(cells, 0.1, (-4.0, -4.0)))


def test_the_navigator_keeps_out_of_a_costmap_filters_zones(client, listener):
    node = listener.node
    masks = node.create_publisher(OccupancyGrid, "zones", qos.LATCHED)
    infos = node.create_publisher(CostmapFilterInfo, "costmap_filter_info", qos.LATCHED)
    infos.publish(CostmapFilterInfo(type=0, filter_mask_topic="/zones", base=0.0, multiplier=1.0))
    listener.until(masks.get_subscription_count, "the navigator's subscription to the mask")
    masks.publish(_zone(-2.0, -0.6, -1.4, 0.6))
    assert masks.wait_for_all_acked(Duration(seconds=PATIENCE)), "else it drives into the zone"
    refused = client.refused((-1.7, 0.0, 0.0))
    assert (refused.status, refused.result.error_code) == (ABORTED, NavigatorError.GOAL_OCCUPIED)
    assert "keep-out" in refused.result.error_msg
    listener.heard["sim/ground_truth"].clear()
    assert client.result(client.send((-0.5, -1.5, 0.0))).status == SUCCEEDED
    places = [message.pose.pose.position for message in listener.heard["sim/ground_truth"]]
    assert len(places) > 10
    assert not any(-2.1 < p.x < -1.3 and -0.7 < p.y < 0.7 for p in places)
    masks.publish(_zone(-0.9, -1.9, 0.3, -1.1))  # zone over the robot
    client.refused((0.0, -1.3, 0.0))
    assert client.result(client.send((-1.8, -1.2, 3.0))).status == SUCCEEDED


def test_a_navigator_without_a_base_gives_the_goal_back(processes, listener):
    processes.start("sim_navigator", use_sim_time=True, grid_holds=0.0)
    action = ActionClient(listener.node, NavigateToPose, "navigate_to_pose")
    listener.until(action.server_is_ready, "the server")
    sent = action.send_goal_async(NavigateToPose.Goal(pose=planar_to_stamped((1.0, 0.0, 0.0), 0.0)))
    listener.until(sent.done, "the answer")
    future = sent.result().get_result_async()
    listener.until(future.done, "the result")
    assert future.result().status == ABORTED
    assert future.result().result.error_code == NavigatorError.CONTROLLER_TF_ERROR
