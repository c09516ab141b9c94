"""ROS shell around the simulated Go2 (stand-in): connects the Go2's own topics with the simulator."""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import Twist, Vector3
from nav_msgs.msg import Odometry
from sensor_msgs.msg import PointCloud2
from unitree_api.msg import Request, Response
from unitree_go.msg import LowState, SportModeState, TimeSpec

from lodestar.geometry.poses import quaternion_from_rotation
from lodestar_ros import qos
from lodestar_ros.conversions import pose_from_msg, stamp_from_msg
from lodestar_ros.conversions_sensors import cloud_from_msg, cloud_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare, declare_config
from lodestar_sim.go2_protocol import Connection, SportService, TrapConfig, hung, own_body

PERIOD = 0.02  # s of real time between two deliveries of due messages


class Go2StandInNode(LodestarNode):
    """Imitate a Go2: answer sport requests; publish sport state, motor state and LiDAR clouds.

    Subscribes: ``api/sport/request``, ``stand_in/odom``, ``stand_in/points``. Publishes: ``stand_in/cmd_vel``,
    ``api/sport/response``, ``sportmodestate``, ``lowstate``, ``utlidar/cloud``.
    """

    def __init__(self, **kwargs):
        super().__init__("go2_stand_in", **kwargs)
        traps = self._traps = declare_config(self, TrapConfig, "traps.")
        rng = np.random.default_rng(declare(self, "seed", int, 1))
        self._service = SportService(traps)
        self._states: Connection[SportModeState] = Connection(traps, rng)
        self._clouds: Connection[PointCloud2] = Connection(traps, rng)
        self._walked, self._place = 0.0, np.zeros(2)
        self._velocity = self.create_publisher(Twist, "stand_in/cmd_vel", qos.COMMAND)
        self._responses = self.create_publisher(Response, "api/sport/response", qos.EVENT)
        self._sport = self.create_publisher(SportModeState, "sportmodestate", qos.SENSOR)
        self._low = self.create_publisher(LowState, "lowstate", qos.SENSOR)
        self._cloud = self.create_publisher(PointCloud2, "utlidar/cloud", qos.SENSOR)
        self.listen(Request, "api/sport/request", self._on_request, qos.EVENT)
        self.listen(Odometry, "stand_in/odom", self._on_odometry, qos.RELIABLE)
        self.listen(PointCloud2, "stand_in/points", self._on_points, qos.SENSOR)
        self.diagnostics.value("requests", lambda: dict(self._service.counts) or "none")
        self.steady_timer(PERIOD, self._pass_on)

    def _on_request(self, message: Request) -> None:
        if self._states.is_down(self.now):
            return
        identity = message.header.identity
        code = self._service.request(identity.api_id, message.parameter, self.now)
        if not message.header.policy.noreply:
            response = Response()
            response.header.identity.id, response.header.identity.api_id = identity.id, identity.api_id
            response.header.status.code = code
            self._responses.publish(response)

    def _on_odometry(self, message: Odometry) -> None:
        now = stamp_from_msg(message.header.stamp)
        pose = pose_from_msg(message.pose.pose)
        self._walked += math.dist(pose[:2, 3], self._place)
        self._place = pose[:2, 3]
        self._states.send(self._sport_state(pose, message.twist.twist, now), now)

    def _sport_state(self, pose: np.ndarray, twist: Twist, now: float) -> SportModeState:
        state = SportModeState(mode=1, body_height=float(self._service.body_height))
        stamp = self._states.stamp(now)
        state.stamp = TimeSpec(sec=int(stamp), nanosec=int(stamp % 1.0 * 1e9))
        x, y, z, w = (float(value) for value in quaternion_from_rotation(pose[:3, :3]))
        state.imu_state.quaternion = [w, x, y, z]
        state.imu_state.gyroscope = [0.0, 0.0, twist.angular.z]
        state.imu_state.accelerometer = [0.0, 0.0, 9.81]
        state.position = [*map(float, pose[:2, 3]), self._service.body_height + self._traps.height_offset]
        state.velocity = [twist.linear.x, twist.linear.y, 0.0]
        state.yaw_speed = twist.angular.z
        state.foot_force = [60, 60, 60, 60]
        return state

    def _low_state(self) -> LowState:
        state = LowState(tick=int(self.now * 1e3) % 2**32, power_v=29.0, power_a=-4.0)
        standing = self._service.body_height > 0.2
        for index, motor in enumerate(state.motor_state[:12]):
            motor.q = (0.0, 0.8, -1.5)[index % 3] if standing else (0.0, 1.3, -2.6)[index % 3]
            motor.temperature = 38
        state.bms_state.soc = max(5, int(90 - self._walked / 50.0))
        state.bms_state.current = -4000
        return state

    def _on_points(self, message: PointCloud2) -> None:
        now = stamp_from_msg(message.header.stamp)
        points = np.concatenate([cloud_from_msg(message), own_body()])
        stamp = self._clouds.stamp(now)
        self._clouds.send(cloud_to_msg(hung(points, self._traps), stamp, "utlidar_lidar"), now)

    def _pass_on(self) -> None:
        """Publish due messages, the motors' state, and the walking velocity."""
        now = self.now
        for state in self._states.arrived(now):
            self._sport.publish(state)
        for cloud in self._clouds.arrived(now):
            self._cloud.publish(cloud)
        if not self._states.is_down(now):
            self._low.publish(self._low_state())
        x, y, turn = self._service.velocity(now)
        self._velocity.publish(Twist(linear=Vector3(x=x, y=y), angular=Vector3(z=turn)))


main = main_of(Go2StandInNode)
