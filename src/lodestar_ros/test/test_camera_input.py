"""Tests of camera infos as sent by drivers, and of rectified images, raw or compressed."""

from __future__ import annotations

import struct
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from waiting import wait_for

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, RegionOfInterest

from lodestar_ros import qos
from lodestar_ros.camera_input import CameraInput, RectifiedImages, is_rectified
from lodestar_ros.conversions import BadMessage, stamp_to_msg
from lodestar_ros.conversions_sensors import camera_from_msg, image_to_msg, model_from_msg
from lodestar_ros.node import LodestarNode

SIZE = (640, 480)


def info(size: tuple[int, int] = SIZE, focal: float = 500.0, **changes: object) -> CameraInfo:
    """Return the info of a calibrated camera without distortion, with a centred principal point."""
    width, height = size
    k = [focal, 0.0, width / 2, 0.0, focal, height / 2, 0.0, 0.0, 1.0]
    p = [focal, 0.0, width / 2, 0.0, 0.0, focal, height / 2, 0.0, 0.0, 0.0, 1.0, 0.0]
    message = CameraInfo(width=width, height=height, distortion_model="plumb_bob", d=[0.0] * 5, k=k, p=p)
    for name, value in changes.items():
        setattr(message, name, value)
    return message


def images(message: CameraInfo) -> RectifiedImages:
    read = RectifiedImages()
    read.take_info(message)
    return read


def test_a_camera_with_p_alone_is_used() -> None:
    camera = camera_from_msg(info(k=[0.0] * 9))
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == (500.0, 500.0, 320.0, 240.0)
    distorted = info(k=[0.0] * 9, d=[-0.3, 0.1, 0.0, 0.0, 0.0])
    depth = image_to_msg(np.full(SIZE[::-1], 1500, np.uint16), "16UC1")
    metres, camera = images(distorted).depth(depth)
    assert camera.fx == 500.0 and np.abs(metres - 1.5).max() < 1e-6, "P is that of rectified images"


def test_a_camera_with_k_alone_is_used() -> None:
    assert camera_from_msg(info(p=[0.0] * 12)).fx == 500.0


@pytest.mark.parametrize(
    "k", [[0.0] * 9, [-500.0, 0.0, 3.0, 0.0, 5.0, 3.0, 0.0, 0.0, 1.0], [float("nan")] * 9]
)
def test_a_camera_without_any_calibration_is_told_what_to_do(k: list[float]) -> None:
    with pytest.raises(BadMessage, match=r"no calibration: 640x480, K has fx .* P has fx 0.*calibrate"):
        camera_from_msg(info(k=k, p=[0.0] * 12))


def test_the_window_of_the_calibrations_shape_crops() -> None:
    roi = RegionOfInterest(x_offset=320, y_offset=240, width=640, height=480)
    message = info((1280, 960), 1000.0, roi=roi)
    depth = image_to_msg(np.full((480, 640), 1500, np.uint16), "16UC1")
    for camera in (
        images(message).depth(depth)[1],
        images(message).pinhole(480, 640),
        camera_from_msg(message),
    ):
        assert (camera.width, camera.height) == (640, 480)
        assert (camera.fx, camera.fy, camera.cx, camera.cy) == (1000.0, 1000.0, 320.0, 240.0)


def test_an_image_of_another_shape_is_refused() -> None:
    with pytest.raises(BadMessage, match="100x480, but camera_info says 640x480"):
        images(info()).pinhole(480, 100)


def test_infos_of_ros_1_have_capital_letters() -> None:
    sent = info()
    old = SimpleNamespace(
        width=640, height=480, distortion_model="plumb_bob", D=sent.d, K=sent.k, R=sent.r, P=sent.p,
        binning_x=0, binning_y=0, roi=sent.roi,
    )  # fmt: skip
    assert model_from_msg(old) == model_from_msg(sent)  # type: ignore[arg-type]


ANY = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 500.0, 1e30, float("nan"), float("inf")]), st.floats(-10.0, 1000.0)
)
SIDE = st.one_of(st.integers(0, 800), st.just(2**32 - 1))


@given(
    SIDE, SIDE, st.lists(ANY, min_size=9, max_size=9), st.lists(ANY, min_size=12, max_size=12),
    st.lists(ANY, max_size=15), st.sampled_from(["plumb_bob", "equidistant", "fov", ""]),
    st.tuples(SIDE, SIDE, SIDE, SIDE), st.integers(0, 9), st.integers(0, 9),
)  # fmt: skip
@settings(deadline=None, max_examples=200)
def test_any_camera_info_is_used_or_refused(width, height, k, p, d, model, roi, bin_x, bin_y):
    x, y, columns, rows = roi
    message = CameraInfo(width=width, height=height, k=k, p=p, d=d, distortion_model=model)
    message.binning_x, message.binning_y = bin_x, bin_y
    message.roi = RegionOfInterest(x_offset=x, y_offset=y, width=columns, height=rows)
    try:
        camera = camera_from_msg(message)
        images(message).color(image_to_msg(np.zeros((6, 8, 3), np.uint8), "rgb8"))
    except BadMessage:
        return
    assert np.isfinite([camera.fx, camera.fy, camera.cx, camera.cy]).all() and min(camera.fx, camera.fy) > 0.0


@pytest.mark.parametrize(
    ("model", "d"), [("plumb_bob", [-0.3, 0.1, 0.0, 0.0, 0.0]), ("equidistant", [-0.1, 0.02, 0.0, 0.0])]
)
def test_a_point_is_seen_where_it_is(model: str, d: list[float]) -> None:
    """A dot drawn at OpenCV's projection of a point gives back that point from rectified colour and depth."""
    point = np.array([0.55, 0.4, 1.5])
    k = np.array(info().k).reshape(3, 3)
    project = cv2.fisheye.projectPoints if model == "equidistant" else cv2.projectPoints
    u, v = project(point[None, None], np.zeros(3), np.zeros(3), k, np.array(d))[0].ravel()
    rgb, depth = np.zeros((480, 640, 3), np.uint8), np.zeros((480, 640), np.uint16)
    spot = np.s_[round(v) - 2 : round(v) + 3, round(u) - 2 : round(u) + 3]
    rgb[spot], depth[spot] = 255, 1500
    read = images(info(distortion_model=model, d=d))
    metres, camera = read.depth(image_to_msg(depth, "16UC1"))
    seen = read.color(image_to_msg(rgb, "rgb8"))
    for mask in (metres > 0.0, seen[..., 0] > 127):
        rows, columns = np.nonzero(mask)
        middle = np.array([[round(columns.mean()), round(rows.mean())]])
        found = camera.backproject(np.full((480, 640), 1.5, np.float32), middle)[0]
        assert np.abs(found - point).max() < 0.004, "1 pixel is 3 mm"
    straight = images(info()).depth(image_to_msg(depth, "16UC1"))[1]
    wrong = straight.backproject(np.full((480, 640), 1.5, np.float32), np.array([[round(u), round(v)]]))[0]
    assert np.abs(wrong - point).max() > 0.01, "this distortion matters"


def test_labels_are_rectified_with_the_images() -> None:
    read = images(info(d=[-0.3, 0.1, 0.0, 0.0, 0.0]))
    labels = np.zeros((480, 640), np.uint16)
    labels[:, 600:] = 7
    got = read.values(image_to_msg(labels, "16UC1"))
    assert set(np.unique(got)) == {0, 7} and not np.array_equal(got, labels)
    assert np.array_equal(RectifiedImages().values(image_to_msg(labels, "16UC1")), labels), (
        "before the camera info"
    )


def test_depth_before_the_camera_info_is_refused() -> None:
    with pytest.raises(BadMessage, match="no camera_info received yet"):
        RectifiedImages().depth(image_to_msg(np.zeros((4, 4), np.uint16), "16UC1"))


@pytest.mark.parametrize(
    ("topic", "rectified"),
    [
        ("/camera/color/image_raw", False),
        ("/camera/image_rect", True),
        ("/camera/image_rect_color", True),
        ("/camera/depth/image_rect_raw", True),
        ("/camera/image_rect_color/compressed", True),
        ("/camera/depth_registered/image_rect/compressedDepth", True),
        ("/rectangle/image_raw", False),
        ("/camera/color/image_raw/compressed", False),
        ("image", False),
    ],
)
def test_rectified_images_are_known_by_their_topic(topic: str, rectified: bool) -> None:
    assert is_rectified(topic) is rectified


@pytest.mark.ros
def test_compressed_images_are_heard_where_the_parameters_say_so() -> None:
    context = Context()
    context.init()
    parameters = [
        Parameter("shared.transport.depth", value="compressedDepth"),
        Parameter("shared.transport.color", value="compressed"),
    ]
    remaps = ["--ros-args", "-r", "depth:=/cam/depth/image_raw", "-r", "image:=/cam/color/image_rect"]
    node = LodestarNode("heard", context=context, parameter_overrides=parameters, cli_args=remaps)
    camera, depths, colors = CameraInput(node), [], []
    node.listen(
        Image, "depth", lambda message: depths.append(camera.depth(message)), qos.SENSOR, stamped=True
    )
    node.listen(
        Image, "image", lambda message: colors.append(camera.color(message)), qos.SENSOR, stamped=True
    )
    infos = node.create_publisher(CameraInfo, "camera_info", qos.RELIABLE)
    sent = {
        "/cam/depth/image_raw/compressedDepth": (
            "16UC1; compressedDepth",
            struct.pack("<iff", 0, 0.0, 0.0)
            + cv2.imencode(".png", np.full((480, 640), 1500, np.uint16))[1].tobytes(),
        ),
        "/cam/color/image_rect/compressed": (
            "rgb8; jpeg compressed bgr8",
            cv2.imencode(".jpg", np.full((480, 640, 3), (0, 0, 200), np.uint8))[1].tobytes(),
        ),
    }
    publishers = {topic: node.create_publisher(CompressedImage, topic, qos.RELIABLE) for topic in sent}
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def heard() -> bool:
        infos.publish(info(d=[-0.3, 0.1, 0.0, 0.0, 0.0]))
        for topic, (form, data) in sent.items():
            message = CompressedImage(format=form, data=data)
            message.header.stamp = stamp_to_msg(node.now)
            publishers[topic].publish(message)
        executor.spin_once(timeout_sec=0.2)
        return bool(depths and colors)

    wait_for(heard, "depth and colour", every=0.0)
    assert node.diagnostics.input("depth").received and node.diagnostics.input("image").received
    metres, pinhole = depths[0]
    assert metres.shape == (480, 640) and abs(metres[240, 320] - 1.5) < 1e-6 and pinhole.fx == 500.0
    assert np.abs(colors[0][240, 320].astype(int) - (200, 0, 0)).max() < 6
    node.close()
    node.destroy_node()
    context.shutdown()
