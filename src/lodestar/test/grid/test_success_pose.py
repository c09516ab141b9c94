"""Tests of the definition of success."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid.footprint import GO2, footprint_free
from lodestar.grid.occupancy import OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.grid.success_pose import bearing_to_box, faced, footprint_distance, is_facing

coordinate, size = st.floats(-3, 3), st.floats(0.02, 2)


def test_the_radius_of_the_go2():
    assert GO2.circumscribed_radius == pytest.approx(0.385, abs=0.001)


@pytest.mark.parametrize(
    ("pose", "distance"),
    [
        ((0.0, 0.0, 0.0), 0.65),  # the robot's front is at 0.35
        ((0.0, 0.0, math.pi / 2), 0.84),  # the robot's side is at 0.16
        ((1.2, 0.0, 0.0), 0.0),  # the footprint overlaps the box
        ((0.0, 3.0, 0.0), math.hypot(0.65, 2.34)),
    ],
)
def test_distance_of_the_footprint(pose, distance):
    found = footprint_distance(pose, GO2, (1.0, -0.5, 0.0), (2.0, 0.5, 1.0))
    assert found == pytest.approx(distance, abs=1e-9)


@given(coordinate, coordinate, st.floats(-4, 4), coordinate, coordinate, size, size)
@settings(max_examples=150, deadline=None)
def test_distance_equals_sampling_the_footprint(x, y, yaw, bx, by, width, depth):
    low, high = np.array([bx, by]), np.array([bx + width, by + depth])
    u, v = (axis.ravel() for axis in np.meshgrid(np.linspace(-0.5, 0.5, 101), np.linspace(-0.5, 0.5, 51)))
    along, aside = u * GO2.length, v * GO2.width
    c, s = math.cos(yaw), math.sin(yaw)
    points = np.stack([x + c * along - s * aside, y + s * along + c * aside], axis=1)
    sampled = np.linalg.norm(points - np.clip(points, low, high), axis=1).min()
    distance = footprint_distance((x, y, yaw), GO2, low, high)
    assert distance <= sampled + 1e-9
    assert distance >= sampled - 0.01


def test_bearing_is_to_the_nearest_point_of_the_box():
    low, high = (1.0, -0.5, 0.0), (2.0, 5.0, 1.0)
    assert bearing_to_box((0, 0, 0), low, high) == pytest.approx(0.0)
    assert bearing_to_box((0, 0, math.radians(40)), low, high) == pytest.approx(-math.radians(40))
    assert bearing_to_box((1.5, 1.0, 2.0), low, high) == 0.0
    assert abs(bearing_to_box((0, 0, math.pi), low, high)) == pytest.approx(math.pi)


@pytest.mark.parametrize(
    ("pose", "facing"),
    [
        ((-0.34, 0.0, 0.0), True),
        ((-0.36, 0.0, 0.0), False),
        ((0.0, 0.0, math.radians(29)), True),
        ((0.0, 0.0, math.radians(31)), False),
    ],
)
def test_facing_is_near_and_towards(pose, facing):
    assert is_facing(pose, (1.0, -0.5, 0.0), (2.0, 0.5, 1.0)) is facing


@given(coordinate, coordinate, st.floats(-4, 4), st.integers(0, 40), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_many_boxes_are_faced_as_each_alone_is(x, y, yaw, count, seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-3, 3, (count, 3))
    high = low + rng.uniform(0.02, 1, (count, 3))
    alone = [is_facing((x, y, yaw), *box) for box in zip(low, high)]
    assert faced((x, y, yaw), low, high).tolist() == alone


def test_footprint_is_free_only_where_no_obstacle_lies_under_it():
    cells = np.zeros((40, 40), np.int8)
    cells[20, 24] = OCCUPIED  # the cell with centre (2.45, 2.05)
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    assert not footprint_free(grid, (2.15, 2.05, 0.0))
    assert footprint_free(grid, (2.15, 2.05, math.pi / 2))
    assert footprint_free(grid, (2.0, 2.05, 0.0))


def test_unknown_and_off_the_map_count_only_when_asked():
    cells = np.full((40, 40), UNKNOWN, np.int8)
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    assert footprint_free(grid, (2, 2, 0))
    assert not footprint_free(grid, (2, 2, 0), unknown_ok=False)
    free = OccupancyGrid2D(np.zeros((40, 40), np.int8), 0.1, (0.0, 0.0))
    assert not footprint_free(free, (0.2, 2, 0), unknown_ok=False)
