"""Tests of the Isaac Sim script's velocity subscription, run with this machine's rclpy."""

from __future__ import annotations

import isaac_files
import pytest
from geometry_msgs.msg import Twist

from lodestar_ros import qos

CONTRACT = isaac_files.module("contract").load()
STILL = (0.0, 0.0, 0.0)


@pytest.fixture
def velocities(monkeypatch):
    """Return the velocity subscription in this module's domain, with a clock set by the test: `now`."""
    time = {"now": 100.0}
    heard = isaac_files.module("velocities").VelocityInput(CONTRACT, lambda: time["now"])
    heard.time = time
    yield heard
    heard.close()


def test_the_robot_takes_the_newest_velocity_and_stands_after_a_silence(bed, velocities) -> None:
    assert velocities.newest() == STILL
    gate = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND))
    twist = Twist()
    twist.linear.y, twist.angular.z = -0.1, 0.3
    sent = []

    def comes_through():  # the newest of all that were sent, so that none is on its way any more
        if len(sent) % 20 == 0:
            twist.linear.x = 0.4 + 0.001 * len(sent)
            gate.publish(twist)
        sent.append(twist.linear.x)
        return velocities.newest() == (sent[-1], -0.1, 0.3)

    bed.until(comes_through, "the newest velocity")
    newest = (sent[-1], -0.1, 0.3)
    assert velocities.newest() == newest
    velocities.time["now"] += CONTRACT.silence - 0.01
    assert velocities.newest() == newest
    velocities.time["now"] += 0.02
    bed.on_executor(lambda: bed.node.destroy_publisher(gate))
    bed.until(lambda: velocities.newest() == STILL, "it stands")
