"""Tests that frontiers keep identity and image, and are split and excluded only for the defined reasons."""

import math
from dataclasses import replace

import numpy as np
from expert_worlds import known_from, two_rooms
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.frontier_tracker import (
    FRONTIER_TRACKER_SAME_DISTANCE,
    FrontierTracker,
    FrontierTrackerConfig,
    find_pieces,
    middles,
)
from lodestar.experts.view_kernels import piece_candidates
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.visibility import visible_mask

ROBOT = np.array([1.0, 1.0, 0.0])


def survey(grid, robot=ROBOT):
    lengths = path_lengths(grid, robot[:2])
    return lengths, find_pieces(grid, grid.unknown, lengths, robot, FrontierTrackerConfig())


def test_pieces_are_free_border_cells_no_larger_than_a_tile_nearest_first():
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    lengths, pieces = survey(grid)
    assert pieces
    near = [lengths[tuple(p.T)].min() for p in pieces]
    assert near == sorted(near)
    for piece in pieces:
        assert len(piece) >= 8 and grid.free[tuple(piece.T)].all()
        assert (np.ptp(piece, axis=0) <= 20).all()
        for row, column in piece:
            assert grid.unknown[row - 1 : row + 2, column - 1 : column + 2].any()


def test_a_piece_all_around_the_robot_is_split_and_one_ahead_is_not(monkeypatch):
    cells = np.full((60, 60), -1, np.int8)
    rows, columns = np.ogrid[:60, :60]
    cells[np.hypot(rows - 25, columns - 25) <= 7] = 0  # a free disc surrounded by unknown cells
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    config = FrontierTrackerConfig(tile=6.0)
    inside, outside = np.array([2.55, 2.55, 0.0]), np.array([20.0, 2.55, 0.0])
    lengths = np.zeros(cells.shape, np.float32)
    whole = find_pieces(grid, grid.unknown, lengths, outside, config)
    halves = find_pieces(grid, grid.unknown, lengths, inside, config)
    assert len(whole) == 1 and len(halves) == 2
    assert sum(len(p) for p in halves) == len(whole[0])
    ahead = math.dist(halves[0].mean(axis=0), halves[1].mean(axis=0))
    assert ahead > 5.0  # cells between the two centroids
    monkeypatch.setattr("lodestar.experts.frontier_tracker.FRONTIER_TRACKER_SPLIT_ANGLE", 7.0)
    split = find_pieces(grid, grid.unknown, lengths, inside, config)
    assert len(split) == 1


def test_an_image_is_renewed_when_the_piece_changed_and_only_then():
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    _, pieces = survey(grid)
    tracker = FrontierTracker(FrontierTrackerConfig())
    middle = grid.points_of(pieces[0]).mean(axis=0)
    heading = math.atan2(middle[1] - 2.0, middle[0] - 2.0)
    tracker.images.add(7, 2.0, 2.0, heading, math.radians(80.0))
    (first, *_) = tracker.keep(tracker.follow(grid, pieces))
    assert first.keyframe_id == 7
    nearer = middle + 0.8 * (np.array([2.0, 2.0]) - middle) / math.dist(middle, (2.0, 2.0))
    tracker.images.add(8, *nearer, heading, math.radians(80.0))
    later = OccupancyGrid2D(grid.cells, grid.resolution, grid.origin, stamp=5.0)
    (same, *_) = tracker.keep(tracker.follow(later, pieces))
    assert (same.id, same.keyframe_id, same.updated) == (first.id, 7, 0.0)
    half = [pieces[0][: len(pieces[0]) * 3 // 4], *pieces[1:]]
    (changed, *_) = tracker.keep(tracker.follow(later, half))
    assert (changed.id, changed.keyframe_id, changed.updated) == (first.id, 8, 5.0)


def test_a_piece_without_an_image_gets_one_when_it_comes():
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    _, pieces = survey(grid)
    tracker = FrontierTracker(FrontierTrackerConfig())
    (bare, *_) = tracker.keep(tracker.follow(grid, pieces))
    middle = grid.points_of(pieces[0]).mean(axis=0)
    heading = math.atan2(middle[1] - 2.0, middle[0] - 2.0)
    tracker.images.add(7, 2.0, 2.0, heading, math.radians(80.0))
    (shown, *_) = tracker.keep(tracker.follow(grid, pieces))
    assert (bare.keyframe_id, shown.keyframe_id, shown.id) == (0, 7, bare.id)


def test_a_keyframe_that_is_told_again_takes_no_second_place(monkeypatch):
    monkeypatch.setattr("lodestar.memory.snapshots.frontiers.FRONTIER_SNAPSHOT_IMAGES", 2)
    grid = two_rooms()
    tracker = FrontierTracker(FrontierTrackerConfig())
    ahead, left = np.array([3.0, 0.8]), np.array([1.0, 2.0])
    tracker.images.add(1, 1.0, 0.8, 0.0, math.radians(80.0))
    for _ in range(3):
        tracker.images.add(2, 1.0, 0.8, math.pi / 2, math.radians(80.0))
    assert (tracker.images.showing(grid, ahead), tracker.images.showing(grid, left)) == (1, 2)
    tracker.images.add(2, 1.0, 0.8, math.pi, math.radians(80.0))
    assert tracker.images.showing(grid, left) == 0, "it is where it was told last"


def test_an_image_shows_what_no_wall_hides():
    grid = two_rooms()
    tracker = FrontierTracker(FrontierTrackerConfig())
    tracker.images.add(1, 2.0, 0.8, 0.0, math.radians(80.0))  # an image that faces the wall
    assert tracker.images.showing(grid, np.array([6.0, 0.8])) == 0
    assert tracker.images.showing(grid, np.array([3.5, 0.8])) == 1
    assert tracker.images.showing(grid, np.array([1.0, 0.8])) == 0  # behind the camera


def test_a_verdict_stands_until_the_map_around_changes():
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    lengths, pieces = survey(grid)
    tracker = FrontierTracker(FrontierTrackerConfig())
    (record, *_) = tracker.keep(tracker.follow(grid, pieces))
    around = tracker.surroundings(grid, lengths, pieces)[0]
    assert tracker.out_of_reach(record, around) == ""
    tracker.condemn(record, around, "a river")
    assert tracker.out_of_reach(record, around) == "a river"
    cells = grid.cells.copy()
    row, column = pieces[0][0]
    cells[row + 2, column] = 100
    changed = OccupancyGrid2D(cells, grid.resolution, grid.origin)
    assert tracker.out_of_reach(record, tracker.surroundings(changed, lengths, pieces)[0]) == ""
    nowhere = np.full_like(lengths, np.inf)
    assert (
        tracker.out_of_reach(record, tracker.surroundings(grid, nowhere, pieces)[0]) == ""
    )  # path lengths changed meanwhile


def test_a_reason_keeps_the_time_since_when_it_stands():
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    _, pieces = survey(grid)
    tracker = FrontierTracker(FrontierTrackerConfig())
    for stamp in (3.0, 4.0):
        told = [replace(r, reason="a river", since=stamp) for r in tracker.follow(grid, pieces)]
        kept = tracker.keep(told)
    assert all(record.since == 3.0 for record in kept)


def plain_owners(before, pieces, keys_of, same_distance):
    """Return the ids of pieces, computed one piece at a time. before: id -> (cells, centroid)."""
    left, owners, newest = dict(before), [0] * len(pieces), max(before, default=0)
    for index, piece in enumerate(pieces):
        shared = {i: len(np.intersect1d(keys_of(piece), keys_of(cells))) for i, (cells, _) in before.items()}
        for identity in sorted(shared, key=lambda i: (-shared[i], -i))[:3]:
            if shared[identity] and identity in left:
                owners[index] = identity
                del left[identity]
                break
    for index, piece in enumerate(pieces):
        if not owners[index]:
            middle = (piece.mean(axis=0)[::-1] + 0.5) * 0.1
            nearest = min(left, key=lambda i: math.dist(left[i][1], middle), default=0)
            if nearest and math.dist(left[nearest][1], middle) <= same_distance:
                owners[index] = nearest
                del left[nearest]
            else:
                owners[index] = newest = newest + 1
    return owners


def some_pieces(rng):
    """Return random disjoint pieces, each in the order of the grid."""
    cells = np.argwhere(rng.random((24, 24)) < 0.4)
    piece_of = cells[:, 0] // 8 * 3 + (cells[:, 1] + rng.integers(0, 5)) // 10
    return [cells[piece_of == k] for k in rng.permutation(9) if (piece_of == k).any()]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_all_pieces_at_once_are_the_pieces_one_by_one(seed):
    rng = np.random.default_rng(seed)
    grid = OccupancyGrid2D(np.zeros((24, 24), np.int8), 0.1, (0.0, 0.0))
    tracker, before = FrontierTracker(FrontierTrackerConfig()), {}
    for _ in range(3):
        pieces = some_pieces(rng)
        expected = plain_owners(
            before, pieces, lambda p: p[:, 0] * 99 + p[:, 1], FRONTIER_TRACKER_SAME_DISTANCE
        )
        records = tracker.keep(tracker.follow(grid, pieces))
        assert [record.id for record in records] == expected
        before = {r.id: (piece, r.centroid) for r, piece in zip(records, pieces)}
        for piece, mean, cell in zip(pieces, *middles(pieces)):
            assert np.array_equal(mean, piece.mean(axis=0))
            assert np.array_equal(cell, piece[((piece - piece.mean(axis=0)) ** 2).sum(axis=1).argmin()])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_places_to_look_from_are_the_nearest_the_quickest_and_the_first_in_sight(seed):
    rng = np.random.default_rng(seed)
    cells = rng.choice(np.array([-1, 0, 100], np.int8), (30, 30), p=(0.2, 0.7, 0.1))
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    lengths = np.where(rng.random(cells.shape) < 0.3, rng.random(cells.shape), np.inf).astype(np.float32)
    narrow = np.isfinite(lengths)
    roomy = narrow & (rng.random(cells.shape) < 0.1)
    asked = rng.integers(0, 30, (6, 2))
    found = piece_candidates(cells, 65, roomy, narrow, lengths, asked, 4, 12.0)
    rows, columns = np.indices(cells.shape)
    for (row, column), (nearest, quickest, first) in zip(asked, found):
        near = np.maximum(abs(rows - row), abs(columns - column)) <= 4
        usable = near & (roomy if (near & roomy).any() else narrow)
        seen = visible_mask(grid, grid.points_of(np.array([row, column])), 1.2) & roomy
        away = np.hypot(rows - row, columns - column)
        assert nearest == (np.where(usable, away, np.inf).argmin() if usable.any() else -1)
        assert quickest == (np.where(usable, lengths, np.inf).argmin() if usable.any() else -1)
        assert first == (np.where(seen, lengths, np.inf).argmin() if seen.any() else -1)
