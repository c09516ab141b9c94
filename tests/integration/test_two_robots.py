"""Tests of two simulated robots in one domain, in two namespaces: transforms, topics and motion stay separate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from geometry_msgs.msg import Twist
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid, Odometry
from tf2_msgs.msg import TFMessage
from waiting import wait_for

from integration.bed import Bed
from integration.rooms import room_with_a_chair
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter, StopTimes
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos
from lodestar_ros.conversions import planar_from_msg, planar_to_msg

pytestmark = pytest.mark.alone

ROBOTS = ("robot1", "robot2")
DRIVING = ("go2_base", "go2_guard", "go2_lidar", "mapping", "motion_gate")  # of the go2 description
START = (0.5, 0.0)  # m, start of both robots, each in its own room
TURN = 1.5  # rad, turn of a goal


def specs_of(name: str, world: Path) -> list[ProcessSpec]:
    """Return the processes that move one robot, from the go2 description, and its stand-in."""
    common = {"namespace": name, "robot_topics": name, "slam": "none"}
    played = StackOptions(
        world=str(world), navigator="sim", parameters={"go2_stand_in": {"traps.silent_from": 0.0}}, **common
    )
    beside = StackOptions(navigator="external", **common)
    return [*stack("go2_stand_in", played), *(spec for spec in stack("go2", beside) if spec.name in DRIVING)]


class Robot:
    """Subscriptions to one robot, with a fake heartbeat of its goal selector."""

    def __init__(self, bed: Bed, name: str) -> None:
        self.bed, self.name = bed, name
        bed.hear(Odometry, f"{name}/sim/ground_truth", qos.EVENT)
        bed.hear(Twist, f"{name}/stand_in/cmd_vel", qos.COMMAND)
        bed.hear(TFMessage, f"{name}/tf", qos.TF)
        bed.hear(OccupancyGrid, f"{name}/grid", qos.LATCHED)
        beats = bed.on_executor(
            lambda: bed.node.create_publisher(Heartbeat, f"{name}/goal_selector/heartbeat", qos.COMMAND)
        )
        beat = Heartbeat(motion_allowed=True, goal_under_way=True, state="NAVIGATING", start_id="test")
        self.timer = bed.on_executor(lambda: bed.node.create_timer(0.1, lambda: beats.publish(beat)))

    @property
    def heading(self) -> float:
        """Return the robot's true yaw, radians."""
        return float(planar_from_msg(self.bed.last(f"{self.name}/sim/ground_truth").pose.pose)[2])

    def edges(self) -> set[tuple[str, str]]:
        """Return (parent, child) of all transforms received in the robot's namespace."""
        messages = [message for _, message in list(self.bed.heard[f"{self.name}/tf"])]
        return {(t.header.frame_id, t.child_frame_id) for message in messages for t in message.transforms}

    def ever_moved(self) -> bool:
        """Return whether the robot was ever commanded to walk by its own protocol."""
        heard = [twist for _, twist in list(self.bed.heard[f"{self.name}/stand_in/cmd_vel"])]
        return any((twist.linear.x, twist.linear.y, twist.angular.z) != (0.0, 0.0, 0.0) for twist in heard)


@pytest.fixture(scope="module")
def robots(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Robot]]:
    folder = tmp_path_factory.mktemp("two")
    world = room_with_a_chair(folder / "room.json")
    starters = [
        Starter(specs_of(name, world), folder / name, stop_times=StopTimes(3.0, 1.0, 2.0)) for name in ROBOTS
    ]
    bed.hear(TFMessage, "/tf", qos.TF)
    try:
        for starter in starters:
            starter.start()
        running = {name: Robot(bed, name) for name in ROBOTS}
        for robot in running.values():
            bed.until(lambda robot=robot: ("odom", "base_link") in robot.edges(), f"{robot.name}'s odometry")
            bed.until(lambda robot=robot: ("map", "odom") in robot.edges(), f"{robot.name}'s map")
            bed.until(lambda robot=robot: bed.heard[f"{robot.name}/grid"], f"{robot.name}'s grid")
            place = f"{robot.name}/sim/ground_truth"
            bed.until(lambda place=place: bed.heard[place], f"where {robot.name} is")
        yield running
    finally:
        for starter in starters:
            starter.stop()


def test_each_has_its_transforms_and_nothing_is_shared_but_the_diagnostics(
    bed: Bed, robots: dict[str, Robot]
) -> None:
    assert not bed.heard["/tf"] and bed.node.count_publishers("/tf") == 0
    assert bed.node.count_publishers("/clock") == 0, "their clock is the computer's"
    topics = [name for name, _ in bed.node.get_topic_names_and_types() if bed.node.count_publishers(name)]
    own = tuple(f"/{name}/" for name in ROBOTS)
    shared = {name for name in topics if not name.startswith(own)}
    assert shared <= {"/diagnostics", "/rosout", "/parameter_events"}
    for name in ROBOTS:
        requests = f"/{name}/api/sport/request"
        bed.until(lambda topic=requests: bed.node.count_publishers(topic) == 2, "base and guard")


def test_a_goal_to_the_one_does_not_move_the_other(bed: Bed, robots: dict[str, Robot]) -> None:
    one, other = (robots[name] for name in ROBOTS)
    goal = NavigateToPose.Goal()
    goal.pose.header.frame_id = "map"
    goal.pose.pose = planar_to_msg((*START, TURN))
    before, elsewhere = one.heading, other.heading

    def turn(robot: Robot) -> None:
        """Send the goal until the robot walks: a navigator that has not heard grid or transforms yet aborts it."""
        navigator = bed.action(NavigateToPose, f"{robot.name}/navigate_to_pose")
        aborts: list[str] = []

        def walks() -> bool:
            sent = navigator.send(goal)
            bed.until(lambda: robot.ever_moved() or sent.future.done(), "the robot to be told to walk")
            if not robot.ever_moved():
                aborts.append(sent.result().error_msg)
            return robot.ever_moved()

        wait_for(walks, lambda: f"{robot.name} is told to walk; {aborts}", every=1.0)

    turn(one)
    bed.until(lambda: abs(one.heading - before) > 0.3, "it to turn")
    assert not other.ever_moved() and other.heading == pytest.approx(elsewhere, abs=1e-6)
    turn(other)
