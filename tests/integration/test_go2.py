"""The driver of a Go2 as processes: gate, base and guard before a stand-in that speaks the robot's topics."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from geometry_msgs.msg import Twist, Vector3
from nav_msgs.msg import Odometry
from std_srvs.srv import SetBool, Trigger

from integration.bed import Bed, Processes
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos

SPEED = 0.5  # m/s
BOUND = 0.5  # s until the robot stands
NODES = ("motion_gate", "go2_base", "go2_guard", "go2_stand_in")


class Walk:
    """The navigator, the goal selector's heartbeat, and the simulated body behind the stand-in."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.speed = self.turn = self.yaw = 0.0
        self.asked = 0.0
        self.x = 0.0
        node = bed.node
        self._beats = bed.on_executor(
            lambda: node.create_publisher(Heartbeat, "goal_selector/heartbeat", qos.COMMAND)
        )
        self._commands = bed.on_executor(lambda: node.create_publisher(Twist, "cmd_vel", qos.COMMAND))
        self._places = bed.on_executor(lambda: node.create_publisher(Odometry, "stand_in/odom", qos.RELIABLE))
        bed.on_executor(
            lambda: node.create_subscription(Twist, "stand_in/cmd_vel", self._on_velocity, qos.COMMAND)
        )
        bed.hear(Odometry, "odom", qos.RELIABLE)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _on_velocity(self, twist: Twist) -> None:
        self.speed, self.turn = twist.linear.x, twist.angular.z
        self.bed.poke()

    def _run(self) -> None:
        while not self._ended.wait(0.02):
            self.x += 0.02 * self.speed
            self.yaw += 0.02 * self.turn
            message = Odometry()
            message.header.stamp = self.bed.node.get_clock().now().to_msg()
            message.pose.pose.position.x = self.x
            message.pose.pose.orientation.z = math.sin(self.yaw / 2.0)
            message.pose.pose.orientation.w = math.cos(self.yaw / 2.0)
            self._places.publish(message)
            self._beats.publish(Heartbeat(motion_allowed=True, state="NAVIGATING", start_id="test"))
            if self.asked:
                self._commands.publish(Twist(linear=Vector3(x=self.asked)))

    def begin(self) -> None:
        """Walk, and wait until the robot does."""
        self.asked = SPEED
        self.bed.until(lambda: self.speed == pytest.approx(SPEED), "the robot to walk")

    def stopped_after(self, since: float) -> float:
        """Seconds from a moment until the robot was told to stand."""
        self.bed.until(lambda: self.speed == 0.0, "the robot to stand")
        return time.monotonic() - since

    def close(self) -> None:
        self._ended.set()
        self._thread.join(2.0)


@pytest.fixture(scope="module")
def walk(bed: Bed, processes: Processes) -> Iterator[Walk]:
    processes.start(*NODES, robot="go2_protocol", parameters={"go2_stand_in": {"traps.silent_from": 0.0}})
    walk = Walk(bed)
    bed.until(lambda: bed.last("odom"), "odometry of the base")
    yield walk
    walk.close()


@pytest.fixture(autouse=True)
def rest(walk: Walk) -> Iterator[None]:
    yield
    walk.asked = 0.0
    walk.bed.until(lambda: walk.speed == 0.0, "the robot to stand after the test")


def test_a_velocity_reaches_the_robot_and_its_odometry_is_that_of_rep_105(walk: Walk) -> None:
    walk.begin()
    before = walk.x
    said = walk.bed.next("odom", lambda message: message.pose.pose.position.x > before + 0.2)
    assert said.pose.pose.position.z == pytest.approx(0.31)  # though the robot's own z begins elsewhere
    assert said.twist.twist.linear.x == pytest.approx(SPEED, abs=0.15)
    now = walk.bed.node.get_clock().now().nanoseconds * 1e-9
    stamp = said.header.stamp.sec + said.header.stamp.nanosec * 1e-9
    assert 0.0 <= now - stamp < 1.0  # though the robot's clock is an hour ahead
    stamps = [m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for _, m in walk.bed.heard["odom"]]
    assert all(later > earlier for earlier, later in pairwise(stamps))


@pytest.mark.parametrize("who", ["motion_gate", "go2_base"])
def test_a_hold_stops_the_robot_though_it_ignores_zero_velocities(walk: Walk, who: str) -> None:
    walk.begin()
    since = time.monotonic()
    walk.bed.call(SetBool, f"{who}/hold", SetBool.Request(data=True))
    assert walk.stopped_after(since) <= BOUND
    time_of_hold = time.monotonic()
    walk.bed.until(lambda: time.monotonic() - time_of_hold > 0.3 or walk.speed, "time in which it might walk")
    assert walk.speed == 0.0
    walk.bed.call(SetBool, f"{who}/hold", SetBool.Request(data=False))


def test_a_navigator_that_falls_silent_stops_the_robot(walk: Walk) -> None:
    walk.begin()
    since, walk.asked = time.monotonic(), 0.0
    assert walk.stopped_after(since) <= BOUND


@pytest.mark.timed
@pytest.mark.parametrize("name", ["motion_gate", "go2_base"])
def test_the_robot_stands_when_a_process_before_it_is_killed(
    walk: Walk, processes: Processes, name: str
) -> None:
    assert processes.starter is not None
    for _ in range(3):  # each time it has only just come back, and others may not have found it yet
        walk.begin()
        assert walk.stopped_after(processes.kill(name)) <= BOUND
        processes.starter.start_one(name)
    walk.begin()


@pytest.mark.timed
def test_the_robot_walks_only_while_the_guard_hears_the_base(walk: Walk, processes: Processes) -> None:
    assert processes.starter is not None
    walk.begin()
    assert walk.stopped_after(processes.kill("go2_guard")) <= BOUND + 1.0  # `guard_timeout` more
    walk.bed.until(
        lambda: "go2_guard" in walk.bed.diagnosis("go2_base").get("blocked", ""),
        "the guard in the diagnostics",
    )
    processes.starter.start_one("go2_guard")
    walk.begin()


def test_whoever_publishes_past_the_gate_is_named_and_the_robot_stands(walk: Walk) -> None:
    node = walk.bed.node
    walk.begin()
    past = walk.bed.on_executor(lambda: node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND))
    walk.bed.until(lambda: walk.speed == 0.0, "the robot to stand")
    said = walk.bed.until(
        lambda: (
            "past motion_gate" in walk.bed.diagnosis("go2_base").get("message", "")
            and walk.bed.diagnosis("go2_base")["message"]
        ),
        "the intruder in the diagnostics",
    )
    assert "/test_bed" in said
    walk.bed.on_executor(lambda: node.destroy_publisher(past))
    walk.begin()


def test_postures_are_guarded(walk: Walk) -> None:
    def ask(name: str) -> Trigger.Response:
        return walk.bed.call(Trigger, f"go2_base/{name}", Trigger.Request())

    refused = ask("damp")
    assert not refused.success and "sit first" in refused.message
    walk.begin()
    assert not ask("sit").success
    walk.asked = 0.0
    walk.bed.until(lambda: ask("sit").success, "the robot to lie down")
    walk.bed.next("odom", lambda message: message.pose.pose.position.z == pytest.approx(0.09))
    walk.asked = SPEED
    walk.bed.until(
        lambda: "stand_up" in walk.bed.diagnosis("go2_base").get("blocked", ""), "why it does not walk"
    )
    assert ask("stand_up").success
    walk.bed.until(lambda: walk.speed == pytest.approx(SPEED), "the robot to walk again")
    assert math.isfinite(walk.x)


def test_a_hold_of_the_gate_reaches_what_the_base_would_do_by_itself(walk: Walk) -> None:
    def ask(name: str) -> Trigger.Response:
        return walk.bed.call(Trigger, f"go2_base/{name}", Trigger.Request())

    assert walk.bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=True)).success
    walk.bed.until(lambda: "held" in ask("test_stop").message, "the base to know of the hold")
    assert "held" in ask("stand_up").message
    assert walk.bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=False)).success
    walk.bed.until(lambda: ask("stand_up").success, "the base to know of the release")


def test_a_robot_that_may_not_walk_is_no_well_one(walk: Walk) -> None:
    def ask(name: str) -> Trigger.Response:
        return walk.bed.call(Trigger, f"go2_base/{name}", Trigger.Request())

    def said() -> str:
        return walk.bed.diagnosis("go2_base").get("message", "")

    walk.bed.until(lambda: ask("sit").success, "the robot to lie down")
    walk.bed.until(lambda: said().startswith("does not walk: the robot is lying"), "a warning")
    walk.bed.until(lambda: ask("stand_up").success, "the robot to stand up")
    walk.bed.until(lambda: said() == "walks as told", "no warning any more")


def test_the_stop_can_be_tested_before_the_first_walk(walk: Walk) -> None:
    walk.bed.until(
        lambda: walk.bed.call(Trigger, "go2_base/test_stop", Trigger.Request()).success, "the robot at rest"
    )
    result = walk.bed.until(
        lambda: (
            "it stood" in walk.bed.diagnosis("go2_base").get("stop_test", "")
            and walk.bed.diagnosis("go2_base")["stop_test"]
        ),
        "the result in the diagnostics",
    )
    assert result.startswith("passed: it stood")
