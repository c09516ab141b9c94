"""Conversion of images, cameras, rows of vectors, point clouds and scans to and from messages.

Arrays are copied as bytes (`tobytes`), never element by element. Reading returns a view of the message's
bytes, which is read-only if the message's buffer is.
"""

from __future__ import annotations

import sys

import numpy as np
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, LaserScan, PointCloud2, PointField

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.camera_model import CameraModel
from lodestar_ros.codec import BadMessage, convert_values
from lodestar_ros.conversions import MAX_COORDINATE, header
from lodestar_ros.image_codecs import QUICK, color_array, depth_array, plain_array

DTYPES = {encoding: dtype for encoding, (dtype, _) in QUICK.items()}

#: datatype of a PointField -> NumPy's dtype code
FIELD_TYPES = {
    PointField.INT8: "i1", PointField.UINT8: "u1", PointField.INT16: "i2", PointField.UINT16: "u2",
    PointField.INT32: "i4", PointField.UINT32: "u4", PointField.FLOAT32: "f4", PointField.FLOAT64: "f8",
}  # fmt: skip
FOCAL_LENGTH = (1.0, 1e6)  # pixels, valid range
MAX_IMAGE_SIDE = 2**15  # pixels
SCAN_ANGLES = 4.0 * np.pi  # rad; a scan with larger angles is in degrees, or invalid; chosen
SCAN_SLACK = 0.01  # share of a scan's beams by which angles and number of ranges may disagree; chosen


# --- images --------------------------------------------------------------------------------------------


def image_to_msg(array: np.ndarray, encoding: str, stamp: float = 0.0, frame: str = "") -> Image:
    """Return the image message of an (H, W) or (H, W, C) array, which is cast to the encoding's dtype."""
    array = np.ascontiguousarray(array, dtype=DTYPES[encoding])
    message = Image(
        header=header(stamp, frame), height=array.shape[0], width=array.shape[1], encoding=encoding
    )
    message.is_bigendian = int(sys.byteorder == "big")
    message.step = array.strides[0] if array.size else 0
    message.data = array.tobytes()
    return message


def image_from_msg(message: Image) -> np.ndarray:
    """Return an (H, W) or (H, W, C) view of an image's bytes in native byte order, for labels, masks and numbers.

    Raises BadMessage for an encoding that holds no numbers, or if size and bytes do not match.
    """
    return plain_array(message)


def rgb_from_msg(message: Image | CompressedImage) -> np.ndarray:
    """Return (H, W, 3) uint8 RGB, not rectified. Raises BadMessage."""
    return color_array(message)


def depth_from_msg(message: Image | CompressedImage) -> np.ndarray:
    """Return (H, W) float32, metres, 0 = invalid, not rectified; see `image_codecs.DEPTH_UNITS`. Raises BadMessage."""
    return depth_array(message)


def model_from_msg(message: CameraInfo) -> CameraModel:
    """Return the camera model. Raises BadMessage for the empty calibration that uncalibrated drivers send."""
    k, p, d, r = (_matrix(message, name) for name in "kpdr")
    width, height = int(message.width), int(message.height)
    raw, rectified = _intrinsics(k, 3), _intrinsics(p, 4)
    sides = 0 < width <= MAX_IMAGE_SIDE and 0 < height <= MAX_IMAGE_SIDE
    if not sides or (raw is None and rectified is None):
        raise BadMessage(
            f"camera_info has no calibration: {width}x{height}, K has {_told(k, 3)}, P has {_told(p, 4)}; calibrate "
            "the camera (camera_calibration), or tell its driver where the calibration is (camera_info_url)"
        )
    if not all(np.isfinite(value) for value in d):
        raise BadMessage(f"camera_info: the distortion {list(d)} is not finite")
    roi = message.roi
    window = (int(roi.x_offset), int(roi.y_offset), int(roi.width), int(roi.height))
    return CameraModel(
        width, height, raw, rectified, str(message.distortion_model), d,
        (max(1, int(message.binning_x)), max(1, int(message.binning_y))), window,
        turned=any(r) and not np.allclose(np.reshape(r, (3, 3)), np.eye(3), atol=1e-6),
    )  # fmt: skip


def camera_from_msg(message: CameraInfo) -> PinholeCamera:
    """Return the camera of rectified images of the message's size. Raises BadMessage, as `model_from_msg`."""
    model = model_from_msg(message)
    return model.pinhole(*model.image_size)


def _matrix(message: CameraInfo, name: str) -> tuple[float, ...]:
    """Return the matrix K, P, D or R as a tuple; the fields have lower-case names in ROS 2, capitals in ROS 1."""
    values = getattr(message, name, None)
    return tuple(float(value) for value in (getattr(message, name.upper()) if values is None else values))


def _intrinsics(matrix: tuple[float, ...], columns: int) -> tuple[float, float, float, float] | None:
    """Return fx, fy, cx, cy of a flat matrix with this number of columns; None where it is no camera matrix."""
    fx, cx, fy, cy = matrix[0], matrix[2], matrix[columns + 1], matrix[columns + 2]
    low, high = FOCAL_LENGTH
    centre = abs(cx) <= 2 * MAX_IMAGE_SIDE and abs(cy) <= 2 * MAX_IMAGE_SIDE
    return (fx, fy, cx, cy) if centre and low <= fx <= high and low <= fy <= high else None


def _told(matrix: tuple[float, ...], columns: int) -> str:
    fx, cx, fy, cy = matrix[0], matrix[2], matrix[columns + 1], matrix[columns + 2]
    return f"fx {fx:g}, fy {fy:g}, centre ({cx:g}, {cy:g})"


def camera_to_msg(camera: PinholeCamera, stamp: float = 0.0, frame: str = "") -> CameraInfo:
    message = CameraInfo(header=header(stamp, frame), width=camera.width, height=camera.height)
    message.distortion_model = "plumb_bob"
    message.d = [0.0] * 5
    message.k = [camera.fx, 0.0, camera.cx, 0.0, camera.fy, camera.cy, 0.0, 0.0, 1.0]
    message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    message.p = [camera.fx, 0.0, camera.cx, 0.0, 0.0, camera.fy, camera.cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return message


convert_values(PinholeCamera, "sensor_msgs/CameraInfo", camera_to_msg, camera_from_msg)


# --- rows of vectors -----------------------------------------------------------------------------------


def vectors_to_msg(vectors: list[np.ndarray] | np.ndarray) -> Image:
    """Return a 32FC1 image with a row per vector; shorter vectors are padded with zeros on the right."""
    if len(vectors) == 0:
        return Image(encoding="32FC1")
    width = max(len(vector) for vector in vectors)
    rows = np.zeros((len(vectors), width), np.float32)
    for row, vector in zip(rows, vectors):
        row[: len(vector)] = vector
    return image_to_msg(rows, "32FC1")


def vectors_from_msg(message: Image) -> np.ndarray:
    """Return (N, D) float32. Raises BadMessage."""
    if message.height == 0 or message.width == 0:
        return np.zeros((0, 0), np.float32)
    if message.encoding != "32FC1":
        raise BadMessage(f"vectors must be 32FC1, not {message.encoding!r}")
    return image_from_msg(message)


# --- point clouds --------------------------------------------------------------------------------------


_FIELD_TYPES = {"instance": PointField.UINT32}


def cloud_to_msg(
    points: np.ndarray,
    stamp: float,
    frame: str,
    rgb: np.ndarray | None = None,
    instances: np.ndarray | None = None,
) -> PointCloud2:
    """Return the PointCloud2 of (N, 3) float32 points, with (N, 3) uint8 colours and uint32 instance ids
    (N,), if given.
    """
    names = ["x", "y", "z"] + (["rgb"] if rgb is not None else [])
    names += ["instance"] if instances is not None else []
    rows = np.empty((len(points), len(names)), np.float32)
    rows[:, :3] = points
    if instances is not None:
        rows[:, -1] = instances.astype(np.uint32).view(np.float32)
    if rgb is not None:
        packed = rgb.astype(np.uint32)
        rows[:, 3] = ((packed[:, 0] << 16) | (packed[:, 1] << 8) | packed[:, 2]).view(np.float32)
    message = PointCloud2(header=header(stamp, frame), height=1, width=len(points), is_dense=True)
    message.fields = [
        PointField(name=name, offset=4 * index, datatype=_FIELD_TYPES.get(name, PointField.FLOAT32), count=1)
        for index, name in enumerate(names)
    ]
    message.is_bigendian = sys.byteorder == "big"
    message.point_step = 4 * len(names)
    message.row_step = message.point_step * len(points)
    message.data = rows.tobytes()
    return message


def cloud_from_msg(message: PointCloud2) -> np.ndarray:
    """Return (N, 3) float32, without points that are not finite or beyond MAX_COORDINATE.

    Raises BadMessage if x, y or z is missing, or size and bytes do not match.
    """
    points = cloud_rows_from_msg(message)
    return points[is_sound(points)]


def is_sound(points: np.ndarray) -> np.ndarray:
    """Return (N,) bool: which of the points (N, 3) are finite and within MAX_COORDINATE."""
    return (np.abs(points) <= MAX_COORDINATE).all(axis=1)


def cloud_rows_from_msg(message: PointCloud2) -> np.ndarray:
    """Return (N, 3) float32, every point of the message, also NaN and far points; x, y, z may have any numeric type.

    Raises BadMessage as `cloud_from_msg`.
    """
    step, width, height = message.point_step, message.width, message.height
    columns = _coordinates(message)
    data = np.frombuffer(message.data, np.uint8)
    row = message.row_step or step * width
    if data.size < row * height or row < step * width:  # some drivers set a wrong row_step
        row = step * width
    outside = any(offset + dtype.itemsize > step for offset, dtype in columns)
    if outside or data.size < row * height:
        raise BadMessage(
            f"a cloud of {width * height} points needs {step} bytes each; the message has {data.size} bytes"
        )
    points = np.empty((height, width, 3), np.float32)
    if points.size == 0:
        return points.reshape(-1, 3)
    # values beyond float32 become inf, which `is_sound` rejects
    with np.errstate(over="ignore", invalid="ignore"):
        for column, (offset, dtype) in enumerate(columns):
            points[:, :, column] = np.ndarray((height, width), dtype, data, offset, (row, step))
    return points.reshape(-1, 3)


def _coordinates(message: PointCloud2) -> list[tuple[int, np.dtype]]:
    """Return byte offset and dtype of x, y and z. Raises BadMessage."""
    order = ">" if message.is_bigendian else "<"
    found = {
        field.name: (int(field.offset), np.dtype(order + FIELD_TYPES[field.datatype]))
        for field in reversed(message.fields)
        if field.name in ("x", "y", "z") and field.datatype in FIELD_TYPES
    }
    if len(found) < 3:
        told = ", ".join(f"{field.name} of type {field.datatype}" for field in message.fields)
        raise BadMessage(
            f"the cloud needs fields x, y, z of a type of sensor_msgs/PointField; it has {told or 'none'}"
        )
    return [found[name] for name in ("x", "y", "z")]


def scan_from_msg(message: LaserScan) -> tuple[np.ndarray, float, float, float]:
    """Return ranges (N,) float32, metres; first angle and step, rad; and the greatest range, metres.

    inf: the driver reports no return; NaN: invalid beam, also a range outside the message's limits. Clockwise scans
    have a negative step. Raises BadMessage, with the header, for a scan whose numbers contradict each other.
    """
    why = scan_contradiction(message)
    if why:
        head, stamp = message.header, message.header.stamp
        angles = f"{message.angle_min:.6g}, {message.angle_max:.6g}, {message.angle_increment:.6g}"
        raise BadMessage(
            f"scan in '{head.frame_id}' at {stamp.sec}.{stamp.nanosec:09d}: angle_min, angle_max, angle_increment are "
            f"{angles} rad: {why}; correct its driver"
        )
    ranges = np.array(message.ranges, np.float32)
    outside = np.isfinite(ranges) & ((ranges < message.range_min) | (ranges > message.range_max))
    ranges[outside | (ranges == -np.inf)] = np.nan
    return ranges, float(message.angle_min), float(message.angle_increment), float(message.range_max)


def scan_contradiction(message: LaserScan) -> str:
    """Return why a scan cannot be read, "" if it can.

    The number of ranges may differ by one from the number that the angles imply, as with many drivers, and by
    a share `SCAN_SLACK` of the ranges, because drivers round the step.
    """
    first, last, step = float(message.angle_min), float(message.angle_max), float(message.angle_increment)
    count = len(message.ranges)
    if not (np.isfinite((first, last, step)).all() and max(abs(first), abs(last)) <= SCAN_ANGLES):
        return "they are no angles in radians"
    if not (message.range_max > 0.0 and message.range_min < message.range_max):
        return f"range_min {message.range_min:g} m is not below range_max {message.range_max:g} m"
    if count == 0:
        return "there are no ranges"
    told, slack = (count - 1) * step, abs(step) * (1.0 + SCAN_SLACK * count)
    if abs(last - first - told) <= max(slack, 1e-6) and (step != 0.0 or count == 1):
        return ""
    if step == 0.0:
        return f"{count} ranges need a step"
    if (last - first) * step < 0.0:
        way, other = ("counterclockwise", "clockwise") if step > 0.0 else ("clockwise", "counterclockwise")
        return f"the step turns {way}, and from the first to the last angle it is {other}"
    return f"{count} ranges of that step span {told:.6g} rad, and the angles {last - first:.6g} rad"
