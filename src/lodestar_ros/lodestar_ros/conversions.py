"""Conversion of stamps, poses, boxes and grids to and from messages."""

from __future__ import annotations

import array
import math
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Transform, Twist, TwistStamped, Vector3
from nav_msgs.msg import MapMetaData, OccupancyGrid
from std_msgs.msg import Header

from lodestar.geometry.poses import (
    make_transform,
    planar_pose,
    planar_transform,
    quaternion_from_rotation,
    rotation_from_quaternion,
)
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.perception.frames import ImageBox
from lodestar_interfaces import msg
from lodestar_ros.codec import BadMessage, convert_values

#: Limits on values in messages. Values beyond come from a broken driver and would cause errors elsewhere.
GRID_RESOLUTION = (1e-3, 10.0)  # m per cell, valid range
MAX_GRID_CELLS = 2**26
MAX_COORDINATE = 1e6  # m; limit of origins, positions and points
MAX_VELOCITY = 100.0  # m/s and rad/s
MAP = "map"

_UPPER = np.array([0, 1, 2, 4, 5, 8])  # flat indices of the upper triangle of a (3, 3) matrix
# indices that restore the symmetric matrix from its upper triangle
_SYMMETRIC = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])


# --- time ----------------------------------------------------------------------------------------------


def stamp_from_msg(stamp: Time) -> float:
    """Return seconds as the nearest float64, so that the conversion is reversible."""
    return (stamp.sec * 1_000_000_000 + stamp.nanosec) / 1_000_000_000


def stamp_to_msg(seconds: float) -> Time:
    whole = math.floor(seconds)
    nanosec = round((seconds - whole) * 1e9)
    if nanosec >= 1_000_000_000:
        whole, nanosec = whole + 1, nanosec - 1_000_000_000
    return Time(sec=whole, nanosec=nanosec)


def duration_to_msg(seconds: float) -> Duration:
    stamp = stamp_to_msg(seconds)
    return Duration(sec=stamp.sec, nanosec=stamp.nanosec)


def duration_from_msg(duration: Duration) -> float:
    """Return the duration in seconds."""
    return duration.sec + duration.nanosec * 1e-9


def until_to_msg(seconds: float) -> Time:
    """Return the stamp of a time in seconds; the zero stamp for inf, a time that never comes."""
    return stamp_to_msg(seconds if math.isfinite(seconds) else 0.0)


def until_from_msg(stamp: Time) -> float:
    """Return the stamp in seconds; inf for the zero stamp, a time that never comes."""
    seconds = stamp_from_msg(stamp)
    return seconds if seconds > 0.0 else math.inf


def header(stamp: float, frame: str = MAP) -> Header:
    return Header(stamp=stamp_to_msg(stamp), frame_id=frame)


# --- geometry ------------------------------------------------------------------------------------------


def point_to_msg(point: Any) -> Point:
    return Point(x=float(point[0]), y=float(point[1]), z=float(point[2]) if len(point) > 2 else 0.0)


def point_from_msg(point: Point | Vector3) -> np.ndarray:
    """Return the point or vector as (3,) float64."""
    return np.array([point.x, point.y, point.z])


def pose_to_msg(transform: np.ndarray) -> Pose:
    """Return the pose of the child frame of a (4, 4) transform."""
    x, y, z, w = quaternion_from_rotation(transform[:3, :3])
    return Pose(
        position=point_to_msg(transform[:3, 3]),
        orientation=Quaternion(x=float(x), y=float(y), z=float(z), w=float(w)),
    )


def pose_from_msg(pose: Pose) -> np.ndarray:
    """Return the pose as a (4, 4) float64 transform. Raises BadMessage for an invalid pose."""
    return _rigid(pose.position, pose.orientation)


def transform_to_msg(transform: np.ndarray) -> Transform:
    pose = pose_to_msg(transform)
    position = pose.position
    return Transform(translation=Vector3(x=position.x, y=position.y, z=position.z), rotation=pose.orientation)


def transform_from_msg(transform: Transform) -> np.ndarray:
    """Return the transform as (4, 4) float64. Raises BadMessage."""
    return _rigid(transform.translation, transform.rotation)


def _rigid(position: Point | Vector3, q: Quaternion) -> np.ndarray:
    translation = point_from_msg(position)
    if not (np.abs(translation) <= MAX_COORDINATE).all():  # written so that NaN fails too
        raise BadMessage(f"position {translation.tolist()} is not finite, or beyond {MAX_COORDINATE:g} m")
    try:
        return make_transform(rotation_from_quaternion((q.x, q.y, q.z, q.w)), translation)
    except ValueError as error:
        raise BadMessage(str(error)) from error


def planar_to_msg(pose: Any) -> Pose:
    """Return the pose on the ground plane of (x, y, yaw)."""
    return pose_to_msg(planar_transform(float(pose[0]), float(pose[1]), float(pose[2])))


def planar_from_msg(pose: Pose) -> np.ndarray:
    """Return the pose on the ground plane, (3,) float64 x, y, yaw. Raises BadMessage."""
    return planar_pose(pose_from_msg(pose))


def velocity_to_msg(
    velocity: Any, stamp: float, stamped: bool, frame: str = "base_link"
) -> Twist | TwistStamped:
    """Return the message of a velocity vx, vy, wz in the body frame, m/s and rad/s. stamped: a TwistStamped."""
    x, y, turn = (float(value) for value in velocity)
    twist = Twist(linear=Vector3(x=x, y=y), angular=Vector3(z=turn))
    return TwistStamped(header=header(stamp, frame), twist=twist) if stamped else twist


def velocity_from_msg(twist: Twist) -> tuple[float, float, float]:
    """Return forward and sideways velocity in m/s, turn rate in rad/s. Raises BadMessage."""
    velocity = (twist.linear.x, twist.linear.y, twist.angular.z)
    if not all(abs(v) <= MAX_VELOCITY for v in velocity):  # written so that NaN fails too
        raise BadMessage(f"velocity {velocity} is not finite, or beyond {MAX_VELOCITY:g}")
    return velocity


def planar_tuple(pose: Pose) -> tuple[float, float, float]:
    """Return x, y, yaw. Raises BadMessage."""
    x, y, yaw = planar_from_msg(pose).tolist()
    return x, y, yaw


def place_to_msg(place: tuple[float, float]) -> Point:
    """Return the point on the floor at (x, y)."""
    return Point(x=float(place[0]), y=float(place[1]))


def place_from_msg(point: Point) -> tuple[float, float]:
    """Return (x, y). Raises BadMessage for a point that is not finite or out of bounds."""
    place = float(point.x), float(point.y)
    if not all(math.isfinite(value) and abs(value) <= MAX_COORDINATE for value in place):
        raise BadMessage(f"({place[0]}, {place[1]}) is no place")
    return place


def planar_to_stamped(pose: Any, stamp: float, frame: str = MAP) -> PoseStamped:
    return PoseStamped(header=header(stamp, frame), pose=planar_to_msg(pose))


def covariance_to_list(covariance: np.ndarray) -> np.ndarray:
    """Return (6,) float64: upper triangle xx, xy, xz, yy, yz, zz of a (3, 3) matrix."""
    return np.asarray(covariance, np.float64).reshape(9)[_UPPER]


def covariance_from_list(values: Any) -> np.ndarray:
    """Return the symmetric (3, 3) float64 of an upper triangle (6,)."""
    return np.asarray(values, np.float64)[_SYMMETRIC]


def box_to_msg(box: ImageBox) -> msg.ImageBox:
    return msg.ImageBox(
        x=max(0, int(box.x)),
        y=max(0, int(box.y)),
        width=int(box.width),
        height=int(box.height),
        outline=array.array("h", box.outline),
    )


def box_from_msg(box: msg.ImageBox) -> ImageBox:
    return ImageBox(box.x, box.y, box.width, box.height, outline=tuple(box.outline))


# --- values of records ---------------------------------------------------------------------------------

_TIME, _POSE, _POINT = "builtin_interfaces/Time", "geometry_msgs/Pose", "geometry_msgs/Point"

convert_values("stamp", "std_msgs/Header", header, lambda message: stamp_from_msg(message.stamp))
convert_values(float, _TIME, stamp_to_msg, stamp_from_msg)
convert_values(
    float | None, _TIME, lambda s: stamp_to_msg(s or 0.0), lambda message: stamp_from_msg(message) or None
)
for _limit in ("expires", "deadline"):
    convert_values(_limit, _TIME, until_to_msg, until_from_msg)
convert_values(float, "builtin_interfaces/Duration", duration_to_msg, duration_from_msg)
convert_values(np.ndarray, _POINT, point_to_msg, point_from_msg)
convert_values(tuple[float, float], _POINT, place_to_msg, place_from_msg)
convert_values(np.ndarray, _POSE, planar_to_msg, planar_from_msg)
convert_values(tuple[float, float, float], _POSE, planar_to_msg, planar_tuple)
for _transform in ("map_from_camera", "odom_from_camera"):
    convert_values(_transform, _POSE, pose_to_msg, pose_from_msg)
convert_values(np.ndarray, "geometry_msgs/Transform", transform_to_msg, transform_from_msg)
convert_values(np.ndarray, "double[6]", covariance_to_list, covariance_from_list)
convert_values(ImageBox, "lodestar_interfaces/ImageBox", box_to_msg, box_from_msg)
convert_values(
    dict[int, float],
    "sequence<lodestar_interfaces/WeightedId>",
    lambda weights: [msg.WeightedId(id=int(key), weight=float(weights[key])) for key in weights],
    lambda messages: {item.id: item.weight for item in messages},
)
convert_values(
    dict[str, float],
    "sequence<lodestar_interfaces/NamedValue>",
    lambda values: [msg.NamedValue(name=name, value=float(values[name])) for name in values],
    lambda messages: {item.name: item.value for item in messages},
)


# --- grids ---------------------------------------------------------------------------------------------


def map_info(shape: tuple[int, ...], resolution: float, origin: Any, stamp: float = 0.0) -> MapMetaData:
    """Return the metadata of a grid of (rows, columns) cells. origin: (x, y) of the outer corner of cell (0, 0)."""
    info = MapMetaData(map_load_time=stamp_to_msg(stamp), resolution=float(resolution))
    info.height, info.width = int(shape[0]), int(shape[1])
    info.origin.position.x, info.origin.position.y = float(origin[0]), float(origin[1])
    info.origin.orientation.w = 1.0
    return info


def grid_to_msg(grid: OccupancyGrid2D) -> OccupancyGrid:
    message = OccupancyGrid(header=header(grid.stamp, grid.frame))
    message.info = map_info(grid.cells.shape, grid.resolution, grid.origin, grid.stamp)
    cells = np.ascontiguousarray(grid.cells, np.int8)
    message.data = array.array("b", cells.tobytes())
    return message


def grid_from_msg(message: OccupancyGrid) -> OccupancyGrid2D:
    """Return the grid. Raises BadMessage for a rotated grid or one with an invalid origin, resolution or
    number of cells.
    """
    info, (low, high) = message.info, GRID_RESOLUTION
    rows, columns = info.height, info.width
    cells = np.frombuffer(message.data, np.int8)
    if not low <= info.resolution <= high:
        raise BadMessage(f"grid of {info.resolution:g} m per cell; {low:g} to {high:g} m can be planned on")
    if cells.size != rows * columns or cells.size > MAX_GRID_CELLS:
        said = f"{rows} x {columns} cells and brings {cells.size}"
        raise BadMessage(f"grid says {said}; at most {MAX_GRID_CELLS} are taken")
    position, turn = info.origin.position, info.origin.orientation
    # an all-zero orientation was not filled in
    upright = Pose(position=position) if not any((turn.x, turn.y, turn.z, turn.w)) else info.origin
    if not np.allclose(pose_from_msg(upright)[:3, :3], np.eye(3), atol=1e-6):
        raise BadMessage(
            "the grid's origin is rotated; only grids along the axes of their frame are supported"
        )
    # MapMetaData has float32: round, so that 0.1 m does not become 0.10000000149 m
    resolution = round(float(info.resolution), 6)
    return OccupancyGrid2D(
        cells.reshape(rows, columns),
        resolution,
        (position.x, position.y),
        stamp_from_msg(message.header.stamp),
        message.header.frame_id or MAP,
    )
