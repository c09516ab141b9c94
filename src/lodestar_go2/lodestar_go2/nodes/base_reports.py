"""Publishers of the robot's pose and state."""

from __future__ import annotations

from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState, Imu, JointState
from tf2_msgs.msg import TFMessage

from lodestar_go2 import conversions
from lodestar_go2.health import feet_in_words, warnings_of
from lodestar_go2.odometry import BasePose
from lodestar_go2.states import LowState, SportState
from lodestar_ros import qos
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config


class BaseReports:
    """Publishes ``odom``, ``/tf``, ``imu``, ``battery``, ``joint_states``; adds feet and battery to the diagnostics."""

    def __init__(self, node: LodestarNode) -> None:
        self._frames = declare_config(node, FrameNames, "frames.")
        self._sport: SportState | None = None
        self._low: LowState | None = None
        self._odom = node.create_publisher(Odometry, "odom", qos.RELIABLE)
        self._tf = node.create_publisher(TFMessage, "/tf", qos.TF)
        self._imu = node.create_publisher(Imu, "imu", qos.SENSOR)
        self._battery = node.create_publisher(BatteryState, "battery", qos.SENSOR)
        self._joints = node.create_publisher(JointState, "joint_states", qos.SENSOR)
        node.diagnostics.value("feet", lambda: feet_in_words(self._sport) if self._sport else "unknown")
        node.diagnostics.value("sport_state", lambda: self._sport.error_code if self._sport else "unknown")
        node.diagnostics.value("battery", lambda: f"{self._low.charge:.0%}" if self._low else "unknown")

    @property
    def warnings(self) -> list[str]:
        """Return warnings about the robot's health, in words."""
        return warnings_of(self._low)

    def take_sport(self, state: SportState, pose: BasePose) -> None:
        """Publish transform, odometry and IMU."""
        self._sport = state
        odom, base = self._frames.odom, self._frames.base
        self._tf.publish(TFMessage(transforms=[conversions.transform_of(pose, odom, base)]))
        self._odom.publish(conversions.odometry_to_msg(pose, odom, base))
        self._imu.publish(conversions.imu_to_msg(state, pose.stamp, base))

    def take_low(self, state: LowState, stamp: float) -> None:
        """Publish joints and battery. stamp: seconds of our clock."""
        self._low = state
        self._joints.publish(conversions.joints_to_msg(state, stamp))
        self._battery.publish(conversions.battery_to_msg(state, stamp, self._frames.base))
