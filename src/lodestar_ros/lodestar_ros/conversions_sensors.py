"""Conversion of images, cameras, rows of vectors, point clouds and scans to and from messages.

Arrays are copied as bytes (`tobytes`), never element by element. Reading returns a view of the message's
bytes, which is read-only if the message's buffer is.
"""

from __future__ import annotations

import sys

import numpy as np
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2, PointField

from lodestar.geometry.camera import PinholeCamera
from lodestar_ros.conversions import MAX_COORDINATE, BadMessage, header

DTYPES = {
    "mono8": np.uint8,
    "8UC1": np.uint8,
    "rgb8": np.uint8,
    "bgr8": np.uint8,
    "rgba8": np.uint8,
    "bgra8": np.uint8,
    "mono16": np.uint16,
    "16UC1": np.uint16,
    "32SC1": np.int32,
    "32FC1": np.float32,
}
CHANNELS = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4}

FOCAL_LENGTH = (1.0, 1e6)  # pixels
MAX_IMAGE_SIDE = 2**15  # pixels
SCAN_ANGLES = 4.0 * np.pi  # rad; a scan's angles beyond are degrees, or garbage; chosen
SCAN_SLACK = 0.01  # share of a scan's beams by which its angles may differ from their number; chosen


# --- images --------------------------------------------------------------------------------------------


def image_to_msg(array: np.ndarray, encoding: str, stamp: float = 0.0, frame: str = "") -> Image:
    """Image message of an (H, W) or (H, W, C) array, which is cast to the encoding's type."""
    array = np.ascontiguousarray(array, dtype=DTYPES[encoding])
    message = Image(
        header=header(stamp, frame), height=array.shape[0], width=array.shape[1], encoding=encoding
    )
    message.is_bigendian = int(sys.byteorder == "big")
    message.step = array.strides[0] if array.size else 0
    message.data = array.tobytes()
    return message


def image_from_msg(message: Image) -> np.ndarray:
    """(H, W) or (H, W, C) view of an image's bytes, in this machine's byte order.

    Raises BadMessage for an unknown encoding or where the size and the bytes do not fit.
    """
    kind = DTYPES.get(message.encoding)
    if kind is None:
        raise BadMessage(f"encoding {message.encoding!r} is not one of {', '.join(DTYPES)}")
    if message.height == 0 or message.width == 0:
        return np.zeros((message.height, message.width), kind)
    dtype = np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<")
    channels = CHANNELS.get(message.encoding, 1)
    row = message.width * channels * dtype.itemsize
    step = message.step or row
    data = np.frombuffer(message.data, np.uint8)
    if step < row or data.size < step * message.height:
        raise BadMessage(
            f"{message.width}x{message.height} {message.encoding} with step {step} needs "
            f"{max(step, row) * message.height} bytes and has {data.size}"
        )
    rows = data[: step * message.height].reshape(message.height, step)[:, :row]
    array = np.ascontiguousarray(rows).view(dtype)
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    return array.reshape(message.height, message.width, channels) if channels > 1 else array


def rgb_from_msg(message: Image) -> np.ndarray:
    """(H, W, 3) uint8, red first. Raises BadMessage."""
    array = image_from_msg(message)
    if message.encoding in ("bgr8", "bgra8"):
        return np.ascontiguousarray(array[..., 2::-1])
    if message.encoding in ("rgb8", "rgba8"):
        return np.ascontiguousarray(array[..., :3])
    if array.dtype == np.uint8:
        return np.repeat(array[..., None], 3, axis=2)
    raise BadMessage(f"encoding {message.encoding} is not a colour image")


def depth_from_msg(message: Image) -> np.ndarray:
    """(H, W) float32, metres, 0 = invalid, from 16UC1 (mm) or 32FC1 (m). Raises BadMessage."""
    array = image_from_msg(message)
    if message.encoding in ("16UC1", "mono16"):
        return array.astype(np.float32) * np.float32(0.001)
    if message.encoding == "32FC1":
        return np.where(np.isfinite(array) & (array > 0.0), array, np.float32(0.0)).astype(np.float32)
    raise BadMessage(f"a depth image must be 16UC1 (mm) or 32FC1 (m), not {message.encoding}")


def camera_from_msg(message: CameraInfo) -> PinholeCamera:
    """Raises BadMessage for an empty calibration, which drivers send until they are calibrated."""
    fx, fy, cx, cy = message.k[0], message.k[4], message.k[2], message.k[5]
    width, height, (low, high) = message.width, message.height, FOCAL_LENGTH
    sizes = 0 < width <= MAX_IMAGE_SIDE and 0 < height <= MAX_IMAGE_SIDE
    centre = abs(cx) <= 2 * MAX_IMAGE_SIDE and abs(cy) <= 2 * MAX_IMAGE_SIDE
    if not (sizes and centre and low <= fx <= high and low <= fy <= high):
        raise BadMessage(
            f"camera_info has no calibration: {width}x{height}, fx {fx}, fy {fy}, centre ({cx}, {cy})"
        )
    return PinholeCamera(int(message.width), int(message.height), float(fx), float(fy), float(cx), float(cy))


def camera_to_msg(camera: PinholeCamera, stamp: float = 0.0, frame: str = "") -> CameraInfo:
    message = CameraInfo(header=header(stamp, frame), width=camera.width, height=camera.height)
    message.distortion_model = "plumb_bob"
    message.d = [0.0] * 5
    message.k = [camera.fx, 0.0, camera.cx, 0.0, camera.fy, camera.cy, 0.0, 0.0, 1.0]
    message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    message.p = [camera.fx, 0.0, camera.cx, 0.0, 0.0, camera.fy, camera.cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return message


# --- rows of vectors -----------------------------------------------------------------------------------


def vectors_to_msg(vectors: list[np.ndarray] | np.ndarray) -> Image:
    """32FC1 image with a row per vector; rows of different lengths are padded with zeros on the right."""
    if len(vectors) == 0:
        return Image(encoding="32FC1")
    width = max(len(vector) for vector in vectors)
    rows = np.zeros((len(vectors), width), np.float32)
    for row, vector in zip(rows, vectors):
        row[: len(vector)] = vector
    return image_to_msg(rows, "32FC1")


def vectors_from_msg(message: Image) -> np.ndarray:
    """(N, D) float32. Raises BadMessage."""
    if message.height == 0 or message.width == 0:
        return np.zeros((0, 0), np.float32)
    if message.encoding != "32FC1":
        raise BadMessage(f"vectors must be 32FC1, not {message.encoding!r}")
    return image_from_msg(message)


# --- point clouds --------------------------------------------------------------------------------------


def cloud_to_msg(points: np.ndarray, stamp: float, frame: str, rgb: np.ndarray | None = None) -> PointCloud2:
    """PointCloud2 of (N, 3) float32 points, with (N, 3) uint8 colours where given."""
    names = ["x", "y", "z"] + (["rgb"] if rgb is not None else [])
    rows = np.empty((len(points), len(names)), np.float32)
    rows[:, :3] = points
    if rgb is not None:
        packed = rgb.astype(np.uint32)
        rows[:, 3] = ((packed[:, 0] << 16) | (packed[:, 1] << 8) | packed[:, 2]).view(np.float32)
    message = PointCloud2(header=header(stamp, frame), height=1, width=len(points), is_dense=True)
    message.fields = [
        PointField(name=name, offset=4 * index, datatype=PointField.FLOAT32, count=1)
        for index, name in enumerate(names)
    ]
    message.is_bigendian = sys.byteorder == "big"
    message.point_step = 4 * len(names)
    message.row_step = message.point_step * len(points)
    message.data = rows.tobytes()
    return message


def cloud_from_msg(message: PointCloud2) -> np.ndarray:
    """(N, 3) float32, without points that are not finite or beyond MAX_COORDINATE. Raises BadMessage where x, y, z are
    not float32 fields.
    """
    points = cloud_rows_from_msg(message)
    return points[is_sound(points)]


def is_sound(points: np.ndarray) -> np.ndarray:
    """(N,) bool: points (N, 3) that are finite and within MAX_COORDINATE."""
    return (np.abs(points) <= MAX_COORDINATE).all(axis=1)


def cloud_rows_from_msg(message: PointCloud2) -> np.ndarray:
    """(N, 3) float32, every point of the message. Raises BadMessage as `cloud_from_msg`."""
    offsets = {field.name: field.offset for field in message.fields if field.datatype == PointField.FLOAT32}
    if not {"x", "y", "z"} <= set(offsets):
        raise BadMessage(
            f"the cloud needs float32 fields x, y, z; it has {[field.name for field in message.fields]}"
        )
    step, count = message.point_step, message.width * message.height
    data = np.frombuffer(message.data, np.uint8)
    padded = message.row_step and message.row_step != step * message.width
    if padded and data.size >= message.row_step * message.height:
        data = data[: message.row_step * message.height].reshape(message.height, message.row_step)
        data = np.ascontiguousarray(data[:, : step * message.width]).reshape(-1)
    outside = any(not 0 <= offsets[name] <= step - 4 for name in "xyz")
    if step < 12 or outside or data.size < step * count:
        raise BadMessage(
            f"a cloud of {count} points needs {step} bytes each; the message has {data.size} bytes"
        )
    rows = data[: step * count].reshape(count, step)
    order = ">" if message.is_bigendian else "<"
    points = np.empty((count, 3), np.float32)
    for column, name in enumerate("xyz"):
        offset = offsets[name]
        points[:, column] = np.ascontiguousarray(rows[:, offset : offset + 4]).view(f"{order}f4")[:, 0]
    return points


def scan_from_msg(message: LaserScan) -> tuple[np.ndarray, float, float, float]:
    """Ranges (N,) float32, metres, first angle, step, rad, and the greatest range, metres.

    inf: the driver reports no return; NaN: invalid beam, as for a range outside the message's limits. Clockwise scans
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
    """Return why a scan cannot be read, "" where it can.

    The angles may say one beam more or less than there are ranges, as many drivers do, and `SCAN_SLACK` of them for
    rounded steps.
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
