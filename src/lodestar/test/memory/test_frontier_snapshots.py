"""Which image shows a frontier, and from where the things of a snapshot are looked at."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_scenes import camera_at

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.config import FrontierSnapshotConfig
from lodestar.memory.frontier_snapshots import FrontierImageChoice, frontier_snapshots, overlap
from lodestar.memory.snapshot_places import observation_poses

CELLS = np.arange(100)
PLACE = np.array([4.0, 2.0])


def grid(stamp=0.0):
    return OccupancyGrid2D(np.zeros((40, 80), np.int8), 0.1, (0.0, 0.0), stamp)


def choice():
    made = FrontierImageChoice(FrontierSnapshotConfig())
    made.images.add(1, 1.0, 2.0, 0.0, 1.2)
    return made


@pytest.mark.parametrize(("left", "renewed"), [(100, False), (95, False), (94, True), (10, True)])
def test_a_frontier_gets_a_new_image_below_an_iou_of_95_percent(left, renewed):
    made = choice()
    assert made.refresh(5, CELLS, grid(), PLACE) == (1, 0.0)
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)  # nearer
    assert made.refresh(5, CELLS[:left], grid(7.0), PLACE) == ((2, 7.0) if renewed else (1, 0.0))


def test_a_frontier_whose_keyframe_is_gone_gets_the_next_one_or_none():
    made = choice()
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)
    assert made.refresh(5, CELLS, grid(), PLACE)[0] == 2
    made.drop_keyframe(2)
    assert made.refresh(5, CELLS, grid(3.0), PLACE) == (1, 3.0)
    made.drop_keyframe(1)
    made.drop_keyframe(99)
    assert made.refresh(5, CELLS, grid(4.0), PLACE) == (0, 4.0)


def test_what_is_not_stored_any_more_is_shown_by_no_frontier_and_what_is_newer_than_the_list_is():
    made = choice()
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)
    assert made.refresh(5, CELLS, grid(), PLACE)[0] == 2
    made.keep_stored((), next_id=2)
    assert made.refresh(5, CELLS, grid(1.0), PLACE)[0] == 2 and made.images.ids == (2,)
    made.keep_stored((1,), next_id=3)
    assert made.refresh(5, CELLS, grid(2.0), PLACE) == (0, 2.0) and made.images.ids == ()


def test_an_explored_frontier_is_forgotten_and_its_id_may_mean_another():
    made = choice()
    made.refresh(5, CELLS, grid(), PLACE)
    made.keep({6})
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)
    assert made.refresh(5, CELLS, grid(2.0), PLACE) == (2, 2.0)


def test_a_snapshot_has_the_pose_of_the_observation_and_none_where_the_image_is_gone():
    poses = {1: camera_at(1.0, 2.0, 0.0)}
    (only,) = frontier_snapshots([(5, 1), (6, 0), (7, 3)], poses)
    assert (only.frontier_id, only.keyframe_id) == (5, 1) and only.pose is poses[1]
    assert frontier_snapshots([], poses) == ()


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_overlap_is_that_of_sets(a, b):
    expected = len(a & b) / len(a | b) if a | b else 0.0
    assert overlap(np.array(sorted(a), np.int64), np.array(sorted(b), np.int64)) == expected


def test_one_thing_is_looked_at_from_the_side_of_the_camera():
    first, second = observation_poses(np.array([[2.0, 1.0]]), np.array([0.0, 1.0]), 0.75)
    assert first == pytest.approx([1.25, 1.0, 0.0]) and second[:2] == pytest.approx([2.75, 1.0])
    assert abs(second[2]) == pytest.approx(math.pi)


def test_two_things_are_looked_at_across_the_line_that_joins_them():
    first, second = observation_poses(
        np.array([[0.0, 0.0, 9.0], [2.0, 0.0, 1.0]]), np.array([1.5, 3.0]), 0.75
    )
    assert first == pytest.approx([1.0, 0.75, -math.pi / 2]) and second[:2] == pytest.approx([1.0, -0.75])


def test_many_things_are_looked_at_across_their_longest_extent():
    row = np.array([[0.0, 0.1], [1.0, -0.1], [2.0, 0.1], [3.0, -0.1]])
    first, _ = observation_poses(row, np.array([1.5, -4.0]), 0.75)
    assert first[:2] == pytest.approx([1.5, -0.75], abs=0.1)


def test_a_ring_of_things_or_a_camera_in_their_midst_still_has_a_pose():
    ring = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    first, _ = observation_poses(ring, np.array([3.0, 3.0]), 0.75)
    assert first[:2] == pytest.approx(0.75 * np.array([1.0, 1.0]) / math.sqrt(2.0))
    assert np.isfinite(observation_poses(ring, np.zeros(2), 0.75)).all()
    assert np.isfinite(observation_poses(np.zeros((3, 2)), np.zeros(2), 0.75)).all()


@pytest.mark.parametrize(
    ("centres", "camera"),
    [
        (np.zeros((0, 2)), np.zeros(2)),
        (np.array([[np.nan, 0.0]]), np.zeros(2)),
        (np.zeros((1, 2)), np.array([np.inf, 0.0])),
    ],
)
def test_no_finite_place_is_refused(centres, camera):
    with pytest.raises(ValueError, match="finite"):
        observation_poses(centres, camera, 0.75)
