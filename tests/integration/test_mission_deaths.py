"""A mission of ten waypoints on the simulator's navigator, which is killed, as the mission's runner is."""

from __future__ import annotations

import json
import math
import os
import signal
import time

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from integration.commands import Command
from integration.fakes import FakeRobot
from integration.surroundings import TIMES
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import header

pytestmark = pytest.mark.slow

PATIENCE = 120.0  # s; the command loads the grammar, the navigator compiles its kernels
PERIOD = 0.05  # s
STEPS = [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (-1.0, 0.0)] * 2
TEXT = "\n".join(
    ["mission: rounds", "retries: 20", "retry_delay: 1 s", "steps:"]
    + [f"  - waypoint: {{x: {x}, y: {y}}}" for x, y in STEPS]
)


class Base:
    """Does as motion_gate says, in thought; odometry and TF follow."""

    def __init__(self, bed):
        self._robot = FakeRobot(bed)
        self._robot.publish_grid()
        self._velocity, self._heard = np.zeros(3), 0.0
        self._odometry = bed.node.create_publisher(Odometry, "odom", qos.RELIABLE)
        bed.node.create_subscription(Twist, "cmd_vel_out", self._on_velocity, qos.COMMAND)
        bed.node.create_timer(PERIOD, self._move)

    @property
    def place(self):
        return self._robot.pose[:2]

    def _on_velocity(self, twist):
        self._velocity = np.array([twist.linear.x, twist.linear.y, twist.angular.z])
        self._heard = time.monotonic()

    def _move(self):
        x, y, yaw = self._robot.pose
        forward, sideways, turn = self._velocity if time.monotonic() - self._heard < 0.5 else np.zeros(3)
        across = (
            math.cos(yaw) * forward - math.sin(yaw) * sideways,
            math.sin(yaw) * forward + math.cos(yaw) * sideways,
        )
        self._robot.pose = (x + PERIOD * across[0], y + PERIOD * across[1], yaw + PERIOD * turn)
        told = Odometry(header=header(time.time(), "odom"), child_frame_id="base_link")
        told.pose.pose.position.x, told.pose.pose.position.y = self._robot.pose[:2]
        told.pose.pose.orientation.z, told.pose.pose.orientation.w = math.sin(yaw / 2.0), math.cos(yaw / 2.0)
        told.twist.twist.linear.x, told.twist.twist.linear.y = float(forward), float(sideways)
        told.twist.twist.angular.z = float(turn)
        self._odometry.publish(told)


@pytest.fixture(scope="module")
def base(bed, processes):
    bed.hear(msg.Heartbeat, "goal_selector/heartbeat", qos.COMMAND)
    base = bed.on_executor(lambda: Base(bed))
    parameters = {"goal_selector": TIMES, "sim_navigator": {"grid_holds": 0.0}}
    processes.start("goal_selector", "motion_gate", "sim_navigator", parameters=parameters)
    bed.next("goal_selector/heartbeat", timeout=PATIENCE)
    bed.until(lambda: bed.diagnosis("sim_navigator"), "the navigator", PATIENCE)
    return base


@pytest.fixture
def command(domain, tmp_path):
    path = tmp_path / "mission.yaml"
    path.write_text(TEXT)
    running = []

    def start():
        running.append(
            Command(
                "lodestar_bringup.mission", str(path), "--folder", str(tmp_path / "state"),
                environment={"ROS_DOMAIN_ID": str(domain)},
            )
        )  # fmt: skip
        return running[-1]

    yield start
    for one in running:
        one.kill()


def under_way(base, command, number):
    """The robot is on its way to a step, and moves."""
    command.until(lambda: f"Step {number} of 10" in command.text, f"step {number}", PATIENCE)
    begun, end = base.place, time.monotonic() + PATIENCE
    while math.dist(base.place, begun) < 0.1:
        assert time.monotonic() < end, command.text
        time.sleep(PERIOD)


def kill(command):
    os.killpg(command.process.pid, signal.SIGKILL)
    command.process.wait()


def test_ten_waypoints_survive_kill_9_of_the_runner_and_of_the_navigator(base, command, processes, tmp_path):
    first = command()
    under_way(base, first, 3)
    kill(first)
    second = command()
    second.until(lambda: "Going on with round 1, step 3" in second.text, "it goes on", PATIENCE)
    under_way(base, second, 5)
    processes.kill("sim_navigator")
    second.until(lambda: "failed, is tried again" in second.text, "the step fails", PATIENCE)
    processes.starter.start_one("sim_navigator")
    under_way(base, second, 7)
    processes.kill("sim_navigator")
    kill(second)
    processes.starter.start_one("sim_navigator")
    third = command()
    assert third.ends(2 * PATIENCE) == 0, third.text
    assert "10 of 10 steps done" in third.text
    (report,) = (tmp_path / "state" / "reports").iterdir()
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert [(line["step"], line["outcome"]) for line in lines] == [
        (number, "done") for number in range(1, 11)
    ]
    assert lines[4]["attempts"] >= 2 and math.dist(base.place, STEPS[-1]) < 0.6
    processes.assert_alive(besides=("sim_navigator",))
