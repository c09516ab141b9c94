"""The part of the script for Isaac Sim that hears velocities: it runs here with the rclpy of this machine."""

from __future__ import annotations

import isaac_files
import pytest
from geometry_msgs.msg import Twist

from lodestar_ros import qos

CONTRACT = isaac_files.module("contract").load()
STILL = (0.0, 0.0, 0.0)


@pytest.fixture
def velocities(domain, monkeypatch):
    """The listener in this module's domain, with a clock that the test moves: `now`."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    time = {"now": 100.0}
    heard = isaac_files.module("velocities").VelocityInput(CONTRACT, lambda: time["now"])
    heard.time = time
    yield heard
    heard.close()


def test_the_robot_takes_the_newest_velocity_and_stands_after_a_silence(bed, velocities) -> None:
    assert velocities.newest() == STILL
    gate = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND))
    twist = Twist()
    twist.linear.x, twist.linear.y, twist.angular.z = 0.4, -0.1, 0.3

    def comes_through():
        gate.publish(twist)
        return velocities.newest() != STILL

    bed.until(comes_through, "a velocity")
    assert velocities.newest() == (0.4, -0.1, 0.3)
    velocities.time["now"] += CONTRACT.silence - 0.01
    assert velocities.newest() == (0.4, -0.1, 0.3)
    velocities.time["now"] += 0.02
    bed.on_executor(lambda: bed.node.destroy_publisher(gate))
    bed.until(lambda: velocities.newest() == STILL, "it stands")
