"""Walls that rays have carved open stay walls to a search; what really opens does not."""

from __future__ import annotations

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
    """Two rooms with 1 m of unknown outside around them."""
    cells = np.full((60, 100), -1, np.int8)
    cells[10:50, 10:90] = two_rooms().cells
    return OccupancyGrid2D(cells, 0.1, (-1.0, -1.0))


def _with_a_hole(grid: OccupancyGrid2D) -> OccupancyGrid2D:
    """Three cells of the upper wall of the left room free; nothing behind it has come to be known."""
    cells = grid.cells.copy()
    cells[49, 25:28] = 0
    return replace(grid, cells=cells)


def _closed(*grids: OccupancyGrid2D) -> np.ndarray:
    walls = SteadyWalls()
    return [walls.closed(grid) for grid in grids][-1].cells


def test_a_hole_in_a_wall_through_which_nothing_is_known_is_closed():
    house = _house()
    holed = _with_a_hole(house)
    assert np.array_equal(_closed(house, replace(house), replace(house), holed), house.cells)
    assert np.array_equal(_closed(house, holed), holed.cells)  # it was no wall for long
    assert np.array_equal(_closed(house, house, house, holed), holed.cells)  # the same grid counts once


def test_a_door_that_opens_is_open_when_the_floor_behind_it_is_known():
    truth = two_rooms()
    shut = replace(truth, cells=truth.cells.copy())
    shut.cells[DOOR] = 100
    before = known_from(shut, [(2.0, 2.0)])
    after = known_from(truth, [(2.0, 2.0)])
    assert before.unknown[20, 60] and not after.unknown[20, 60]
    opened = _closed(before, replace(before), replace(before), after)
    assert (opened[DOOR] == 0).sum() >= 8


def test_walls_follow_a_grid_that_grows():
    house = _house()
    walls = SteadyWalls()
    for grid in (house, replace(house), replace(house)):
        walls.closed(grid)
    holed = _with_a_hole(house)
    larger = OccupancyGrid2D(np.pad(holed.cells, ((7, 3), (5, 0)), constant_values=-1), 0.1, (-1.5, -1.7))
    assert np.array_equal(walls.closed(larger).cells[7:67, 5:], house.cells)
    coarse = OccupancyGrid2D(holed.cells[::2, ::2].copy(), 0.2, (-1.0, -1.0))
    assert np.array_equal(walls.closed(coarse).cells, coarse.cells)


def test_a_hole_that_opens_and_closes_does_not_lead_a_search_astray():
    house, expert, pose = _house(), FrontierExpert(), (2.0, 2.0, 0.0)
    for grid in (house, replace(house), replace(house)):
        expert.set_grid(grid)
    for x in (2.0, 6.0):
        for y in (1.0, 2.0, 3.0):
            for yaw in np.arange(0.0, 2 * math.pi, math.radians(30.0)):
                expert.add_view(camera_pose(x, y, yaw), CAMERA)
    explored = expert.propose(request(pose, red_chair()))
    assert isinstance(explored, Rejection) and explored.reason is RejectionReason.EXPLORED
    expert.set_grid(_with_a_hole(house))
    assert isinstance(expert.propose(request(pose, red_chair())), Rejection)
    naive = FrontierExpert()
    naive.set_grid(_with_a_hole(house))
    assert isinstance(naive.propose(request(pose, red_chair())), Proposal)  # one that never saw the wall goes there
