"""Tests that walls opened by stray rays still count as walls for a search, and real openings do not."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from expert_worlds import CAMERA, camera_pose, known_from, red_chair, request, two_rooms

from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.protocol import Proposal, Rejection, RejectionReason
from lodestar.experts.walls import SteadyWalls
from lodestar.grid.occupancy import OccupancyGrid2D

DOOR = np.s_[15:25, 40]


def _house() -> OccupancyGrid2D:
    """Return two rooms with 4 m of unknown space around them."""
    cells = np.full((120, 160), -1, np.int8)
    cells[40:80, 40:120] = two_rooms().cells
    return OccupancyGrid2D(cells, 0.1, (-4.0, -4.0))


def _with_a_hole(grid: OccupancyGrid2D) -> OccupancyGrid2D:
    """Return the grid with twelve free cells in the left room's upper wall, and nothing known behind them."""
    cells = grid.cells.copy()
    cells[79, 50:62] = 0
    return replace(grid, cells=cells)


def _one_after_the_other(*grids: OccupancyGrid2D) -> list[OccupancyGrid2D]:
    return [replace(grid, stamp=float(k)) for k, grid in enumerate(grids)]


def _closed(*grids: OccupancyGrid2D) -> np.ndarray:
    walls = SteadyWalls()
    return [walls.closed(grid) for grid in grids][-1].cells


def test_a_hole_in_a_wall_through_which_nothing_is_known_is_closed():
    house = _house()
    holed = _with_a_hole(house)
    assert np.array_equal(_closed(*_one_after_the_other(house, house, house, holed)), house.cells)
    assert np.array_equal(
        _closed(*_one_after_the_other(house, holed)), holed.cells
    )  # it was a wall only briefly
    assert np.array_equal(
        _closed(house, replace(house), replace(house), holed), holed.cells
    )  # the same grid again


def test_of_the_same_grid_the_same_is_said():
    grids = _one_after_the_other(_house(), _house(), _house(), _with_a_hole(_house()))
    walls = SteadyWalls()
    closed = [walls.closed(grid) for grid in grids]
    assert closed[0] is grids[0]
    assert walls.closed(grids[-1]) is closed[-1] is not grids[-1]


def test_a_door_that_opens_is_open_when_the_floor_behind_it_is_known():
    truth = two_rooms()
    shut = replace(truth, cells=truth.cells.copy())
    shut.cells[DOOR] = 100
    before = known_from(shut, [(2.0, 2.0)])
    after = known_from(truth, [(2.0, 2.0)])
    assert before.unknown[20, 60] and not after.unknown[20, 60]
    opened = _closed(*_one_after_the_other(before, before, before, after))
    assert (opened[DOOR] == 0).sum() >= 8


def test_walls_follow_a_grid_that_grows():
    house = _house()
    walls = SteadyWalls()
    for grid in _one_after_the_other(house, house, house):
        walls.closed(grid)
    holed = _with_a_hole(house)
    larger = OccupancyGrid2D(np.pad(holed.cells, ((7, 3), (5, 0)), constant_values=-1), 0.1, (-4.5, -4.7))
    assert np.array_equal(walls.closed(larger).cells[7:127, 5:], house.cells)
    coarse = OccupancyGrid2D(holed.cells[::2, ::2].copy(), 0.2, (-4.0, -4.0))
    assert np.array_equal(walls.closed(coarse).cells, coarse.cells)


def _looked_around_at(expert: FrontierExpert, x: float) -> None:
    """Look from so many places of a 4 m room that nothing near is left to look at."""
    for place in itertools.product((x - 1.0, x, x + 1.0), (1.0, 2.0, 3.0)):
        for yaw in np.arange(0.0, 2 * math.pi, math.radians(30.0)):
            expert.add_view(camera_pose(*place, yaw), CAMERA)


def test_a_hole_is_looked_into_only_when_nothing_else_is_left():
    house, pose = _house(), (1.6, 3.2, 0.0)
    goals = []
    for often in (3, 255):
        expert = FrontierExpert()
        expert._walls = SteadyWalls(often)
        for grid in _one_after_the_other(house, house, house):
            expert.set_grid(grid)
        _looked_around_at(expert, 2.0)
        expert.set_grid(replace(_with_a_hole(house), stamp=4.0))
        answer = expert.propose(request(pose, red_chair()))
        assert isinstance(answer, Proposal)
        goals.append(answer.goal)
        _looked_around_at(expert, 6.0)
        assert isinstance(expert.propose(request(pose, red_chair())), Proposal)  # the opening might be a door
        expert.set_grid(replace(house, stamp=5.0))
        left = expert.propose(request(pose, red_chair()))
        assert isinstance(left, Rejection) and left.reason is RejectionReason.EXPLORED
    assert (
        goals[0][0] > 3.0 > goals[1][0]
    )  # the other room before the hole, which an expert without wall memory takes first
