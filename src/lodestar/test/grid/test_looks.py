"""Tests of the record of looks against a plain list, and of its users."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.assembly.config import RobotConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.experts.searched_floor import SearchedFloor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.config import LookConfig
from lodestar.grid.looks import NEVER, Looks, nearest_after
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.visibility import ray_cells, visible_mask
from lodestar.memory.answering.coverage import FloorLooks

SIDE, CELL = 40, 0.1


def plan(seed: int = 0, shape: tuple[int, int] = (SIDE, SIDE), origin=(0.0, 0.0)) -> OccupancyGrid2D:
    """Return a grid with some obstacles and unknown cells; grids of one seed agree where they overlap."""
    rows = np.arange(shape[0]) + round(origin[1] / CELL)
    columns = np.arange(shape[1]) + round(origin[0] / CELL)
    mixed = (rows[:, None] * 73856093 ^ columns[None, :] * 19349663 ^ seed * 83492791) % 97
    cells = np.where(mixed < 4, 100, np.where(mixed < 12, -1, 0)).astype(np.int8)
    return OccupancyGrid2D(cells, CELL, (float(origin[0]), float(origin[1])))


@dataclass
class Listed:
    """Reference for `Looks` that recomputes everything from a list of looks."""

    config: LookConfig
    grid: OccupancyGrid2D
    enough: int
    begin: float = -math.inf
    # (begin, stamp, seen cells, distance in cm) per look
    rows: list[tuple[float, float, np.ndarray, np.ndarray]] = field(default_factory=list)

    def look(self, xy, heading, stamp):
        seen, near = np.zeros(self.grid.cells.shape, bool), np.full(self.grid.cells.shape, NEVER, np.int64)
        reach = self.config.range / self.grid.resolution
        flat, entered = np.empty(500, np.int64), np.empty(500)
        u0, v0 = ((xy[k] - self.grid.origin[k]) / self.grid.resolution for k in (0, 1))
        rays = max(8, math.ceil(self.config.fov * reach * 1.5))
        for i in range(rays):
            angle = heading - self.config.fov / 2.0 + self.config.fov * i / (rays - 1)
            n = ray_cells(
                self.grid.cells, self.grid.occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach,
                flat, entered,
            )  # fmt: skip
            seen.reshape(-1)[flat[:n]] = True
            for cell, metres in zip(flat[:n], entered[:n]):
                near.reshape(-1)[cell] = min(
                    near.reshape(-1)[cell], math.ceil(metres * 100.0 * self.grid.resolution)
                )
        self.rows.append((self.begin, stamp, seen, near))

    def read(self):
        shape = self.grid.cells.shape
        nearest, last = np.full(shape, NEVER, np.int64), np.full(shape, -math.inf)
        counts, since = np.zeros(shape, np.int64), np.full(shape, math.inf)
        for begin, stamp, seen, near in self.rows:
            restarts = seen & (stamp > last) & (last < begin)
            newer = seen & (stamp > last)
            nearest = np.where(restarts, near, np.where(seen, np.minimum(nearest, near), nearest))
            last = np.where(newer, stamp, last)
            counts += newer
            since = np.where(newer & (counts == self.enough), stamp, since)
        return nearest, last, counts, since


places = st.tuples(
    st.floats(-1.0, 5.0), st.floats(-1.0, 5.0), st.floats(-math.pi, math.pi), st.floats(0.0, 900.0)
)


@given(
    st.integers(0, 5),
    st.lists(st.tuples(places, st.none() | st.floats(0.0, 900.0)), max_size=8),
    st.integers(1, 3),
    st.booleans(),
)
def test_the_record_is_what_the_list_of_looks_says(seed, looks, enough, ordered):
    config = LookConfig(range=2.0, near=1.0)
    grid = plan(seed)
    record, listed = Looks(config, enough=enough), Listed(config, grid, enough)
    record.set_grid(grid)
    for (x, y, heading, stamp), begin in sorted(looks, key=lambda look: look[0][3]) if ordered else looks:
        if begin is not None:
            record.begin = listed.begin = begin
        record.look((x, y), heading, stamp)
        listed.look((x, y), heading, stamp)
    nearest, last, counts, since = listed.read()
    np.testing.assert_array_equal(record.nearest, nearest)
    np.testing.assert_array_equal(record.last, last)
    np.testing.assert_array_equal(record.counts, counts)
    np.testing.assert_array_equal(record.since, since)
    for when in (-math.inf, 300.0):
        seen = record.seen(1.0, when)
        np.testing.assert_array_equal(seen, (nearest <= 100) & (last >= when))
        floor = grid.free
        assert record.share(floor, 1.0, when) == pytest.approx(seen[floor].mean())
        np.testing.assert_array_equal(np.isfinite(record.metres(when)), (nearest < NEVER) & (last >= when))
    every = np.ones(grid.cells.shape, bool)
    assert record.newest(every) == (None if not np.isfinite(last).any() else last.max())


# By rounding, a camera on the border of two cells may be in either.
off_borders = st.floats(0.2, 3.8).filter(lambda metres: 0.05 < metres / CELL % 1.0 < 0.95)
inside = st.tuples(off_borders, off_borders, st.floats(-math.pi, math.pi), st.floats(0.0, 900.0))


@given(
    st.lists(inside, min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12)), max_size=3),
)  # fmt: skip
def test_looks_stay_where_they_are_while_the_grid_grows(looks, growths):
    """Cells that were always on the grid have the same record as on an unchanged grid."""
    grid = plan()
    still, moving = Looks(), Looks()
    still.set_grid(grid)
    moving.set_grid(grid)
    for k, (x, y, heading, stamp) in enumerate(looks):
        still.look((x, y), heading, stamp)
        moving.look((x, y), heading, stamp)
        if k < len(growths):
            left, down, right, up = growths[k]
            before = moving.grid
            origin = (before.origin[0] - left * CELL, before.origin[1] - down * CELL)
            shape = (before.cells.shape[0] + down + up, before.cells.shape[1] + left + right)
            grown = np.full(shape, -1, np.int8)
            rows, columns = before.cells.shape
            grown[down : down + rows, left : left + columns] = before.cells
            moving.set_grid(OccupancyGrid2D(grown, CELL, origin))
    after = moving.grid
    column, row = (round((grid.origin[k] - after.origin[k]) / CELL) for k in (0, 1))
    kept = (slice(row, row + SIDE), slice(column, column + SIDE))
    # by rounding, a ray through a corner of cells may take either
    assert (still.nearest != moving.nearest[kept]).mean() < 0.02
    assert (still.last != moving.last[kept]).mean() < 0.02


def test_what_leaves_the_grid_is_forgotten_and_the_rest_is_kept():
    record = Looks()
    record.set_grid(OccupancyGrid2D(np.zeros((SIDE, SIDE), np.int8), CELL, (0.0, 0.0)))
    record.look((2.0, 2.0), 0.0, 5.0)
    before = record.nearest.copy()
    record.set_grid(OccupancyGrid2D(np.zeros((SIDE, SIDE), np.int8), CELL, (1.0, 0.0)))
    np.testing.assert_array_equal(record.nearest[:, : SIDE - 10], before[:, 10:])
    assert (record.nearest[:, SIDE - 10 :] == NEVER).all()
    record.set_grid(OccupancyGrid2D(np.zeros((SIDE, SIDE), np.int8), CELL, (50.0, 50.0)))
    assert (record.nearest == NEVER).all() and (record.counts == 0).all()
    record.set_grid(OccupancyGrid2D(np.zeros((10, 10), np.int8), CELL * 2.0, (50.0, 50.0)))
    assert record.nearest.shape == (10, 10) and (record.last == -math.inf).all()


@given(
    st.lists(st.tuples(st.floats(0.0, 3.9), st.floats(0.0, 100.0)), min_size=1, max_size=6),
    st.floats(0.0, 100.0),
)
def test_old_looks_do_not_count_while_they_are_old(looks, begin):
    record = Looks()
    record.set_grid(OccupancyGrid2D(np.zeros((SIDE, SIDE), np.int8), CELL, (0.0, 0.0)))
    for x, stamp in looks:
        record.look((x, 2.0), 0.0, stamp)
    every = record.seen()
    wanted = record.seen(since=begin)
    record.begin = begin
    np.testing.assert_array_equal(record.seen(), wanted)
    floor = np.ones((SIDE, SIDE), bool)
    assert record.share(floor) == pytest.approx(wanted.mean())
    oldest = record.oldest(floor)
    assert (oldest is None) == (not wanted.any()) and (oldest is None or oldest >= begin)
    record.begin = -math.inf
    np.testing.assert_array_equal(record.seen(), every)
    record.clear()
    assert not record.seen().any()


def test_a_look_that_counts_does_not_inherit_one_from_near_that_does_not():
    record = Looks()
    record.set_grid(OccupancyGrid2D(np.zeros((60, 60), np.int8), CELL, (0.0, 0.0)))
    cell = (30, 40)  # the cell at (4.05, 3.05)
    record.look((3.0, 3.05), 0.0, 0.0)
    near = float(record.metres()[cell])
    record.look((0.5, 3.05), 0.0, 30.0)
    assert float(record.metres()[cell]) == near
    record.begin = 60.0
    assert math.isinf(record.metres()[cell])
    record.look((0.5, 3.05), 0.0, 100.0)
    assert float(record.metres()[cell]) > 3.0 > near


@pytest.mark.parametrize("bad", [(math.nan, 0.0, 0.0, 1.0), (0.0, math.inf, 0.0, 1.0), (1.0, 1.0, math.nan, 1.0),
                                 (1.0, 1.0, 0.0, math.nan)])  # fmt: skip
def test_a_look_from_nowhere_is_dropped(bad):
    record = Looks()
    record.look((1.0, 1.0), 0.0, 1.0)  # a look without a grid
    record.set_grid(plan())
    x, y, heading, stamp = bad
    record.look((x, y), heading, stamp)
    assert not record.counts.any() and record.newest(np.ones((SIDE, SIDE), bool)) is None
    assert math.isnan(record.share(np.zeros((SIDE, SIDE), bool)))


@given(places, places)
def test_a_look_that_is_only_thought_of_shows_the_same(first, second):
    grid = plan(3)
    record = Looks()
    record.set_grid(grid)
    record.look(first[:2], first[2], 1.0)
    thought = nearest_after(record.metres(), grid, second[:2], second[2], LookConfig.fov)
    record.look(second[:2], second[2], 2.0)
    np.testing.assert_array_equal(np.isfinite(thought), np.isfinite(record.metres()))
    told = np.isfinite(thought)
    np.testing.assert_allclose(thought[told], record.metres()[told], atol=0.011)


def test_a_look_shows_what_is_visible():
    grid = plan(2)
    record = Looks()
    record.set_grid(grid)
    record.look((2.0, 2.0), 0.5, 1.0)
    np.testing.assert_array_equal(
        record.seen(), visible_mask(grid, (2.0, 2.0), LookConfig.range, LookConfig.fov, 0.5)
    )


@pytest.mark.parametrize("changes", [{"range": 0.0}, {"near": 5.0}, {"near": 0.0}, {"fov": 7.0}, {"near_fov": 2.0},
                                     {"age": 0.0}, {"interval": -1.0}, {"range": 700.0}])  # fmt: skip
def test_limits_that_are_none_are_refused(changes):
    with pytest.raises(ValueError):
        LookConfig(**changes)


def test_one_setting_reaches_every_user():
    looks = LookConfig(range=3.5, near=2.0, fov=1.1, near_fov=1.0)
    robot = RobotConfig(shared=SharedConfig(looks=looks))
    users = (
        robot.goal_selector.loop.look_limits,
        robot.experts["frontier_expert"].expert.look_limits,
        robot.memory.answering.coverage.look_limits,
        robot.memory.events.look_limits,
        robot.memory.last_seen.look_limits,
    )
    assert all(user == looks for user in users)


def test_the_loop_and_an_answer_agree_on_the_floor_that_was_looked_at():
    """The same poses, recorded by loop and memory, give the same looked-at share of the floor."""
    grid = OccupancyGrid2D(np.zeros((120, 120), np.int8), CELL, (0.0, 0.0))
    searched, answers = SearchedFloor(), FloorLooks()
    for k, (x, y) in enumerate([(2.0, 2.0), (4.0, 3.0), (6.0, 6.0), (9.0, 9.0)]):
        pose = np.array([x, y, 0.7 * k])
        camera = planar_transform(*pose) @ BODY_FROM_OPTICAL
        searched.note(camera, pose, 10.0 * k, grid)
        answers.look(10.0 * k, pose[:2], pose[2])
    reached = np.isfinite(path_lengths(grid, (9.0, 9.0)))
    assert 0.1 < searched.share < 0.9
    assert searched.share == answers.coverage(grid, reached).share
    searched.count_from(15.0)
    assert searched.share == answers.coverage(grid, reached, (15.0, math.inf)).share


def test_what_the_loop_takes_from_memory_is_the_floor_that_only_old_looks_show():
    grid = OccupancyGrid2D(np.zeros((100, 200), np.int8), CELL, (0.0, 0.0))
    searched = SearchedFloor()
    assert searched.from_memory(0.0) is None
    for x, stamp in ((3.0, 10.0), (12.0, 100.0)):
        pose = np.array([x, 5.0, 0.0])
        searched.note(planar_transform(*pose) @ BODY_FROM_OPTICAL, pose, stamp, grid)
    memory = searched.from_memory(50.0)
    assert memory.share == pytest.approx(0.5, abs=0.01) and memory.oldest == 10.0
    east = np.zeros(grid.cells.shape, bool)
    east[:, 100:] = True
    assert searched.from_memory(50.0, east) is None
    assert searched.from_memory(200.0).share == 1.0
    assert searched.from_memory(0.0) is None
    searched.count_from(50.0)
    assert searched.from_memory(50.0) is None
    searched.restart_clock()
    assert math.isnan(searched.share) and searched.from_memory(50.0) is None


@pytest.mark.parametrize("seed", range(4))
def test_the_floor_that_is_told_bit_by_bit_is_that_of_all_looks(seed):
    rng = np.random.default_rng(seed)
    grid, told = plan(seed), FloorLooks()
    for k in range(30):
        pose = rng.uniform(0.5, 8.0, 2)
        told.look(float(k), pose, rng.uniform(-3.0, 3.0))
        if rng.random() < 0.3:
            told.nearest(grid)
        if k == 20:
            told.move(MapCorrection(planar_transform(0.2, -0.1, 0.05)))
    fresh = told.snapshot()
    np.testing.assert_array_equal(told.nearest(grid), fresh.nearest(grid))
    assert np.isfinite(told.nearest(grid)).any() and told.newest == 29.0
    told.clear()
    assert not np.isfinite(told.nearest(grid)).any() and told.newest == -math.inf
