"""Velocities from `cmd_vel_out`, zero after a silence. Needs rclpy, which Isaac Sim's ROS 2 bridge provides."""

from __future__ import annotations

import time
from collections.abc import Callable

import rclpy
from contract import Contract
from geometry_msgs.msg import Twist
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy


class VelocityInput:
    """The newest velocity that the motion gate passed."""

    def __init__(self, contract: Contract, clock: Callable[[], float] = time.monotonic) -> None:
        topic = contract.topics["cmd_vel_out"]
        self._clock, self._silence = clock, contract.silence
        self._velocity, self._heard = (0.0, 0.0, 0.0), -float("inf")
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("isaac_go2", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        profile = QoSProfile(
            depth=topic.qos.depth,
            reliability=ReliabilityPolicy[topic.qos.reliability.upper()],
            durability=DurabilityPolicy[topic.qos.durability.upper()],
        )
        self._node.create_subscription(Twist, topic.name, self._on_twist, profile)

    def _on_twist(self, message: Twist) -> None:
        self._velocity = (message.linear.x, message.linear.y, message.angular.z)
        self._heard = self._clock()

    def newest(self) -> tuple[float, float, float]:
        """Return x and y in m/s and the yaw rate in rad/s of base_link; zero after `silence` seconds without
        a message.
        """
        self._executor.spin_once(timeout_sec=0.0)
        return self._velocity if self._clock() - self._heard <= self._silence else (0.0, 0.0, 0.0)

    def close(self) -> None:
        """Destroy the node."""
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()
