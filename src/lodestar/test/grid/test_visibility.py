"""Tests of lines of sight in the grid."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid import visibility
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.grid.visibility import least_in_sight, line_of_sight, sight_directions, visible_mask


def walled():
    cells = np.full((50, 50), FREE, np.int8)
    cells[10:40, 25] = OCCUPIED
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def test_a_wall_blocks_what_is_behind_it_and_nothing_else():
    grid = walled()
    ends = np.array([[4.0, 2.5], [2.0, 2.5], [4.0, 0.2], [2.55, 2.5]])
    assert line_of_sight(grid, (1.0, 2.5), ends).tolist() == [False, True, False, False]
    assert line_of_sight(grid, (1.0, 0.3), np.array([[4.0, 0.3]])).all()


def test_the_last_metres_may_be_furniture():
    grid = walled()
    end = np.array([[2.9, 2.5]])
    assert not line_of_sight(grid, (1.0, 2.5), end, ignore_last=0.2).any()
    assert line_of_sight(grid, (1.0, 2.5), end, ignore_last=0.5).all()


def test_one_does_not_block_ones_own_sight():
    grid = walled()
    assert line_of_sight(grid, (2.55, 2.5), np.array([[2.0, 2.5]])).all()


@given(st.integers(0, 5000))
@settings(max_examples=30, deadline=None)
def test_sight_agrees_with_sampling_the_segment(seed):
    rng = np.random.default_rng(seed)
    cells = np.where(rng.random((30, 30)) < 0.08, OCCUPIED, FREE).astype(np.int8)
    grid = OccupancyGrid2D(cells, 0.2, (-1.0, -2.0))
    start = rng.uniform((-1, -2), (5, 4))
    ends = rng.uniform((-1, -2), (5, 4), (20, 2))
    own = tuple(grid.cells_of(start[None])[0])
    for end, seen in zip(ends, line_of_sight(grid, start, ends)):
        samples = grid.cells_of(start + np.linspace(0, 1, 4000)[:, None] * (end - start))
        hit = any(cells[r, c] == OCCUPIED for r, c in {tuple(s) for s in samples} - {own})
        if hit:
            assert not seen
    # sampling may miss a corner that the exact walk touches, so only one direction must hold


def test_visible_cells_stop_at_walls_and_pass_the_unknown():
    grid = walled()
    cells = grid.cells.copy()
    cells[:, 15] = UNKNOWN
    mask = visible_mask(OccupancyGrid2D(cells, 0.1, (0, 0)), (1.05, 2.5), 3.0)
    assert mask[25, 15] and mask[25, 20] and mask[25, 25]
    assert not mask[25, 26:].any()
    assert not mask[25, 41:].any()


def test_field_of_view_limits_what_is_seen():
    grid = OccupancyGrid2D(np.zeros((60, 60), np.int8), 0.1, (0, 0))
    whole = visible_mask(grid, (3.0, 3.0), 2.0)
    half = visible_mask(grid, (3.0, 3.0), 2.0, fov=math.pi, heading=0.0)
    assert whole.sum() * 0.01 == pytest.approx(math.pi * 4, rel=0.06)
    assert half.sum() == pytest.approx(whole.sum() / 2, rel=0.08)
    assert not half[:, :28].any()


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_nearest_in_sight_is_the_least_over_the_mask(seed):
    rng = np.random.default_rng(seed)
    cells = rng.choice(np.array([-1, 0, 100], np.int8), (40, 50), p=(0.2, 0.75, 0.05))
    grid = OccupancyGrid2D(cells, 0.1, (-1.0, 2.0))
    lengths = rng.integers(0, 6, cells.shape).astype(np.float32)  # small integers, so that ties occur
    allowed = (cells == 0) & (rng.random(cells.shape) < 0.1)
    cell = tuple(int(rng.integers(size)) for size in cells.shape)
    seen = visible_mask(grid, grid.points_of(np.array(cell)), 1.7) & allowed
    found = least_in_sight(cells, 65, lengths, allowed, *cell, 17.0, *sight_directions(17.0))
    if not seen.any():
        assert found == -1
    else:
        assert found == np.where(seen, lengths, np.inf).argmin()


def test_one_compiled_version_serves_one_end_and_several(monkeypatch):
    given = []
    monkeypatch.setattr(visibility, "_sight", lambda *values: given.append(values))
    grid = OccupancyGrid2D(np.zeros((30, 30), np.int8), 0.1, (0.0, 0.0))
    poses = np.array([[1.0, 1.0, 0.2], [1.0, 2.0, 0.1]])
    for starts in (poses[0, :2], poses[:, :2], poses[:1, :2]):
        visibility.sight_between(grid, starts, poses[: max(len(starts) if starts.ndim > 1 else 1, 1), :2])
    layouts = [
        [(a.flags.writeable, a.flags.c_contiguous) for a in one if isinstance(a, np.ndarray)] for one in given
    ]
    assert layouts[0] == layouts[1] == layouts[2]
