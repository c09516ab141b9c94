"""Tests that conversions of arbitrary messages either succeed or raise BadMessage."""

from __future__ import annotations

import array
import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nav_msgs.msg import MapMetaData, OccupancyGrid
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.occupancy.octomap import OctoMapConfig, OctoMapper
from lodestar_ros.battery import BatteryConfig, budget_of
from lodestar_ros.conversions import BadMessage, grid_from_msg, grid_to_msg, velocity_from_msg
from lodestar_ros.conversions_sensors import camera_from_msg, cloud_from_msg, depth_from_msg, rgb_from_msg
from lodestar_ros.frame_tree import Admission, TransformUnavailable
from lodestar_ros.sync import PoseQueue
from lodestar_ros.transforms import TransformBuffer

ANY = st.one_of(
    st.sampled_from([0.0, 1.0, 0.1, -1.0, 1e-30, 1e30, math.inf, -math.inf, math.nan]),
    st.floats(allow_nan=True, allow_infinity=True),
)
ANY32 = st.one_of(
    st.sampled_from([0.0, 0.1, 1e-30, math.inf, -math.inf, math.nan]),
    st.floats(-(2.0**127), 2.0**127, width=32),  # the greatest of all is refused by the message itself
)
SIZE = st.one_of(st.integers(0, 12), st.sampled_from([2**16, 2**31, 2**32 - 1]))
QUATERNIONS = st.one_of(st.just((0.0, 0.0, 0.0, 1.0)), st.just((0.0,) * 4), st.tuples(ANY, ANY, ANY, ANY))


@given(ANY32, SIZE, SIZE, st.one_of(st.none(), st.integers(0, 200)), ANY, ANY, QUATERNIONS)
@example(1e-30, 2, 2, None, 0.0, 0.0, (0.0, 0.0, 0.0, 1.0))
@example(0.1, 2, 2, None, 0.0, 0.0, (1.0, 0.0, 0.0, 0.0))
@settings(max_examples=300, deadline=None)
def test_a_grid_is_sound_or_refused(resolution, rows, columns, size, x, y, quaternion):
    size = min(rows * columns, 200) if size is None else size
    qx, qy, qz, qw = quaternion
    info = MapMetaData(resolution=resolution, height=rows, width=columns)
    info.origin = Pose(position=Point(x=x, y=y), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
    try:
        grid = grid_from_msg(OccupancyGrid(info=info, data=array.array("b", bytes(size))))
    except BadMessage:
        return
    assert grid.cells.size == max(1, size) and 1e-3 <= grid.resolution <= 10.0
    assert (np.isfinite(grid.origin).all() and abs(qw) > 0.0) or quaternion == (0.0,) * 4
    assert (np.isfinite(grid.clearance) | np.isposinf(grid.clearance)).all()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"resolution": 1e-30}, "1e-30 m per cell; 0.001 to 10 m"),
        ({"resolution": math.nan}, "nan m per cell"),
        ({"height": 3}, "3 x 2 cells and brings 4"),
        ({"height": 2**31, "width": 2**31}, "at most"),
    ],
)
def test_the_refusal_of_a_grid_says_what_is_wrong(change, why):
    message = grid_to_msg(OccupancyGrid2D(np.zeros((2, 2), np.int8), 0.05, (0.0, 0.0)))
    for name, value in change.items():
        setattr(message.info, name, value)
    with pytest.raises(BadMessage, match=why):
        grid_from_msg(message)


@given(SIZE, SIZE, ANY, ANY, ANY, ANY)
@settings(deadline=None)
def test_a_calibration_is_sound_or_refused(width, height, fx, fy, cx, cy):
    message = CameraInfo(width=width, height=height)
    message.k = [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0]
    try:
        camera = camera_from_msg(message)
    except BadMessage:
        return
    assert np.isfinite(camera.scaled(8, 6).rays()).all()


@given(
    SIZE, SIZE, st.integers(0, 40), st.integers(0, 500), st.lists(st.integers(0, 2**32 - 1), min_size=3, max_size=3),
    st.booleans(), st.binary(max_size=480),
)  # fmt: skip
@example(2, 2, 12, 24, [0, 4, 8], False, np.full(12, 3e38, np.float32).tobytes())
@example(2, 2, 12, 24, [0, 4, 8], False, np.full(12, 9e5, np.float32).tobytes())
@settings(max_examples=200, deadline=None)
def test_a_cloud_is_sound_or_refused_and_can_be_mapped(width, height, step, row, offsets, big, data):
    message = PointCloud2(width=width, height=height, point_step=step, row_step=row, is_bigendian=big)
    message.fields = [
        PointField(name=name, offset=offset, datatype=PointField.FLOAT32, count=1)
        for name, offset in zip("xyz", offsets)
    ]
    message.data = data
    try:
        points = cloud_from_msg(message)
    except BadMessage:
        return
    assert np.isfinite(points).all() and points.shape[1] == 3
    OctoMapper(OctoMapConfig()).insert_points(points, np.eye(4))


@given(
    SIZE,
    SIZE,
    SIZE,
    st.sampled_from(["mono8", "rgb8", "16UC1", "32FC1", "bgra8", "", "yuv"]),
    st.binary(max_size=300),
)
def test_an_image_is_sound_or_refused(width, height, step, encoding, data):
    message = Image(width=width, height=height, step=step, encoding=encoding)
    message.data = data
    for read in (rgb_from_msg, depth_from_msg):
        try:
            read(message)
        except BadMessage:
            continue


@given(ANY, ANY, ANY)
def test_a_velocity_is_finite_or_refused(x, y, turn):
    twist = Twist(linear=Vector3(x=x, y=y), angular=Vector3(z=turn))
    try:
        assert np.isfinite(velocity_from_msg(twist)).all()
    except BadMessage:
        assert not all(abs(v) <= 100.0 for v in (x, y, turn))


@given(ANY)
def test_a_charge_is_a_budget_or_nothing(percentage):
    budget = budget_of(percentage, BatteryConfig(full_range=1000.0))
    assert budget is None or 0.0 <= budget.range_left <= 1000.0


FRAMES = st.sampled_from(["map", "odom", "base_link", "camera", "", "/map", "x" * 300])


@given(
    st.lists(st.tuples(FRAMES, FRAMES, st.floats(-1e3, 1e9), ANY, QUATERNIONS, st.booleans()), max_size=30)
)
@settings(deadline=None)
def test_no_row_of_transforms_breaks_a_look_up(rows):
    buffer = TransformBuffer()
    for parent, child, stamp, x, quaternion, static in rows:
        admission = buffer.insert(parent, child, stamp, (x, 0.0, 0.0), quaternion, static=static)
        assert isinstance(admission, Admission)
    for source in ("odom", "base_link", "camera"):
        for stamp in (None, 1.0):
            try:
                assert np.isfinite(buffer.lookup("map", source, stamp)).all()
            except TransformUnavailable:
                continue


def test_a_frame_that_cannot_be_read_does_not_stand_in_the_way_of_others():
    def resolve(item):
        if item == "broken":
            raise BadMessage("no calibration")
        return item

    read = []
    queue = PoseQueue(resolve, read.append, lambda error: None)
    with pytest.raises(BadMessage):
        queue.add("broken")
    queue.add("sound")
    assert read == ["sound"]
