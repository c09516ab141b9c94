"""All conversions between Unitree's messages, ROS messages and our records."""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import Quaternion, TransformStamped, Twist, Vector3
from nav_msgs.msg import Odometry as OdometryMsg
from sensor_msgs.msg import BatteryState, Imu, JointState, PointCloud2, PointField
from unitree_api.msg import Request
from unitree_go.msg import LowState as LowStateMsg
from unitree_go.msg import SportModeState

from lodestar_go2.odometry import BasePose
from lodestar_go2.sport import SportApi, SportRequest
from lodestar_go2.states import JOINTS, LowState, SportState
from lodestar_ros.conversions import BadMessage, header, pose_to_msg, transform_to_msg

_MILLI = 1e-3
POSE_VARIANCE = (1e-3, 1e-3, 1e-4, 1e-4, 1e-4, 1e-3)  # m^2, rad^2; chosen, because the robot publishes none
TWIST_VARIANCE = (2.5e-3, 2.5e-3, 1e-2, 1e-2, 1e-2, 2.5e-3)


def request_to_msg(request: SportRequest, identity: int) -> Request:
    """Return the message of a request. identity: number that its response repeats."""
    message = Request(parameter=request.parameter)
    message.header.identity.id = identity
    message.header.identity.api_id = int(request.api)
    message.header.policy.noreply = request.api is SportApi.MOVE
    return message


def request_from_msg(message: Request) -> SportRequest:
    """Return the request of a message. Raises BadMessage for an unknown request."""
    try:
        return SportRequest(SportApi(message.header.identity.api_id), message.parameter)
    except ValueError as error:
        raise BadMessage(f"sport request {message.header.identity.api_id} is not known") from error


def sport_state_from_msg(message: SportModeState) -> SportState:
    """Return the state of the sport service."""
    imu = message.imu_state
    return SportState(
        stamp=message.stamp.sec + message.stamp.nanosec * 1e-9,
        position=np.array(message.position, np.float64),
        quaternion=np.array(imu.quaternion, np.float64),
        gyroscope=np.array(imu.gyroscope, np.float64),
        accelerometer=np.array(imu.accelerometer, np.float64),
        body_height=float(message.body_height),
        error_code=int(message.error_code),
        mode=int(message.mode),
        foot_force=tuple(int(force) for force in message.foot_force),
    )


def low_state_from_msg(message: LowStateMsg) -> LowState:
    """Return the state of motors and battery. Raises BadMessage if a motor's angle is not finite."""
    motors = message.motor_state[: len(JOINTS)]
    positions = np.array([motor.q for motor in motors], np.float64)
    if not np.isfinite(positions).all():
        raise BadMessage("a motor's angle is not finite")
    soc = int(message.bms_state.soc)
    return LowState(
        tick=int(message.tick),
        positions=positions,
        velocities=np.array([motor.dq for motor in motors], np.float64),
        torques=np.array([motor.tau_est for motor in motors], np.float64),
        temperatures=tuple(int(motor.temperature) for motor in motors),
        charge=soc / 100.0 if soc <= 100 else math.nan,
        voltage=float(message.power_v),
        current=message.bms_state.current * _MILLI,
        lost=tuple(int(motor.lost) for motor in motors),
    )


def odometry_to_msg(pose: BasePose, odom: str, base: str) -> OdometryMsg:
    """Return the odometry of a pose; its twist is in the base's frame."""
    message = OdometryMsg(header=header(pose.stamp, odom), child_frame_id=base)
    message.pose.pose = pose_to_msg(pose.odom_from_base)
    x, y, turn = pose.velocity
    message.twist.twist = Twist(linear=Vector3(x=x, y=y), angular=Vector3(z=turn))
    for index, (place, speed) in enumerate(zip(POSE_VARIANCE, TWIST_VARIANCE)):
        message.pose.covariance[7 * index] = place
        message.twist.covariance[7 * index] = speed
    return message


def transform_of(pose: BasePose, odom: str, base: str) -> TransformStamped:
    """Return the transform odom -> base."""
    return TransformStamped(
        header=header(pose.stamp, odom), child_frame_id=base, transform=transform_to_msg(pose.odom_from_base)
    )


def imu_to_msg(state: SportState, stamp: float, frame: str) -> Imu:
    """Return the body's orientation, turn rates and accelerations; Unitree's w, x, y, z becomes x, y, z, w."""
    w, x, y, z = (float(value) for value in state.quaternion)
    message = Imu(header=header(stamp, frame), orientation=Quaternion(x=x, y=y, z=z, w=w))
    message.angular_velocity = Vector3(**dict(zip("xyz", map(float, state.gyroscope))))
    message.linear_acceleration = Vector3(**dict(zip("xyz", map(float, state.accelerometer))))
    return message


def joints_to_msg(state: LowState, stamp: float) -> JointState:
    """Return the twelve joints by their names in the robot's description."""
    return JointState(
        header=header(stamp, ""),
        name=list(JOINTS),
        position=state.positions.tolist(),
        velocity=state.velocities.tolist(),
        effort=state.torques.tolist(),
    )


def battery_to_msg(state: LowState, stamp: float, frame: str) -> BatteryState:
    """Return the battery's state. percentage in [0, 1], NaN = unknown."""
    message = BatteryState(header=header(stamp, frame))
    message.voltage, message.current, message.percentage = state.voltage, state.current, state.charge
    message.charge = message.capacity = message.design_capacity = math.nan
    message.power_supply_status = (
        BatteryState.POWER_SUPPLY_STATUS_CHARGING
        if state.current > 0.0
        else BatteryState.POWER_SUPPLY_STATUS_DISCHARGING
    )
    message.power_supply_technology = BatteryState.POWER_SUPPLY_TECHNOLOGY_LION
    message.present = True
    return message


def static_transform(parent: str, child: str, parent_from_child: np.ndarray) -> TransformStamped:
    """Return a static transform. parent_from_child: (4, 4)."""
    return TransformStamped(
        header=header(0.0, parent), child_frame_id=child, transform=transform_to_msg(parent_from_child)
    )


# (field, type) -> size in bytes
_TIMES = {("time", PointField.FLOAT32): 4, ("timestamp", PointField.FLOAT64): 8}


def ages_from_msg(message: PointCloud2) -> np.ndarray | None:
    """Return each point's age before the newest point of the cloud, (N,) seconds; None without valid times.

    It reads `time`, float32 (the L1), or `timestamp`, float64 (Livox: ns; others: s). The largest age
    determines the unit, because the clock may start anywhere: up to 1 means seconds, 1e6 to 1e9 nanoseconds.
    """
    field = next((one for one in message.fields if (one.name, one.datatype) in _TIMES), None)
    if field is None:
        return None
    size = _TIMES[field.name, field.datatype]
    if message.point_step < field.offset + size:
        return None
    count = message.width * message.height
    data = np.frombuffer(message.data, np.uint8)
    if not count or data.size < count * message.point_step:
        return None
    rows = data[: count * message.point_step].reshape(count, message.point_step)
    order = ">" if message.is_bigendian else "<"
    times = np.ascontiguousarray(rows[:, field.offset : field.offset + size]).view(f"{order}f{size}")[:, 0]
    if not np.isfinite(times).all():
        return None
    ages = (times.max() - times).astype(np.float64)
    longest = ages.max()
    if longest <= 1.0:
        return ages
    return ages * 1e-9 if 1e6 <= longest <= 1e9 else None
