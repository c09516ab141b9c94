"""Tests of a mission of ten waypoints during which the simulator's navigator and the mission runner are killed."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import time

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from waiting import wait_for

from integration.commands import Command
from integration.fakes import FakeRobot
from integration.surroundings import TIMES
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import header

pytestmark = pytest.mark.slow

PERIOD = 0.05  # s between two odometry messages
LOST = {"loop.navigator_timeout": 10.0, "navigator.silence_timeout": 10.0}  # a dead navigator is noticed
STEPS = [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (-1.0, 0.0)] * 2
TEXT = "\n".join(
    ["mission: rounds", "retries: 20", "retry_delay: 1 s", "steps:"]
    + [f"  - waypoint: {{x: {x}, y: {y}}}" for x, y in STEPS]
)


class Base:
    """Fake base that follows the velocities of motion_gate and publishes odometry and TF."""

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
    parameters = {"goal_selector": TIMES | LOST, "sim_navigator": {"grid_holds": 0.0}}
    processes.start("goal_selector", "motion_gate", "sim_navigator", parameters=parameters)
    bed.next("goal_selector/heartbeat")
    bed.until(lambda: bed.diagnosis("sim_navigator"), "the navigator")
    return base


@pytest.fixture
def command(tmp_path):
    path = tmp_path / "mission.yaml"
    path.write_text(TEXT)
    running = []

    def start():
        running.append(
            Command(
                "lodestar_bringup.mission", str(path), "--folder", str(tmp_path / "state"),
            )
        )  # fmt: skip
        return running[-1]

    yield start
    for one in running:
        one.kill()


def under_way(base, command, number):
    """Wait until the robot moves towards a step's waypoint."""
    command.until(lambda: f"Step {number} of 10" in command.text, f"step {number}")
    begun = base.place
    wait_for(lambda: math.dist(base.place, begun) >= 0.1, lambda: f"it moves\n{command.text}")


def kill(command):
    os.killpg(command.process.pid, signal.SIGKILL)
    command.process.wait()


def test_ten_waypoints_survive_kill_9_of_the_runner_and_of_the_navigator(base, command, processes, tmp_path):
    first = command()
    under_way(base, first, 3)
    kill(first)
    second = command()
    second.until(lambda: "Going on with round 1, step " in second.text, "it goes on")
    gone_on = int(re.search(r"Going on with round 1, step (\d+)", second.text)[1])
    assert 3 <= gone_on <= 5, "the robot may have arrived before its runner was killed"
    under_way(base, second, 5)
    processes.kill("sim_navigator")
    second.until(lambda: "failed, is tried again" in second.text, "the step fails")
    processes.starter.start_one("sim_navigator")
    under_way(base, second, 7)
    processes.kill("sim_navigator")
    kill(second)
    processes.starter.start_one("sim_navigator")
    third = command()
    third.until(lambda: "Step 10 of 10" in third.text, "the last step")
    assert third.ends() == 0, third.text
    assert "10 of 10 steps done" in third.text
    (report,) = (tmp_path / "state" / "reports").iterdir()
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert [(line["step"], line["outcome"]) for line in lines] == [
        (number, "done") for number in range(1, 11)
    ]
    assert max(line["attempts"] for line in lines[4:6]) >= 2 and math.dist(base.place, STEPS[-1]) < 0.6
    processes.assert_alive(besides=("sim_navigator",))
