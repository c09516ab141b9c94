"""Tests of goal poses around a target."""

import math

import numpy as np
import pytest

from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.footprint import GO2, footprint_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.success_pose import is_facing
from lodestar.grid.viewpoints import NoViewpoint, NoViewpointReason, find_viewpoints

LOW, HIGH = np.array([3.0, 2.8, 0.0]), np.array([3.4, 3.2, 0.9])


def room(*obstacles):
    cells = np.zeros((60, 60), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = OCCUPIED, OCCUPIED, OCCUPIED, OCCUPIED
    for rows, columns in obstacles:
        cells[rows, columns] = OCCUPIED
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


CHAIR = (slice(28, 32), slice(30, 34))


def view_from(x, y, yaw=0.0):
    return planar_transform(x, y, yaw, 0.45) @ BODY_FROM_OPTICAL


def check(grid, lengths, viewpoints, low=LOW, high=HIGH):
    clearance = obstacle_distance(grid)
    for v in viewpoints:
        assert is_facing(v.pose, low, high, max_distance=0.86)
        cell = tuple(grid.cells_of(v.pose[None])[0])
        assert np.isfinite(lengths[cell]) and v.path_length == pytest.approx(lengths[cell])
        assert clearance[cell] == pytest.approx(v.clearance)
        assert v.clearance >= 0.40 or footprint_free(grid, v.pose, GO2)
    assert [v.score for v in viewpoints] == sorted((v.score for v in viewpoints), reverse=True)


def test_viewpoints_stand_near_face_it_and_can_be_reached():
    grid = room(CHAIR)
    lengths = path_lengths(grid, (1.0, 1.0))
    viewpoints = find_viewpoints(grid, lengths, LOW, HIGH)
    check(grid, lengths, viewpoints)
    assert len(viewpoints) > 8


def test_the_side_it_was_seen_from_is_kept():
    grid = room(CHAIR)
    lengths = path_lengths(grid, (5.0, 3.0))
    for v in find_viewpoints(grid, lengths, LOW, HIGH, [view_from(1.0, 3.0)]):
        angle = math.atan2(v.pose[1] - 3.0, v.pose[0] - 3.2)
        assert abs(math.remainder(angle - math.pi, 2 * math.pi)) <= math.radians(110.5)
    best = find_viewpoints(grid, lengths, LOW, HIGH, [view_from(1.0, 3.0)])[0]
    assert best.pose[0] < 3.0


def test_a_thing_on_a_wall_is_not_faced_through_the_wall():
    wall = (slice(0, 60), slice(30, 32))
    door = (slice(50, 59), slice(30, 32))
    grid = room(wall)
    cells = grid.cells.copy()
    cells[door] = 0
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    low, high = np.array([2.9, 2.8, 0.4]), np.array([3.0, 3.2, 0.9])  # an object on the wall's left side
    lengths = path_lengths(grid, (5.0, 3.0))  # path lengths of a robot on the right side
    viewpoints = find_viewpoints(grid, lengths, low, high, [view_from(1.0, 3.5)])
    check(grid, lengths, viewpoints, low, high)
    assert all(v.pose[0] < 2.9 for v in viewpoints)


def test_a_thing_on_a_table_is_seen_over_the_table():
    table = (slice(26, 34), slice(26, 38))
    grid = room(table)
    cup_low, cup_high = np.array([3.1, 2.95, 0.7]), np.array([3.2, 3.05, 0.8])
    lengths = path_lengths(grid, (1.0, 1.0))
    viewpoints = find_viewpoints(grid, lengths, cup_low, cup_high, [view_from(1.0, 3.0)])
    check(grid, lengths, viewpoints, cup_low, cup_high)


def test_what_stands_above_the_camera_is_faced_from_farther_away(monkeypatch):
    grid = room((slice(28, 32), slice(30, 34)))
    lengths = path_lengths(grid, (1.0, 3.0))
    low, high = np.array([3.1, 2.9, 0.75]), np.array([3.3, 3.1, 0.91])  # a laptop on a desk
    views = [view_from(1.0, 3.0)]
    assert find_viewpoints(grid, lengths, low, high, views)[0].distance > 0.65
    monkeypatch.setattr("lodestar.grid.viewpoints.VIEWPOINT_SET_BACK", 0.0)
    monkeypatch.setattr("lodestar.grid.viewpoints.VIEWPOINT_HIGH_DISTANCE", 0.75)
    assert find_viewpoints(grid, lengths, low, high, views)[0].distance < 0.6


def test_where_what_it_stands_on_is_known_it_is_faced_from_the_near_edge():
    grid = room((slice(26, 40), slice(26, 40)))
    lengths = path_lengths(grid, (1.0, 1.0))
    low, high = (
        np.array([3.0, 2.75, 0.75]),
        np.array([3.2, 2.9, 0.95]),
    )  # a mug near the southern edge of the table
    table = np.array([2.6, 2.6, 0.0]), np.array([4.0, 4.0, 0.75])
    views = [view_from(1.0, 1.0)]
    found = find_viewpoints(grid, lengths, low, high, views, support=table)
    assert found[0].pose[1] < 2.4 and abs(found[0].pose[0] - 3.1) < 0.5
    west = [v for v in found if v.pose[1] > 2.6]
    assert all(v.score < found[0].score - 0.2 for v in west)


def test_a_plain_sight_is_told_from_one_past_something():
    fence = (slice(23, 25), slice(0, 60))
    before_it = find_viewpoints(room(CHAIR), path_lengths(room(CHAIR), (1.0, 1.0)), LOW, HIGH)
    assert before_it[0].is_plain
    grid = room(CHAIR, fence)
    past_it = find_viewpoints(grid, path_lengths(grid, (1.0, 1.0)), LOW, HIGH)
    assert past_it and not any(v.is_plain for v in past_it)


def test_excluded_places_are_not_offered_again():
    grid = room(CHAIR)
    lengths = path_lengths(grid, (1.0, 1.0))
    first = find_viewpoints(grid, lengths, LOW, HIGH)[0]
    rest = find_viewpoints(grid, lengths, LOW, HIGH, excluded=[first.pose])
    assert min(np.linalg.norm(v.pose[:2] - first.pose[:2]) for v in rest) > 0.3
    tried = []
    with pytest.raises(NoViewpoint) as exhausted:
        for _ in range(200):
            tried.append(find_viewpoints(grid, lengths, LOW, HIGH, excluded=tried)[0].pose)
    assert exhausted.value.reason is NoViewpointReason.EXCLUDED
    assert len(tried) > 5


@pytest.mark.parametrize(
    ("obstacles", "start", "views", "reason"),
    [
        ([CHAIR, (slice(0, 60), slice(10, 12))], (0.5, 3.0), [], NoViewpointReason.UNREACHABLE),
        (
            [CHAIR, (slice(0, 60), slice(26, 28)), (slice(20, 40), slice(44, 46))],
            (1.0, 3.0),
            [view_from(5.5, 3.0)],
            NoViewpointReason.OTHER_SIDE,
        ),
    ],
)
def test_without_a_viewpoint_the_reason_is_stated(obstacles, start, views, reason):
    grid = room(*obstacles)
    with pytest.raises(NoViewpoint) as failure:
        find_viewpoints(grid, path_lengths(grid, start), LOW, HIGH, views)
    assert failure.value.reason is reason


def test_low_things_are_looked_at_from_farther_away_than_high_ones(monkeypatch):
    grid = room()
    lengths = path_lengths(grid, (1.0, 3.0))
    monkeypatch.setattr("lodestar.grid.viewpoints.VIEWPOINT_PATH_WEIGHT", 0.0)
    shoe = find_viewpoints(grid, lengths, (3.0, 2.9, 0.0), (3.2, 3.1, 0.08))[0]
    lamp = find_viewpoints(grid, lengths, (3.0, 2.9, 0.5), (3.2, 3.1, 0.7))[0]
    assert shoe.distance > 0.7
    assert lamp.distance == pytest.approx(0.45, abs=0.06)


def test_lengths_of_another_grid_are_refused():
    with pytest.raises(ValueError, match="do not belong"):
        find_viewpoints(room(), np.zeros((3, 3), np.float32), LOW, HIGH)


@pytest.mark.parametrize("rise", [3.0, -1.0])
@pytest.mark.parametrize(
    ("low", "high"), [((3.0, 2.9, 0.0), (3.2, 3.1, 0.08)), ((3.0, 2.9, 0.6), (3.2, 3.1, 0.9))]
)
def test_viewpoints_of_an_upper_storey_are_those_of_the_ground_floor(low, high, rise):
    grid = room(CHAIR)
    lengths = path_lengths(grid, (1.0, 1.0))
    up = np.array([0.0, 0.0, rise])
    level = find_viewpoints(grid, lengths, low, high, [view_from(1.0, 3.0)])
    lifted = planar_transform(0.0, 0.0, 0.0, rise) @ view_from(1.0, 3.0)
    storey = find_viewpoints(grid, lengths, low + up, high + up, [lifted])
    told = [np.array([[*v.pose, v.distance, v.visible] for v in found]) for found in (level, storey)]
    assert np.allclose(*told)
