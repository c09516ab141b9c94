"""Tests of the camera model of rectified images against OpenCV: window, binning, distortion."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.camera_model import CameraModel, ImageMismatch, rectification

FULL = (1280, 960)
SHARE = st.floats(-1.0, 1.0)


@st.composite
def models(draw: st.DrawFn) -> CameraModel:
    """Draw a calibrated camera with a window, a binning and a mild distortion."""
    bins = draw(st.sampled_from([(1, 1), (2, 2), (4, 4), (2, 1)]))
    x, y = 8 * draw(st.integers(0, 40)), 8 * draw(st.integers(0, 40))
    width, height = (
        8 * draw(st.integers(20, (FULL[0] - x) // 8)),
        8 * draw(st.integers(20, (FULL[1] - y) // 8)),
    )
    window = draw(st.sampled_from([(0, 0, 0, 0), (x, y, width, height)]))
    raw = (1000.0 + 50 * draw(SHARE), 990.0, 640.0 + 40 * draw(SHARE), 480.0 + 30 * draw(SHARE))
    rectified = draw(st.sampled_from([None, (950.0, 960.0, 630.0, 470.0)]))
    kind = draw(st.sampled_from(["", "plumb_bob", "rational_polynomial", "equidistant"]))
    size = {"": 5, "plumb_bob": 5, "rational_polynomial": 8, "equidistant": 4}[kind]
    scale = (
        [0.15, 0.05, 0.002, 0.002, 0.01, 0.02, 0.02, 0.01]
        if kind != "equidistant"
        else [0.05, 0.01, 0.01, 0.005]
    )
    coefficients = tuple(scale[i] * draw(SHARE) for i in range(size))
    return CameraModel(*FULL, raw, rectified, kind, coefficients, bins, window)


def projected(model: CameraModel, points: np.ndarray) -> np.ndarray:
    """Return (N, 2) pixels in the driver's image, by OpenCV and CameraInfo's definition of roi and binning."""
    fx, fy, cx, cy = model.raw or (0.0,) * 4
    matrix = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    zero, d = np.zeros(3), np.array(model.coefficients)
    if model.distortion == "equidistant":
        pixels, _ = cv2.fisheye.projectPoints(points[:, None], zero, zero, matrix, d)
    else:
        pixels, _ = cv2.projectPoints(points[:, None], zero, zero, matrix, d)
    return (pixels[:, 0] - model.window[:2]) / model.binning


@given(models(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_a_point_lands_where_the_rectified_camera_says(model: CameraModel, seed: int) -> None:
    width, height = model.image_size
    how = rectification(model, width, height)
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(-0.5, 0.5, 300), rng.uniform(-0.4, 0.4, 300), np.ones(300)])
    points *= rng.uniform(0.5, 5.0, (300, 1))
    raw = projected(model, points)
    rectified, inside = how.camera.project(points)
    inside &= ((raw >= 2.0) & (raw <= (width - 3, height - 3))).all(axis=1)
    coordinates = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).astype(np.float32)
    for axis in range(2):  # images whose pixels hold their raw coordinates
        got = how.values(np.ascontiguousarray(coordinates[..., axis]))
        u, v = np.rint(rectified[inside]).astype(int).T
        slack = 1.1 + np.abs(rectified[inside] - np.column_stack([u, v])).sum(axis=1) * 1.6
        assert (np.abs(got[v, u] - raw[inside][:, axis]) <= slack).all()
    depth = np.full((height, width), 2.0, np.float32)
    back = how.camera.backproject(
        depth, np.column_stack(np.divmod(np.arange(0, width * height, 97), width))[:, ::-1]
    )
    again, _ = how.camera.project(back)
    assert np.allclose(
        again, np.column_stack(np.divmod(np.arange(0, width * height, 97), width))[:, ::-1], atol=1e-2
    )


def test_a_window_of_the_calibrations_shape_crops() -> None:
    model = CameraModel(*FULL, (1000.0, 1000.0, 640.0, 480.0), window=(320, 240, 640, 480))
    camera = model.pinhole(640, 480)
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == (1000.0, 1000.0, 320.0, 240.0)
    assert model.image_size == (640, 480)


@pytest.mark.parametrize(
    ("window", "binning", "size", "expected"),
    [
        ((0, 0, 0, 0), (1, 1), (1280, 960), (1000.0, 640.0, 480.0)),
        ((0, 0, 0, 0), (1, 1), (640, 480), (500.0, 320.0, 240.0)),  # the driver scales the image down
        ((0, 0, 0, 0), (2, 2), (640, 480), (500.0, 320.0, 240.0)),
        ((0, 0, 0, 0), (2, 2), (1280, 960), (1000.0, 640.0, 480.0)),  # calibrated at the binned size
        ((0, 0, 1280, 960), (1, 1), (640, 480), (500.0, 320.0, 240.0)),
        # the window is not applied to this image
        ((320, 240, 640, 480), (1, 1), (1280, 960), (1000.0, 640.0, 480.0)),
        ((320, 240, 640, 480), (1, 1), (320, 240), (500.0, 160.0, 120.0)),
        ((320, 240, 640, 480), (2, 2), (320, 240), (500.0, 160.0, 120.0)),
        ((320, 240, 640, 480), (2, 2), (640, 480), (1000.0, 320.0, 240.0)),
        ((100, 50, 641, 481), (2, 2), (320, 240), (500.0, 270.0, 215.0)),  # half a pixel rounded down
        ((100, 50, 641, 481), (2, 2), (321, 241), (500.0, 270.0, 215.0)),  # half a pixel rounded up
        ((640, 0, 0, 0), (1, 1), (640, 960), (1000.0, 0.0, 480.0)),  # a window that extends to the border
    ],
)
def test_window_and_binning(
    window: tuple[int, ...], binning: tuple[int, int], size: tuple[int, int], expected: tuple[float, ...]
) -> None:
    model = CameraModel(*FULL, (1000.0, 1000.0, 640.0, 480.0), binning=binning, window=window)  # type: ignore[arg-type]
    camera = model.pinhole(*size)
    assert (camera.width, camera.height) == size
    assert (camera.fx, camera.cx, camera.cy) == expected


@pytest.mark.parametrize(
    ("window", "size"),
    [((0, 0, 0, 0), (640, 640)), ((320, 240, 640, 480), (640, 640)), ((1000, 0, 640, 480), (640, 480))],
)
def test_a_size_that_the_camera_cannot_give_is_refused_with_both(
    window: tuple[int, ...], size: tuple[int, int]
) -> None:
    model = CameraModel(*FULL, (1000.0, 1000.0, 640.0, 480.0), window=window)  # type: ignore[arg-type]
    with pytest.raises(ImageMismatch, match=rf"{size[0]}x{size[1]}, but camera_info says 1280x960"):
        model.pinhole(*size)


def test_a_window_that_leaves_the_image_belongs_to_a_calibration_of_the_cut_image() -> None:
    model = CameraModel(640, 480, (1000.0, 1000.0, 320.0, 240.0), window=(320, 240, 640, 480))
    assert model.pinhole(640, 480).cx == 320.0


def test_without_distortion_images_are_the_same_object() -> None:
    model = CameraModel(*FULL, (1000.0, 1000.0, 640.0, 480.0), None, "plumb_bob", (0.0,) * 5)
    image = np.zeros((*FULL[::-1], 3), np.uint8)
    how = rectification(model, *FULL)
    assert how.color(image) is image and how.values(image) is image
    distorted = CameraModel(
        *FULL, (1000.0, 1000.0, 640.0, 480.0), None, "plumb_bob", (0.1, 0.0, 0.0, 0.0, 0.0)
    )
    assert rectification(distorted, *FULL, from_rectified=True).color(image) is image
    assert rectification(distorted, *FULL) is rectification(distorted, *FULL), "maps are made once"


def test_images_that_are_rectified_already_have_the_rectified_camera() -> None:
    model = CameraModel(
        *FULL, (1000.0,) * 2 + (640.0, 480.0), (900.0,) * 2 + (630.0, 470.0), "plumb_bob", (0.1,) * 5
    )
    assert model.pinhole(*FULL, from_rectified=True).fx == 900.0
    assert model.pinhole(*FULL).fx == 900.0, "both images of the camera lie on each other"
    turned = CameraModel(*FULL, model.raw, model.rectified, "plumb_bob", (0.1,) * 5, turned=True)
    assert turned.pinhole(*FULL).fx == 1000.0, "TF tells the pose of the camera that is not turned"


def test_depth_is_not_mixed_over_an_edge() -> None:
    model = CameraModel(640, 480, (500.0, 500.0, 320.0, 240.0), None, "plumb_bob", (-0.3, 0.1, 0.0, 0.0, 0.0))
    depth = np.where(np.arange(640) < 320, 1.0, 4.0).astype(np.float32) * np.ones((480, 1), np.float32)
    got = rectification(model, 640, 480).values(depth)
    assert set(np.unique(got)) <= {0.0, 1.0, 4.0}
    labels = (np.arange(640 * 480, dtype=np.int32) + 70_000).reshape(480, 640)
    assert set(np.unique(rectification(model, 640, 480).values(labels))) <= {0, *labels.ravel().tolist()}


@pytest.mark.parametrize(
    ("kind", "coefficients", "known"),
    [
        ("plumb_bob", (0.1, 0.0, 0.0, 0.0), True),
        ("plumb_bob", (0.1,) * 5, True),
        ("rational_polynomial", (0.1,) * 8 + (0.0,) * 6, True),
        ("rational_polynomial", (0.1,) * 6, True),
        ("equidistant", (0.1, 0.0, 0.0, 0.0, 0.0), True),
        ("equidistant", (0.1,) * 5, False),
        ("fov", (0.9,), False),
        ("double_sphere", (0.9, 0.1), False),
        ("fov", (0.0,), True),
        ("plumb_bob", (0.1,) * 15, False),
    ],
)
def test_a_distortion_that_nobody_removes_is_named(
    kind: str, coefficients: tuple[float, ...], known: bool
) -> None:
    model = CameraModel(*FULL, (1000.0, 1000.0, 640.0, 480.0), None, kind, coefficients)
    assert (model.unapplied == "") == known
    assert known or kind in model.unapplied
    rectification(model, *FULL)
