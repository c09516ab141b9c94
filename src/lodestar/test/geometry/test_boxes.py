"""Tests of box geometry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.boxes import (
    box_distance,
    box_iou,
    nearest_point_on_box,
    point_box_distance,
    transform_box,
)
from lodestar.geometry.poses import planar_transform, transform_points


def test_iou_of_known_boxes():
    assert box_iou([0, 0], [2, 2], [1, 1], [3, 3]) == pytest.approx(1 / 7)
    assert box_iou([0, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]) == pytest.approx(1.0)
    assert box_iou([0, 0], [1, 1], [5, 5], [6, 6]) == 0.0
    assert box_iou([0, 0], [0, 0], [0, 0], [0, 0]) == 0.0


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_distances_agree(seed):
    rng = np.random.default_rng(seed)
    a_min, b_min = rng.uniform(-2, 2, (2, 3))
    a_max, b_max = a_min + rng.uniform(0, 1, 3), b_min + rng.uniform(0, 1, 3)
    inside_a = rng.uniform(a_min, a_max, (500, 3))
    distance = box_distance(a_min, a_max, b_min, b_max)
    assert distance <= point_box_distance(inside_a, b_min, b_max).min() + 1e-9
    nearest = nearest_point_on_box(nearest_point_on_box(b_min, a_min, a_max), b_min, b_max)
    assert ((nearest >= b_min) & (nearest <= b_max)).all()
    assert box_distance(b_min, b_max, a_min, a_max) == pytest.approx(distance)
    assert (distance > 0) == (not (np.maximum(a_min, b_min) <= np.minimum(a_max, b_max)).all())


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-4, 4))
@settings(max_examples=50, deadline=None)
def test_a_moved_box_holds_its_moved_corners(x, y, yaw):
    low, high = np.array([0.0, -1.0, 0.5]), np.array([1.0, 2.0, 0.7])
    transform = planar_transform(x, y, yaw)
    new_low, new_high = transform_box(transform, low, high)
    grid = np.stack(np.meshgrid(*zip(low, high), indexing="ij"), -1).reshape(-1, 3)
    moved = transform_points(transform, grid)
    np.testing.assert_allclose(new_low, moved.min(0), atol=1e-9)
    np.testing.assert_allclose(new_high, moved.max(0), atol=1e-9)
