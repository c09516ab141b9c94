"""Tests of the doctor's camera checks: non-optical frames, unreadable images, other transports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st
from sensor_msgs.msg import CameraInfo, Image
from sound_stack import IMAGE, INPUTS, edges, put, sound, without

from lodestar.geometry.poses import quaternion_from_rotation
from lodestar_ros.doctor.camera_reading import read_image, read_info
from lodestar_ros.doctor.checkup import checkup
from lodestar_ros.doctor.findings import Endpoint, FrameEdge

OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])  # rotation base <- optical


def turned(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the rotation (3, 3) of a mount (radians); with zeros x is forward, z up."""
    a, b, c = (np.array([np.cos(angle), np.sin(angle)]) for angle in (roll, pitch, yaw))
    x = np.array([[1, 0, 0], [0, a[0], -a[1]], [0, a[1], a[0]]])
    y = np.array([[b[0], 0, b[1]], [0, 1, 0], [-b[1], 0, b[0]]])
    z = np.array([[c[0], -c[1], 0], [c[1], c[0], 0], [0, 0, 1]])
    return z @ y @ x


def stamped_in(base_from_frame: np.ndarray) -> set[str]:
    """Return the names of checks with findings if the images have a frame of this rotation (3, 3)."""
    q = tuple(float(value) for value in quaternion_from_rotation(base_from_frame))
    mount = FrameEdge("base_link", "camera_link", static=True, rotation=(0.0, 0.0, 0.0, 1.0))
    frame = FrameEdge("camera_link", "camera_optical_frame", static=True, rotation=q)
    changed = edges(mount, frame, drop="camera_optical_frame")(sound())
    kept = [edge for edge in changed.frames if edge.child != "camera_link" or edge.rotation is not None]
    return {finding.check for finding in checkup(replace(changed, frames=tuple(kept)), INPUTS)}


@given(st.floats(-0.4, 0.4), st.floats(-0.7, 0.7), st.floats(-3.1, 3.1))
@settings(deadline=None, max_examples=50)
def test_a_frame_with_x_forward_is_named_and_an_optical_one_is_not(
    roll: float, pitch: float, yaw: float
) -> None:
    assert stamped_in(turned(roll, pitch, yaw)) == {"frame_not_optical"}
    assert stamped_in(turned(roll, pitch, yaw) @ OPTICAL) == set()


@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_a_camera_on_its_side_or_head_is_sound(quarter: int) -> None:
    assert stamped_in(turned(quarter * np.pi / 2, 0.1, 0.0) @ OPTICAL) == set()


def test_a_frame_of_opengl_is_named() -> None:
    assert stamped_in(OPTICAL @ np.diag([1.0, -1.0, -1.0])) == {"frame_not_optical"}


def test_images_are_read_as_the_nodes_read_them() -> None:
    info = CameraInfo(width=4, height=4, k=[9.0, 0.0, 2.0, 0.0, 9.0, 2.0, 0.0, 0.0, 1.0])
    image = Image(width=4, height=4, encoding="8UC3", data=bytes(48))
    got = read_image(image, is_depth=False, info=info)
    assert (got.encoding, got.size, got.unreadable, got.unfit) == (
        "8UC3",
        (4, 4),
        "",
        "",
    ) and "bgr8" in got.assumed
    assert "'8UC3' is not depth" in read_image(image, is_depth=True, info=info).unreadable
    image.encoding = "yuv420p"
    assert "'yuv420p' is not known" in read_image(image, is_depth=False, info=None).unreadable
    image.encoding, image.height = "rgb8", 3
    assert "4x3, but camera_info says 4x4" in read_image(image, is_depth=False, info=info).unfit
    assert read_image(Image(encoding="rgb8"), is_depth=False, info=info).unreadable == "it has no pixels"
    assert read_info(info).unreadable == read_info(info).undistorted == ""
    info.distortion_model, info.d = "fov", [0.9]
    assert "'fov'" in read_info(info).undistorted
    assert "no calibration" in read_info(CameraInfo(width=4, height=4)).unreadable


@pytest.mark.parametrize(
    ("heard", "published", "form"),
    [
        ("/camera/depth", "/camera/depth/compressedDepth", "compressedDepth"),
        ("/camera/color", "/camera/color/compressed", "compressed"),
        ("/camera/color/compressed", "/camera/color", "raw"),
    ],
)
def test_images_in_another_form_are_named_with_the_parameter(heard: str, published: str, form: str) -> None:
    reader = (Endpoint("/mapping", IMAGE),)
    seen = put(without(sound(), publishers=heard), "subscriptions", heard, reader)
    seen = put(seen, "publishers", published, reader)
    (found,) = [f for f in checkup(seen, {"depth": heard}) if f.check == "no_publisher"]
    assert f"There is {published}: set shared.transport" in found.what and found.what.endswith(f"to {form}.")
