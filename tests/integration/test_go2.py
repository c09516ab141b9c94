"""Tests of the Go2 driver as processes: gate, base and guard, with a stand-in for the robot."""

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
from waiting import Moment

from integration.bed import Bed, Processes
from integration.surroundings import release_all
from lodestar_interfaces.msg import Heartbeat, Holds
from lodestar_ros import qos

SPEED = 0.5  # m/s, commanded
BOUND = 0.5  # s within which the robot must stand
NODES = ("motion_gate", "go2_base", "go2_guard", "go2_stand_in")


class Walk:
    """Fake navigator and heartbeat of the goal selector, and simulated body of the stand-in."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.speed = self.turn = self.yaw = 0.0
        self.asked = 0.0
        self.stood_at = math.inf  # s, monotonic; the newest change to a speed of 0
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
        bed.hear(Holds, "motion_gate/holds", qos.LATCHED)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _on_velocity(self, twist: Twist) -> None:
        if self.speed and not twist.linear.x:
            self.stood_at = time.monotonic()
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
            told = self.bed.last("motion_gate/holds")
            follows = told.number if told is not None else 0
            self._beats.publish(Heartbeat(motion_allowed=True, goal_under_way=True, follows=follows))
            if self.asked:
                self._commands.publish(Twist(linear=Vector3(x=self.asked)))

    def begin(self) -> None:
        """Release what holds, command a walk, and wait until the robot walks.

        A process that came back asks for its hold again where the gate's answer was lost, also after the release.
        """
        release_all(self.bed)
        self.asked = SPEED

        def walks() -> bool:
            if self.bed.last("motion_gate/holds").standing:
                release_all(self.bed)
            return self.speed == pytest.approx(SPEED)

        self.bed.until(walks, "the robot to walk")

    def stopped_after(self, since: Moment) -> float:
        """Wait until the robot is commanded to stand; return the seconds from a moment until that command."""
        self.bed.until(lambda: self.speed == 0.0, "the robot to stand")
        return since.until(self.stood_at)

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
    steady = pytest.approx(SPEED, abs=0.15)  # the stand-in slows down where a velocity comes late
    said = walk.bed.next(
        "odom", lambda one: one.pose.pose.position.x > before + 0.2 and one.twist.twist.linear.x == steady
    )
    assert said.pose.pose.position.z == pytest.approx(0.31)  # despite the offset of the robot's own z
    now = walk.bed.node.get_clock().now().nanoseconds * 1e-9
    stamp = said.header.stamp.sec + said.header.stamp.nanosec * 1e-9
    assert 0.0 <= now - stamp < 60.0  # although the robot's clock is an hour ahead
    stamps = [m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for _, m in walk.bed.heard["odom"]]
    assert all(later > earlier for earlier, later in pairwise(stamps))


@pytest.mark.parametrize("who", ["motion_gate", "go2_base"])
def test_a_hold_stops_the_robot_though_it_ignores_zero_velocities(
    walk: Walk, processes: Processes, who: str
) -> None:
    walk.begin()
    since = processes.now()
    walk.bed.call(SetBool, f"{who}/hold", SetBool.Request(data=True))
    assert walk.stopped_after(since) <= BOUND
    time_of_hold = time.monotonic()
    walk.bed.until(lambda: time.monotonic() - time_of_hold > 0.3 or walk.speed, "time in which it might walk")
    assert walk.speed == 0.0
    walk.bed.call(SetBool, f"{who}/hold", SetBool.Request(data=False))


def test_a_navigator_that_falls_silent_stops_the_robot(walk: Walk, processes: Processes) -> None:
    walk.begin()
    since, walk.asked = processes.now(), 0.0
    assert walk.stopped_after(since) <= BOUND


@pytest.mark.timed
@pytest.mark.parametrize("name", ["motion_gate", "go2_base"])
def test_the_robot_stands_when_a_process_before_it_is_killed(
    walk: Walk, processes: Processes, name: str
) -> None:
    assert processes.starter is not None
    for _ in range(3):  # also right after its restart, before discovery is complete
        walk.begin()
        number = walk.bed.last("motion_gate/holds").number
        assert walk.stopped_after(processes.kill(name)) <= BOUND
        processes.starter.start_one(name)
        told = walk.bed.until(
            lambda number=number: (held := walk.bed.last("motion_gate/holds")).number > number and held,
            "the hold after a crash",
        )
        assert told.standing[0].who == name and walk.speed == 0.0, "nothing moves until a person releases it"
    walk.begin()


@pytest.mark.timed
def test_the_robot_walks_only_while_the_guard_hears_the_base(walk: Walk, processes: Processes) -> None:
    assert processes.starter is not None
    walk.begin()
    assert walk.stopped_after(processes.kill("go2_guard")) <= BOUND + 1.0  # plus `guard_timeout`
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
    told = lambda: walk.bed.diagnosis("go2_base").get("message", "")  # noqa: E731
    try:
        # the graph tells a publisher before the name of its node
        walk.bed.until(
            lambda: "/test_bed publishes velocities past motion_gate" in told(),
            lambda: f"the intruder in the diagnostics; they tell {told()!r}",
        )
        walk.bed.until(lambda: walk.speed == 0.0, "the robot to stand")
    finally:
        walk.bed.on_executor(lambda: node.destroy_publisher(past))
    walk.begin()


def test_postures_are_guarded(walk: Walk) -> None:
    def ask(name: str) -> Trigger.Response:
        return walk.bed.call(Trigger, f"go2_base/{name}", Trigger.Request())

    refused = ask("damp")
    assert not refused.success and "sit first" in refused.message
    walk.begin()

    def refuses() -> bool:  # it may sit where it stands for a moment, because commands come late
        if not ask("sit").success:
            return True
        walk.bed.until(lambda: ask("stand_up").success, "the robot to stand up")
        walk.begin()
        return False

    walk.bed.until(refuses, "the robot not to sit while it walks")
    walk.asked = 0.0
    walk.bed.until(lambda: ask("sit").success, "the robot to lie down")
    walk.bed.next("odom", lambda message: message.pose.pose.position.z == pytest.approx(0.09))
    walk.asked = SPEED
    walk.bed.until(
        lambda: "stand_up" in walk.bed.diagnosis("go2_base").get("blocked", ""), "why it does not walk"
    )
    walk.bed.until(lambda: ask("stand_up").success, "the robot to stand up")
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

    def result() -> str:
        told = walk.bed.diagnosis("go2_base").get("stop_test", "")
        if told.startswith("no result"):  # on a busy machine
            walk.bed.call(Trigger, "go2_base/test_stop", Trigger.Request())
        return told if "it stood" in told else ""

    assert walk.bed.until(result, "the result in the diagnostics").startswith("passed: it stood")
