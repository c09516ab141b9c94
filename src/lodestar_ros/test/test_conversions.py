"""Tests of conversions in both directions."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose
from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import make_transform, rotation_from_quaternion
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.perception.frames import ImageBox
from lodestar_ros import conversions as c
from lodestar_ros import conversions_sensors as sensors

unit = st.floats(-1.0, 1.0)
place = st.floats(-1e4, 1e4)


@st.composite
def transforms(draw):
    q = np.array([draw(unit) for _ in range(4)])
    if np.linalg.norm(q) < 0.1:
        q = np.array([0.0, 0.0, 0.0, 1.0])
    return make_transform(rotation_from_quaternion(q), [draw(place) for _ in range(3)])


@given(st.integers(0, 2**31 - 1), st.integers(0, 999_999_999))
def test_stamp_survives_the_way_through_seconds(sec, nanosec):
    seconds = c.stamp_from_msg(Time(sec=sec, nanosec=nanosec))
    back = c.stamp_to_msg(seconds)
    assert abs((back.sec - sec) * 10**9 + back.nanosec - nanosec) < 300  # ns, resolution of a double in 2038
    assert c.stamp_from_msg(back) == seconds, "the second way must change nothing: stamps are compared"


def test_stamp_rounds_up_into_the_next_second():
    assert c.stamp_to_msg(1.9999999999) == Time(sec=2, nanosec=0)


@given(transforms())
def test_pose_and_transform(transform):
    assert np.allclose(c.pose_from_msg(c.pose_to_msg(transform)), transform, atol=1e-9)
    assert np.allclose(c.transform_from_msg(c.transform_to_msg(transform)), transform, atol=1e-9)


def test_pose_without_a_rotation_is_refused():
    with pytest.raises(c.BadMessage, match="zero or non-finite length"):
        c.pose_from_msg(_pose(w=0.0))
    with pytest.raises(c.BadMessage, match="not finite"):
        c.pose_from_msg(_pose(x=math.nan))


def _pose(x: float = 0.0, w: float = 1.0) -> Pose:
    pose = Pose()
    pose.position.x, pose.orientation.w = x, w
    return pose


@given(place, place, st.floats(-3.14, 3.14))
def test_planar_pose(x, y, yaw):
    assert np.allclose(c.planar_from_msg(c.planar_to_msg((x, y, yaw))), (x, y, yaw), atol=1e-9)


def test_covariance_and_box():
    a = np.random.default_rng(1).normal(size=(3, 3))
    covariance = a @ a.T
    assert np.allclose(c.covariance_from_list(c.covariance_to_list(covariance)), covariance)
    box = ImageBox(3, 4, 50, 60)
    assert c.box_from_msg(c.box_to_msg(box)) == box
    outlined = ImageBox(3, 4, 50, 60, outline=(3, 4, 52, 4, 52, 63, -1, -1, 5, 6, 9, 6, 9, 9))
    assert c.box_from_msg(c.box_to_msg(outlined)) == outlined


@pytest.mark.parametrize("encoding", ["mono8", "rgb8", "mono16", "16UC1", "32SC1", "32FC1"])
def test_image(encoding):
    shape = (5, 7, 3) if encoding == "rgb8" else (5, 7)
    array = np.random.default_rng(2).integers(0, 200, shape).astype(sensors.DTYPES[encoding])
    message = sensors.image_to_msg(array, encoding, 1.5, "camera")
    assert (message.height, message.width, message.header.frame_id) == (5, 7, "camera")
    back = sensors.image_from_msg(message)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


def test_image_of_the_other_byte_order_and_with_padded_rows():
    array = np.arange(6, dtype=np.uint16).reshape(2, 3)
    message = Image(height=2, width=3, encoding="mono16", is_bigendian=1, step=8)
    message.data = b"".join(row.astype(">u2").tobytes() + b"\0\0" for row in array)
    assert np.array_equal(sensors.image_from_msg(message), array)


def test_image_that_contradicts_itself_is_refused():
    message = sensors.image_to_msg(np.zeros((4, 4), np.uint16), "mono16")
    message.width = 400
    with pytest.raises(c.BadMessage, match="bytes"):
        sensors.image_from_msg(message)
    with pytest.raises(c.BadMessage, match="encoding"):
        sensors.image_from_msg(Image(height=1, width=1, encoding="bayer_rggb8", data=b"\0"))


def test_colour_is_red_first():
    rgb = np.random.default_rng(3).integers(0, 255, (4, 6, 3), np.uint8)
    assert np.array_equal(sensors.rgb_from_msg(sensors.image_to_msg(rgb, "rgb8")), rgb)
    assert np.array_equal(sensors.rgb_from_msg(sensors.image_to_msg(rgb[..., ::-1], "bgr8")), rgb)
    with pytest.raises(c.BadMessage):
        sensors.rgb_from_msg(sensors.image_to_msg(np.zeros((2, 2), np.uint16), "mono16"))


def test_depth_is_metres_and_zero_where_invalid():
    millimetres = np.array([[0, 1000, 2500]], np.uint16)
    assert np.allclose(sensors.depth_from_msg(sensors.image_to_msg(millimetres, "16UC1")), [[0.0, 1.0, 2.5]])
    metres = np.array([[np.nan, np.inf, -1.0, 2.5]], np.float32)
    assert np.array_equal(
        sensors.depth_from_msg(sensors.image_to_msg(metres, "32FC1")),
        np.array([[0.0, 0.0, 0.0, 2.5]], np.float32),
    )
    with pytest.raises(c.BadMessage):
        sensors.depth_from_msg(sensors.image_to_msg(np.zeros((2, 2, 3), np.uint8), "rgb8"))


def test_camera():
    camera = PinholeCamera(640, 480, 380.0, 381.0, 319.5, 239.5)
    assert sensors.camera_from_msg(sensors.camera_to_msg(camera)) == camera
    with pytest.raises(c.BadMessage, match="calibration"):
        sensors.camera_from_msg(CameraInfo(width=640, height=480))


def test_vectors():
    vectors = np.random.default_rng(4).normal(size=(3, 8)).astype(np.float32)
    assert np.array_equal(sensors.vectors_from_msg(sensors.vectors_to_msg(vectors)), vectors)
    assert sensors.vectors_from_msg(sensors.vectors_to_msg([])).shape == (0, 0)
    with pytest.raises(c.BadMessage):
        sensors.vectors_from_msg(sensors.image_to_msg(np.zeros((2, 2), np.uint8), "mono8"))


@pytest.mark.parametrize("coloured", [False, True])
def test_cloud(coloured):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(20, 3)).astype(np.float32)
    rgb = rng.integers(0, 255, (20, 3), np.uint8) if coloured else None
    message = sensors.cloud_to_msg(points, 2.0, "lidar_link", rgb)
    assert np.array_equal(sensors.cloud_from_msg(message), points)
    if coloured:
        packed = np.frombuffer(message.data, np.uint32).reshape(20, 4)[:, 3]
        assert np.array_equal(packed & 0xFF, rgb[:, 2])
        assert np.array_equal(packed >> 16, rgb[:, 0])


def test_cloud_of_a_driver_has_other_fields_padding_and_missing_returns():
    rows = np.zeros((2, 3), [("intensity", "<f4"), ("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("ring", "<u2")])
    rows["x"], rows["z"] = 1.0, np.arange(6).reshape(2, 3)
    rows["y"][0, 0] = np.nan
    message = PointCloud2(
        height=2, width=3, point_step=rows.dtype.itemsize, row_step=3 * rows.dtype.itemsize + 5
    )
    message.fields = [
        PointField(name=name, offset=rows.dtype.fields[name][1], datatype=PointField.FLOAT32, count=1)
        for name in ("intensity", "x", "y", "z")
    ]
    message.data = b"".join(row.tobytes() + b"\0" * 5 for row in rows)
    assert sensors.cloud_from_msg(message)[:, 2].tolist() == [1, 2, 3, 4, 5]
    message.fields = message.fields[:1]
    with pytest.raises(c.BadMessage, match="x, y, z"):
        sensors.cloud_from_msg(message)


FIELDS = {name: sensors.FIELD_TYPES[getattr(PointField, name)] for name in (
    "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "FLOAT32", "FLOAT64"
)}  # fmt: skip


@given(
    st.lists(st.sampled_from(sorted(FIELDS)), min_size=3, max_size=3), st.integers(0, 5), st.integers(0, 5),
    st.integers(0, 3), st.integers(0, 9), st.booleans(), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_cloud_of_any_numbers(kinds, height, width, gap, padding, big, seed):
    """Clouds with fields of any type, gaps between fields, padded rows, and points without return are read."""
    order, rng = ">" if big else "<", np.random.default_rng(seed)
    types = [np.dtype(order + FIELDS[kind]) for kind in kinds]
    offsets = np.cumsum([gap, *(kind.itemsize + gap for kind in types)]).tolist()
    layout = np.dtype(
        {"names": list("xyz"), "formats": types, "offsets": offsets[:3], "itemsize": offsets[3] + gap}
    )
    rows, expected = np.zeros((height, width), layout), np.zeros((height, width, 3))
    for column, name in enumerate("xyz"):
        values = rng.integers(0, 100, (height, width)).astype(float)
        if types[column].kind == "f":
            values = np.where(rng.random(values.shape) < 0.2, np.nan, values + 0.25)
        rows[name], expected[..., column] = values, values
    message = PointCloud2(height=height, width=width, point_step=layout.itemsize, is_bigendian=big)
    message.row_step = layout.itemsize * width + padding
    message.data = b"".join(row.tobytes() + b"\7" * padding for row in rows)
    message.fields = [
        PointField(name=name, offset=offset, datatype=getattr(PointField, kind), count=1)
        for name, offset, kind in zip("xyz", offsets, kinds)
    ]
    assert np.array_equal(sensors.cloud_rows_from_msg(message), expected.reshape(-1, 3), equal_nan=True)
    sound = expected.reshape(-1, 3)[~np.isnan(expected.reshape(-1, 3)).any(axis=1)]
    assert np.array_equal(sensors.cloud_from_msg(message), sound)


def test_cloud_beyond_float32_has_no_points():
    message = PointCloud2(height=1, width=1, point_step=24, row_step=24, data=np.full(3, 1e300).tobytes())
    message.fields = [
        PointField(name=name, offset=8 * i, datatype=PointField.FLOAT64, count=1)
        for i, name in enumerate("xyz")
    ]
    assert len(sensors.cloud_from_msg(message)) == 0
    message.fields[2].datatype = 77
    with pytest.raises(c.BadMessage, match="z of type 77"):
        sensors.cloud_from_msg(message)


def test_grid():
    cells = np.random.default_rng(6).choice([-1, 0, 100], (6, 9)).astype(np.int8)
    grid = OccupancyGrid2D(cells, 0.1, (-3.0, 2.5), 7.25)
    back = c.grid_from_msg(c.grid_to_msg(grid))
    assert np.array_equal(back.cells, cells)
    assert (back.resolution, back.origin, back.stamp, back.frame) == (0.1, (-3.0, 2.5), 7.25, "map")


def test_grid_that_is_turned_or_short_is_refused():
    message = c.grid_to_msg(OccupancyGrid2D(np.zeros((2, 2), np.int8), 0.1, (0.0, 0.0)))
    message.info.origin.orientation.z = 1.0
    with pytest.raises(c.BadMessage, match="rotated"):
        c.grid_from_msg(message)
    message.info.width = 7
    with pytest.raises(c.BadMessage, match="cells"):
        c.grid_from_msg(message)
