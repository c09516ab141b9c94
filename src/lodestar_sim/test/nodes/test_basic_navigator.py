"""Tests of Nav2's BasicNavigator with our navigator, and of the example that uses it, over real DDS."""

from __future__ import annotations

import importlib
import math
import runpy
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from waiting import wait_for

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("lodestar_interfaces.action", reason="needs the built workspace")

import rclpy
from geometry_msgs.msg import PoseStamped
from nav2_msgs.action import ComputePathToPose
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import ActionServer
from running import start_of

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.starter import Starter
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg, planar_to_stamped
from lodestar_sim.robot import CollisionRaster

pytestmark = pytest.mark.ros

EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "basic_navigator.py"
MODULE = "nav2_simple_commander.robot_navigator"


@pytest.fixture(params=["stand-in", "nav2_simple_commander"])
def commander(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the module of BasicNavigator, with rclpy started."""
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, "nav2_simple_commander", ModuleType("nav2_simple_commander"))
        monkeypatch.setitem(sys.modules, MODULE, importlib.import_module("basic_navigator_stand_in"))
    else:
        pytest.importorskip(MODULE, reason="nav2_simple_commander comes with Nav2, not as a wheel")
    rclpy.init()
    yield importlib.import_module(MODULE)
    rclpy.try_shutdown()


@pytest.fixture
def robot(processes, listener, world_file, furnished_room, tmp_path):
    """Return the listener of a simulated robot that our navigator drives, without a gate between them."""
    navigator = ProcessSpec(
        "lodestar_sim", "sim_navigator", "sim_navigator", remappings=(("cmd_vel", "cmd_vel_out"),),
        parameters={"use_sim_time": True, "grid_holds": 0.0},
    )  # fmt: skip
    geometry = furnished_room.geometry(0.0)
    raster = CollisionRaster(geometry.vertices, geometry.triangles, 0.1)
    grid = OccupancyGrid2D((raster.cells * 100).astype(np.int8), 0.1, raster.origin)
    listener.hear(Odometry, "sim/ground_truth", qos.EVENT)
    listener.node.create_publisher(OccupancyGrid, "grid", qos.LATCHED).publish(grid_to_msg(grid))
    processes.start("sim", world=world_file, seed=3, **start_of(-3.0, 0.0, 0.0))
    starter = Starter([navigator], tmp_path / "log")
    starter.start()
    yield listener
    starter.stop()


@pytest.fixture
def turning(listener) -> Iterator[None]:
    """Run the listener's callbacks on a thread."""
    ending = threading.Event()

    def turn() -> None:
        while not ending.is_set():
            listener.spin()

    thread = threading.Thread(target=turn)
    thread.start()
    yield
    ending.set()
    thread.join()


def pose(x: float, y: float) -> PoseStamped:
    return planar_to_stamped((x, y, 0.0), 0.0)


def test_go_to_pose_drives_to_a_pose_and_a_cancelled_one_stands(commander, robot, turning):
    place = lambda: robot.last("sim/ground_truth").pose.pose.position  # noqa: E731
    speed = lambda: robot.last("sim/ground_truth").twist.twist.linear  # noqa: E731
    wait_for(lambda: robot.heard["sim/ground_truth"], "the simulator")
    navigator = commander.BasicNavigator()
    assert navigator.goToPose(pose(-1.2, -1.2))
    wait_for(navigator.isTaskComplete, "the end of the way", every=0.0)
    assert navigator.getResult() == commander.TaskResult.SUCCEEDED
    assert math.dist((place().x, place().y), (-1.2, -1.2)) < 0.2
    near = lambda: navigator.getFeedback().distance_remaining < 0.6  # noqa: E731
    # the result may overtake the last feedback
    wait_for(lambda: near() or rclpy.spin_once(navigator, timeout_sec=0.1), "the last feedback", every=0.0)

    assert navigator.goToPose(pose(3.0, -2.0))
    wait_for(
        lambda: navigator.isTaskComplete() or math.hypot(speed().x, speed().y) > 0.1, "motion", every=0.0
    )
    navigator.cancelTask()
    wait_for(navigator.isTaskComplete, "the end of a cancelled way", every=0.0)
    assert navigator.getResult() == commander.TaskResult.CANCELED
    wait_for(lambda: speed().x == speed().y == 0.0, "the stop")
    assert math.dist((place().x, place().y), (3.0, -2.0)) > 1.0

    assert navigator.goToPose(pose(50.0, 0.0))
    wait_for(navigator.isTaskComplete, "the refusal of a pose outside the map", every=0.0)
    assert navigator.getResult() == commander.TaskResult.FAILED
    navigator.destroy_node()


@pytest.mark.parametrize(("x", "status"), [(4.0, 0), (80.0, 1)])
def test_the_example_asks_for_the_way_and_lets_the_directive_drive(
    commander, listener, turning, capsys, x, status
):
    if commander.__name__ == MODULE:
        pytest.skip("the real one waits for bt_navigator, which is not here")
    directives = []

    def plan(handle: Any) -> ComputePathToPose.Result:
        handle.succeed()
        result = ComputePathToPose.Result()
        result.path.poses = [pose(0.0, 0.0), handle.request.goal]
        return result

    def follow(handle: Any) -> FollowDirective.Result:
        directives.append(handle.request.directive)
        handle.succeed()
        return FollowDirective.Result(success=True, report="arrived")

    servers = [
        ActionServer(listener.node, ComputePathToPose, "compute_path_to_pose", plan),
        ActionServer(listener.node, FollowDirective, "follow_directive", follow),
    ]
    rclpy.shutdown()  # the example starts it itself
    assert runpy.run_path(str(EXAMPLE))["main"]([str(x), "3.0"]) == status
    printed = capsys.readouterr().out
    assert ("arrived" in printed) == (status == 0) and ("80 m long" in printed) == (status == 1)
    goals = [(step.pose[0].x, step.pose[0].y) for one in directives for step in one.subtasks]
    assert goals == ([(4.0, 3.0)] if status == 0 else [])
    assert all(one.constraints[0].item.text == "the wet floor" for one in directives)
    for server in servers:
        server.destroy()
