"""Frontiers keep their identity and image, and are split and condemned for reasons."""

import math
from dataclasses import replace

import numpy as np
from expert_worlds import known_from, two_rooms

from lodestar.experts.frontier_tracker import FrontierTracker, FrontierTrackerConfig, find_pieces
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.memory.config import FrontierSnapshotConfig

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


def test_a_piece_all_around_the_robot_is_split_and_one_ahead_is_not():
    cells = np.full((60, 60), -1, np.int8)
    rows, columns = np.ogrid[:60, :60]
    cells[np.hypot(rows - 25, columns - 25) <= 7] = 0  # a free disc, unknown all around it
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    config = FrontierTrackerConfig(tile=6.0)
    inside, outside = np.array([2.55, 2.55, 0.0]), np.array([20.0, 2.55, 0.0])
    lengths = np.zeros(cells.shape, np.float32)
    whole = find_pieces(grid, grid.unknown, lengths, outside, config)
    halves = find_pieces(grid, grid.unknown, lengths, inside, config)
    assert len(whole) == 1 and len(halves) == 2
    assert sum(len(p) for p in halves) == len(whole[0])
    ahead = math.dist(halves[0].mean(axis=0), halves[1].mean(axis=0))
    assert ahead > 5.0  # cells between the two middles
    split = find_pieces(grid, grid.unknown, lengths, inside, FrontierTrackerConfig(tile=6.0, split_angle=7.0))
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


def test_a_keyframe_that_is_told_again_takes_no_second_place():
    grid = two_rooms()
    tracker = FrontierTracker(FrontierTrackerConfig(snapshots=FrontierSnapshotConfig(images=2)))
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
    tracker.images.add(1, 2.0, 0.8, 0.0, math.radians(80.0))  # looks at the wall
    assert tracker.images.showing(grid, np.array([6.0, 0.8])) == 0
    assert tracker.images.showing(grid, np.array([3.5, 0.8])) == 1
    assert tracker.images.showing(grid, np.array([1.0, 0.8])) == 0  # behind the camera


def test_a_verdict_stands_until_the_map_around_changes():
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    lengths, pieces = survey(grid)
    tracker = FrontierTracker(FrontierTrackerConfig())
    (record, *_) = tracker.keep(tracker.follow(grid, pieces))
    assert tracker.out_of_reach(grid, lengths, pieces[0], record) == ""
    tracker.condemn(grid, lengths, pieces[0], record, "a river")
    assert tracker.out_of_reach(grid, lengths, pieces[0], record) == "a river"
    cells = grid.cells.copy()
    row, column = pieces[0][0]
    cells[row + 2, column] = 100
    changed = OccupancyGrid2D(cells, grid.resolution, grid.origin)
    assert tracker.out_of_reach(changed, lengths, pieces[0], record) == ""
    nowhere = np.full_like(lengths, np.inf)
    assert tracker.out_of_reach(grid, nowhere, pieces[0], record) == ""  # the ways changed


def test_a_reason_keeps_the_time_since_when_it_stands():
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    _, pieces = survey(grid)
    tracker = FrontierTracker(FrontierTrackerConfig())
    for stamp in (3.0, 4.0):
        told = [replace(r, reason="a river", since=stamp) for r in tracker.follow(grid, pieces)]
        kept = tracker.keep(told)
    assert all(record.since == 3.0 for record in kept)
