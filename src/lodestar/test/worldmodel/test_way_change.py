"""Tests of new obstacles on a planned path, found by comparing two grids."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.worldmodel.way_change import blockage_of, mismatch

WAY = np.stack([np.linspace(1.0, 9.0, 81), np.full(81, 5.0)], axis=1)
HERE = np.array([1.0, 5.0, 0.0])


def _two_rooms(door: float = 1.0) -> OccupancyGrid2D:
    """Return a grid of 10 m by 10 m, with a wall at x = 5 that has a doorway about y = 5."""
    cells = np.zeros((100, 100), np.int8)
    half = round(door * 5)
    cells[: 50 - half, 50:52] = cells[50 + half :, 50:52] = 100
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def _with(grid: OccupancyGrid2D, x0: float, y0: float, x1: float, y1: float) -> OccupancyGrid2D:
    cells = grid.cells.copy()
    cells[round(y0 * 10) : round(y1 * 10), round(x0 * 10) : round(x1 * 10)] = 100
    return replace(grid, cells=cells)


def test_a_free_way_has_no_blockage():
    grid = _two_rooms()
    assert blockage_of(grid, grid, WAY, HERE) is None


def test_a_door_fills_its_opening():
    grid = _two_rooms()
    found = blockage_of(grid, _with(grid, 5.0, 4.5, 5.2, 5.5), WAY, HERE)
    assert found is not None and found.in_opening and found.fills
    assert found.center == pytest.approx((5.1, 5.0), abs=0.15)
    assert found.opening == pytest.approx(1.0, abs=0.2)
    (x0, y0), (x1, y1) = found.ends
    assert x0 == pytest.approx(x1, abs=0.2) and abs(y1 - y0) >= 0.9


def test_somebody_in_a_doorway_leaves_room_beside():
    grid = _two_rooms(1.4)
    found = blockage_of(grid, _with(grid, 5.0, 4.9, 5.2, 5.3), WAY, HERE)
    assert found is not None and found.in_opening and not found.fills


def test_a_box_in_a_hall_lies_in_no_opening():
    grid = _two_rooms()
    found = blockage_of(grid, _with(grid, 3.0, 4.8, 3.4, 5.2), WAY, HERE)
    assert found is not None and not found.in_opening and not found.fills
    assert found.heading == pytest.approx(0.0, abs=0.1)


def test_what_lies_behind_the_robot_or_beside_the_way_is_none():
    grid = _two_rooms()
    beside = _with(grid, 3.0, 6.5, 3.4, 6.9)
    behind = _with(grid, 2.0, 4.8, 2.4, 5.2)
    assert blockage_of(grid, beside, WAY, HERE) is None
    assert blockage_of(grid, behind, WAY, np.array([4.0, 5.0, 0.0])) is None


def test_a_single_cell_is_noise_and_a_wall_that_was_unknown_is_not_new():
    grid = _two_rooms()
    assert blockage_of(grid, _with(grid, 3.0, 5.0, 3.1, 5.1), WAY, HERE) is None
    unknown = replace(grid, cells=np.where(np.indices((100, 100))[1] > 60, -1, grid.cells).astype(np.int8))
    assert blockage_of(unknown, _with(unknown, 7.0, 4.0, 7.2, 6.0), WAY, HERE) is None


def test_a_grid_that_has_grown_is_compared_by_places():
    grid = _two_rooms()
    grown = np.full((120, 120), -1, np.int8)
    grown[20:, 20:] = _with(grid, 5.0, 4.5, 5.2, 5.5).cells
    found = blockage_of(grid, OccupancyGrid2D(grown, 0.1, (-2.0, -2.0)), WAY, HERE)
    assert found is not None and found.fills


def _turned(points: np.ndarray, angle: float, shift: tuple[float, float]) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return points @ np.array([[c, s], [-s, c]]) + np.array(shift)


def test_walls_that_are_drawn_twice_do_not_fit_and_a_map_that_followed_does():
    before = _two_rooms()
    assert mismatch(before, before, HERE, 6.0) == 0.0
    old, angle, shift = np.array([4.0, 5.0, 0.0]), 0.5, (0.6, -1.0)
    walls = _turned(before.points_of(np.argwhere(before.occupied)), angle, shift)
    cells = np.zeros((140, 140), np.int8)
    now = OccupancyGrid2D(cells, 0.1, (-2.0, -2.0))
    at = now.cells_of(walls)
    at = at[now.contains(at)]
    cells[at[:, 0], at[:, 1]] = 100
    new = np.array([*_turned(old[None, :2], angle, shift)[0], angle])
    assert mismatch(before, now, new, 4.0) > 0.4
    assert mismatch(before, now, new, 4.0, (old, new)) < 0.1
