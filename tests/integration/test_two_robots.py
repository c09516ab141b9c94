"""Two played robots side by side in one domain, each in a namespace: transforms, topics and motion stay apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from geometry_msgs.msg import Twist
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid, Odometry
from tf2_msgs.msg import TFMessage

from integration.bed import Bed
from integration.rooms import room_with_a_chair
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter, StopTimes
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos
from lodestar_ros.conversions import planar_from_msg, planar_to_msg

pytestmark = [pytest.mark.alone, pytest.mark.timeout(420)]

ROBOTS = ("robot1", "robot2")
DRIVING = ("go2_base", "go2_guard", "go2_lidar", "mapping", "motion_gate")  # of the go2 description
START_UP = 150.0  # s for all eighteen processes
START = (0.5, 0.0)  # m, of both robots: each has a room of its own
TURN = 1.5  # rad, by which a goal turns one


def specs_of(name: str, world: Path) -> list[ProcessSpec]:
    """The processes of one robot that walk it, as in the go2 description, and its stand-in."""
    common = {"namespace": name, "robot_topics": name, "slam": "none"}
    played = StackOptions(
        world=str(world), navigator="sim", parameters={"go2_stand_in": {"traps.silent_from": 0.0}}, **common
    )
    beside = StackOptions(navigator="external", **common)
    return [*stack("go2_stand_in", played), *(spec for spec in stack("go2", beside) if spec.name in DRIVING)]


class Robot:
    """Hears one robot, and sends the heartbeat of its goal selector."""

    def __init__(self, bed: Bed, name: str) -> None:
        self.bed, self.name = bed, name
        bed.hear(Odometry, f"{name}/sim/ground_truth", qos.EVENT)
        bed.hear(Twist, f"{name}/stand_in/cmd_vel", qos.COMMAND)
        bed.hear(TFMessage, f"{name}/tf", qos.TF)
        bed.hear(OccupancyGrid, f"{name}/grid", qos.LATCHED)
        beats = bed.on_executor(
            lambda: bed.node.create_publisher(Heartbeat, f"{name}/goal_selector/heartbeat", qos.COMMAND)
        )
        beat = Heartbeat(motion_allowed=True, state="NAVIGATING", start_id="test")
        self.timer = bed.on_executor(lambda: bed.node.create_timer(0.1, lambda: beats.publish(beat)))

    @property
    def heading(self) -> float:
        """Its true yaw in radians."""
        return float(planar_from_msg(self.bed.last(f"{self.name}/sim/ground_truth").pose.pose)[2])

    def edges(self) -> set[tuple[str, str]]:
        """Parent and child of every transform that was heard in its namespace."""
        messages = [message for _, message in list(self.bed.heard[f"{self.name}/tf"])]
        return {(t.header.frame_id, t.child_frame_id) for message in messages for t in message.transforms}

    def ever_moved(self) -> bool:
        """Whether the robot's own protocol ever had it walk."""
        heard = [twist for _, twist in list(self.bed.heard[f"{self.name}/stand_in/cmd_vel"])]
        return any((twist.linear.x, twist.linear.y, twist.angular.z) != (0.0, 0.0, 0.0) for twist in heard)


@pytest.fixture(scope="module")
def robots(bed: Bed, domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Robot]]:
    folder = tmp_path_factory.mktemp("two")
    world = room_with_a_chair(folder / "room.json")
    environment = {"ROS_DOMAIN_ID": str(domain)}
    starters = [
        Starter(
            specs_of(name, world), folder / name, environment=environment, stop_times=StopTimes(3.0, 1.0, 2.0)
        )
        for name in ROBOTS
    ]
    bed.hear(TFMessage, "/tf", qos.TF)
    try:
        for starter in starters:
            starter.start()
        running = {name: Robot(bed, name) for name in ROBOTS}
        for robot in running.values():
            bed.until(
                lambda robot=robot: ("odom", "base_link") in robot.edges(),
                f"{robot.name}'s odometry",
                START_UP,
            )
            bed.until(lambda robot=robot: ("map", "odom") in robot.edges(), f"{robot.name}'s map", START_UP)
            bed.until(lambda robot=robot: bed.heard[f"{robot.name}/grid"], f"{robot.name}'s grid", START_UP)
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
        assert bed.node.count_publishers(f"/{name}/api/sport/request") == 2, "base and guard"


def test_a_goal_to_the_one_does_not_move_the_other(bed: Bed, robots: dict[str, Robot]) -> None:
    one, other = (robots[name] for name in ROBOTS)
    goal = NavigateToPose.Goal()
    goal.pose.header.frame_id = "map"
    goal.pose.pose = planar_to_msg((*START, TURN))
    before, elsewhere = one.heading, other.heading

    def turn(robot: Robot) -> None:
        sent = bed.action(NavigateToPose, f"{robot.name}/navigate_to_pose").send(goal)
        bed.until(lambda: robot.ever_moved() or sent.future.done(), "the robot to be told to walk", 60.0)
        assert robot.ever_moved(), sent.result().error_msg

    turn(one)
    bed.until(lambda: abs(one.heading - before) > 0.3, "it to turn", 60.0)
    assert not other.ever_moved() and other.heading == pytest.approx(elsewhere, abs=1e-6)
    turn(other)
