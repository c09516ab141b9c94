"""Tests of class-agnostic segments of rooms of known shape."""

import math

import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.geometric import GeometricConfig, GeometricSegmenter, color_name

CAMERA = PinholeCamera(320, 240, 260.0, 260.0, 159.5, 119.5)


def render(boxes, pitch=0.35, height=1.4, room=(-3.0, 3.0, 0.0, 4.0, 2.6)):
    """Return depth and true labels of boxes (low, high) in a room, seen from (0, 0, height) along +y, looking down."""
    c, s = math.cos(pitch), math.sin(pitch)
    right, forward = np.array([1.0, 0, 0]), np.array([0, c, -s])
    down = np.array([0, -s, -c])
    rays = CAMERA.rays().reshape(-1, 3) @ np.stack([right, down, forward])
    eye = np.array([0.0, 0.0, height])
    low, high = np.array([room[0], -1.0, room[2]]), np.array([room[1], room[3], room[4]])
    with np.errstate(divide="ignore"):
        depth = (np.where(rays > 0, high - eye, low - eye) / rays).min(1)
    labels = np.zeros(len(rays), int)
    for value, (a, b) in enumerate(boxes, 1):
        with np.errstate(divide="ignore"):
            first, second = (np.array(a) - eye) / rays, (np.array(b) - eye) / rays
        enter, leave = np.minimum(first, second).max(1), np.maximum(first, second).min(1)
        hit = (enter < leave) & (enter > 0) & (enter < depth)
        depth[hit], labels[hit] = enter[hit], value
    shape = (CAMERA.height, CAMERA.width)
    return depth.reshape(shape).astype(np.float32), labels.reshape(shape)


BOXES = [((-0.9, 1.6, 0.0), (-0.3, 2.2, 0.8)), ((0.5, 1.8, 0.0), (1.0, 2.3, 0.5))]


def noisy(depth, seed=0):
    rng = np.random.default_rng(seed)
    error = rng.normal(0, 0.0015 * depth**2).astype(np.float32)
    return np.round((depth + error) * 1000) / np.float32(1000)


@pytest.mark.parametrize("seed", range(4))
def test_each_thing_is_a_segment_and_the_room_is_none(seed):
    depth, truth = render(BOXES)
    found = GeometricSegmenter(seed=seed).segment(1.0, noisy(depth, seed), CAMERA, None)
    for value in (1, 2):
        inside = truth == value
        values, counts = np.unique(found.labels[inside], return_counts=True)
        main = values[np.argmax(counts)]
        union = (inside | (found.labels == main)).sum()
        assert main > 0 and (inside & (found.labels == main)).sum() / union > 0.6
    assert (found.labels[truth == 0] > 0).mean() < 0.08
    assert {d.label for d in found.detections} == {"object"}


def test_labels_and_detections_agree():
    depth, _ = render(BOXES)
    found = GeometricSegmenter().segment(1.0, noisy(depth), CAMERA, None)
    assert found.labels.dtype == np.uint16 and found.labels.shape == depth.shape
    assert sorted(np.unique(found.labels[found.labels > 0])) == sorted(
        d.label_value for d in found.detections
    )
    for d in found.detections:
        rows, columns = np.nonzero(found.labels == d.label_value)
        assert d.pixel_count == len(rows) >= GeometricConfig.min_pixels // 2
        assert (d.box.x, d.box.y) == (columns.min(), rows.min())
        assert (d.box.width, d.box.height) == (np.ptp(columns) + 1, np.ptp(rows) + 1)


def test_a_table_top_is_no_floor():
    table = [((-1.4, 0.9, 0.70), (1.4, 2.4, 0.75))]
    depth, truth = render(table, pitch=0.5)
    found = GeometricSegmenter().segment(1.0, noisy(depth), CAMERA, None)
    assert (found.labels[truth == 1] > 0).mean() > 0.8


def test_captions_name_the_colour():
    depth, truth = render(BOXES)
    rgb = np.full((*depth.shape, 3), 128, np.uint8)
    rgb[truth == 1], rgb[truth == 2] = (200, 30, 30), (235, 130, 25)
    captions = {d.caption for d in GeometricSegmenter().segment(1.0, depth, CAMERA, rgb).detections}
    assert {"a red object", "an orange object"} <= captions


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 50.0, 0.01])
def test_an_image_without_usable_depth_has_no_segments(value):
    depth = np.full((CAMERA.height, CAMERA.width), value, np.float32)
    found = GeometricSegmenter().segment(1.0, depth, CAMERA, None)
    assert found.detections == () and not found.labels.any()


def test_holes_in_the_depth_are_background():
    depth, _ = render(BOXES)
    depth = noisy(depth)
    depth[::7], depth[:, ::5] = 0.0, np.nan
    found = GeometricSegmenter().segment(1.0, depth, CAMERA, None)
    assert not found.labels[~(depth > 0)].any()


def test_the_same_image_and_seed_give_the_same_segments():
    depth, _ = render(BOXES)
    first, second = (GeometricSegmenter(seed=3).segment(1.0, noisy(depth), CAMERA, None) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)


def test_depth_of_another_size_is_refused():
    with pytest.raises(ValueError, match="depth has shape"):
        GeometricSegmenter().segment(1.0, np.ones((10, 10), np.float32), CAMERA, None)
    depth = np.ones((CAMERA.height, CAMERA.width), np.float32)
    with pytest.raises(ValueError, match="colour has shape"):
        GeometricSegmenter().segment(1.0, depth, CAMERA, np.zeros((10, 10, 3), np.uint8))


@pytest.mark.parametrize(
    ("rgb", "name"),
    [((250, 250, 250), "white"), ((10, 10, 12), "black"), ((30, 60, 170), "blue"), ((90, 60, 35), "brown")],
)
def test_colours_have_their_common_names(rgb, name):
    assert color_name(np.array(rgb)) == name
