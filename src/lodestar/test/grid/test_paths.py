"""Tests of path lengths and paths against an exhaustive shortest-path search."""

import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid import occupancy, paths
from lodestar.grid.inflation import obstacle_distance, traversable
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.grid.paths import NoPath, NoPathReason, TravelConfig, path_lengths, plan_path

OPEN = TravelConfig(clearance=0.0, soft_clearance=0.0, start_snap=0.0, goal_snap=0.0)


def random_grid(seed, rows=14, columns=17, share=0.3):
    rng = np.random.default_rng(seed)
    cells = np.where(rng.random((rows, columns)) < share, OCCUPIED, FREE).astype(np.int8)
    cells[rng.random((rows, columns)) < 0.05] = UNKNOWN
    cells[0, 0] = FREE
    return OccupancyGrid2D(cells, 0.25, (-1.0, 2.0))


def reference_lengths(grid):
    passable = grid.free
    graph = networkx.Graph()
    graph.add_node((0, 0))
    rows, columns = passable.shape
    for r in range(rows):
        for c in range(columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                n = r + dr, c + dc
                if not (0 <= n[0] < rows and 0 <= n[1] < columns):
                    continue
                if passable[r, c] and passable[n] and passable[r, n[1]] and passable[n[0], c]:
                    graph.add_edge((r, c), n, weight=math.hypot(dr, dc) * grid.resolution)
    return networkx.single_source_dijkstra_path_length(graph, (0, 0))


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_lengths_equal_exhaustive_search(seed):
    grid = random_grid(seed)
    lengths = path_lengths(grid, grid.points_of(np.array([0, 0])), OPEN)
    expected = np.full(grid.cells.shape, np.inf)
    for cell, length in reference_lengths(grid).items():
        expected[cell] = length
    np.testing.assert_allclose(lengths, expected, rtol=1e-5)


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_path_keeps_clearance_and_ends_where_asked(seed):
    grid = random_grid(seed, 40, 40, 0.06)
    config = TravelConfig(clearance=0.3, soft_clearance=0.8, start_snap=2.0, goal_snap=0.0, pocket_area=0.0)
    lengths = path_lengths(grid, (-0.9, 2.1), config)
    goals = np.argwhere(np.isfinite(lengths) & (lengths > 3.0))
    if len(goals) == 0:
        return
    goal = grid.points_of(goals[seed % len(goals)]) + 0.01
    path = plan_path(grid, (-0.9, 2.1), goal, config)
    assert tuple(path[0]) == (-0.9, 2.1)
    np.testing.assert_allclose(path[-1], goal)
    cells = grid.cells_of(path[1:])
    assert (obstacle_distance(grid)[cells[:, 0], cells[:, 1]] >= 0.3).all()
    assert grid.free[cells[:, 0], cells[:, 1]].all()
    steps = np.abs(np.diff(cells, axis=0)).max(1)
    assert (steps <= 1).all()
    walked = np.linalg.norm(np.diff(path[1:], axis=0), axis=1).sum()
    assert walked >= lengths[tuple(cells[-1])] - np.linalg.norm(path[1] - path[0]) - 2 * grid.resolution


def corridor():
    cells = np.full((40, 60), FREE, np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = OCCUPIED, OCCUPIED, OCCUPIED, OCCUPIED
    return cells


def test_path_prefers_the_middle_of_a_wide_room_to_its_walls():
    grid = OccupancyGrid2D(corridor(), 0.1, (0.0, 0.0))
    straight = TravelConfig(soft_clearance=0.22)
    soft = TravelConfig(soft_clearance=1.0, soft_weight=4.0)
    ends = (0.4, 0.45), (5.6, 0.45)
    low = plan_path(grid, *ends, straight)[:, 1].mean()
    high = plan_path(grid, *ends, soft)[:, 1].mean()
    assert low < 0.5 and high > 0.8


def test_unknown_cells_are_crossed_only_when_allowed():
    cells = corridor()
    cells[:, 30] = UNKNOWN
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    with pytest.raises(NoPath) as refused:
        plan_path(grid, (1, 2), (5, 2))
    assert refused.value.reason is NoPathReason.NO_VALID_PATH
    assert len(plan_path(grid, (1, 2), (5, 2), TravelConfig(unknown_ok=True))) > 30


@pytest.mark.parametrize(
    ("start", "goal", "reason"),
    [
        ((-5.0, 2.0), (5.0, 2.0), NoPathReason.START_OCCUPIED),
        ((1.0, 2.0), (2.85, 2.0), NoPathReason.GOAL_OCCUPIED),
        ((1.0, 2.0), (50.0, 2.0), NoPathReason.GOAL_OCCUPIED),
        ((1.0, 2.0), (5.0, 2.0), NoPathReason.NO_VALID_PATH),
    ],
)
def test_no_path_says_why(start, goal, reason):
    cells = corridor()
    cells[:, 28:31] = OCCUPIED
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    with pytest.raises(NoPath) as refused:
        plan_path(grid, start, goal)
    assert refused.value.reason is reason


def test_start_by_a_wall_is_moved_off_it_and_its_way_counts():
    grid = OccupancyGrid2D(corridor(), 0.1, (0.0, 0.0))
    lengths = path_lengths(grid, (0.15, 2.05))
    assert np.isfinite(lengths).any()
    assert lengths[20, 4] == pytest.approx(0.3, abs=0.06)
    assert np.isinf(path_lengths(grid, (-3.0, 2.0))).all()


def test_a_door_of_ninety_centimetres_is_passable_with_the_defaults():
    cells = corridor()
    cells[:, 30] = OCCUPIED
    cells[16:24, 30] = FREE  # eight free cells: a 0.9 m door whose frame occupies a cell
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    path = plan_path(grid, (1, 3), (5, 3))
    crossing = path[np.abs(path[:, 0] - 3.05).argmin()]
    assert 1.7 < crossing[1] < 2.3


def test_clearance_without_any_obstacle_is_infinite():
    grid = OccupancyGrid2D(np.zeros((5, 5), np.int8), 0.1, (0.0, 0.0))
    assert np.isinf(obstacle_distance(grid)).all()
    assert traversable(grid, 5.0).all()


def test_distance_is_between_cell_centres():
    cells = np.zeros((7, 7), np.int8)
    cells[3, 3] = OCCUPIED
    distance = obstacle_distance(OccupancyGrid2D(cells, 0.5, (0.0, 0.0)))
    assert distance[3, 3] == 0.0
    assert distance[0, 0] == pytest.approx(0.5 * math.hypot(3, 3), rel=1e-6)


def test_a_pocket_is_left_by_a_gap_that_is_too_narrow_elsewhere():
    cells = np.zeros((60, 120), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[:, 15] = 100  # a wall that leaves a strip of 1.4 m on the left ...
    cells[28:31, 15] = 0  # ... with a gap of 0.3 m
    cells[:, 80] = 100
    cells[28:31, 80] = 0  # an equal gap far from the start
    cells[15, :15] = cells[45, :15] = 100
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    config = TravelConfig(pocket_area=5.0)
    lengths = path_lengths(grid, (0.7, 3.0), config)
    assert np.isfinite(lengths[30, 40])
    assert not np.isfinite(lengths[30, 100])
    path = plan_path(grid, (0.7, 3.0), (4.0, 3.0), config)
    assert abs(path[:, 1][np.abs(path[:, 0] - 1.55) < 0.2] - 2.95).max() < 0.2
    outside = path_lengths(grid, (4.0, 3.0), config)
    assert not np.isfinite(outside[30, 7])  # no planned path leads in
    closed = TravelConfig(pocket_area=0.0)
    assert not np.isfinite(path_lengths(grid, (0.7, 3.0), closed)[30, 40])


def test_all_who_ask_for_the_lengths_from_one_place_share_them(monkeypatch):
    planned, plan = [], paths._path_lengths

    def count(grid, start, config):
        planned.append((start, config))
        return plan(grid, start, config)

    monkeypatch.setattr(paths, "_path_lengths", count)
    grid = OccupancyGrid2D(np.zeros((60, 60), np.int8), 0.1, (0.0, 0.0))
    wide = TravelConfig(clearance=0.4)
    for _ in range(3):  # for experts, the answer check and the validator
        for config in (TravelConfig(), wide):
            lengths = path_lengths(grid, np.array([1.0, 1.0, 0.3]), config)
            assert not lengths.flags.writeable
    assert len(planned) == 2
    path_lengths(grid, (2.0, 1.0))
    path_lengths(OccupancyGrid2D(grid.cells, 0.1, (0.0, 0.0)), (1.0, 1.0))
    assert len(planned) == 4
    for x in np.linspace(1.0, 5.0, 50):  # a grid caches only the newest results
        path_lengths(grid, (x, 3.0))
    assert len(grid._kept) <= 8


def test_a_grid_keeps_what_was_used_last_within_its_bytes_and_threads_share_it(monkeypatch):
    grid, size = OccupancyGrid2D(np.zeros((10, 10), np.int8), 0.1, (0.0, 0.0)), 1000
    monkeypatch.setattr(occupancy, "_KEPT_BYTES", 3 * size)
    made = []

    def ask(key, count=size):
        return grid.kept(key, lambda: made.append(key) or np.zeros(count, np.uint8))

    for key in "abcada":  # "a" is reused and stays; "b" is replaced by "d"
        ask(key)
    assert made == ["a", "b", "c", "d"] and list(grid._kept) == ["c", "d", "a"]
    ask("large", 10 * size)
    assert list(grid._kept) == ["large"]
    copied = pickle.loads(pickle.dumps(grid))
    assert np.array_equal(copied.cells, grid.cells)
    with ThreadPoolExecutor(8) as pool:
        arrays = list(pool.map(lambda number: (number % 5, ask(number % 5, 10)), range(400)))
    first = {key: ask(key) for key in range(5)}
    assert all(array is first[key] for key, array in arrays)
