"""Tests that excluded goals stay excluded until the map around them changes."""

from __future__ import annotations

import numpy as np
from agent_fakes import room

from lodestar.agent.decisions.admission import GoalMemory
from lodestar.agent.facts.config import LoopConfig
from lodestar.grid.occupancy import OccupancyGrid2D

GOAL = (5.0, 5.0, 0.0)


def changed(grid: OccupancyGrid2D, share: float) -> OccupancyGrid2D:
    """Return the grid with an occupied square about (5, 5) that fills a share of the window of 1.5 m."""
    cells = grid.cells.copy()
    half = round(1.5 * share**0.5 / grid.resolution)
    cells[50 - half : 50 + half, 50 - half : 50 + half] = 100
    return OccupancyGrid2D(cells, grid.resolution, grid.origin)


def test_a_goal_is_excluded_with_its_reason_by_position_and_heading():
    memory = GoalMemory(LoopConfig())
    memory.exclude(GOAL, "blocked", room())
    assert memory.reason((5.1, 5.0, 0.1)) == "blocked"
    assert memory.reason((5.1, 5.0, 2.0)) == ""
    assert memory.reason((6.0, 5.0, 0.0)) == ""
    assert memory.active() == (GOAL,)


def test_it_is_proposed_again_only_when_enough_of_the_map_changed():
    memory, grid = GoalMemory(LoopConfig()), room()
    memory.exclude(GOAL, "blocked", grid)
    memory.refresh(changed(grid, 0.02))
    assert memory.active() == (GOAL,)
    memory.refresh(changed(grid, 0.5))
    assert memory.active() == ()


def test_a_goal_that_fails_time_and_again_is_retried_only_so_often():
    config = LoopConfig(max_retries=2)
    memory, grid = GoalMemory(config), room()
    grids = [grid, changed(grid, 0.5)]
    for attempt in range(5):
        memory.exclude(GOAL, "blocked", grids[attempt % 2])
        memory.refresh(grids[(attempt + 1) % 2])
    assert memory.active() == (GOAL,)
    assert len(memory) == 1


def test_a_lasting_exclusion_outlives_changes_of_the_map_and_is_forgiven():
    memory, grid = GoalMemory(LoopConfig()), room()
    memory.exclude(GOAL, "not seen from there", grid, lasting=True)
    memory.refresh(changed(grid, 0.5))
    assert memory.active() == (GOAL,)
    assert memory.forgive() and memory.active() == ()


def test_every_goal_is_forgiven_once():
    memory = GoalMemory(LoopConfig())
    memory.exclude(GOAL, "blocked", None)
    assert memory.forgive() and memory.active() == ()
    memory.exclude(GOAL, "blocked", None)
    assert not memory.forgive() and memory.active() == (GOAL,)


def test_surroundings_do_not_depend_on_where_the_grid_begins():
    grid = room()
    cells = np.full((140, 140), -1, np.int8)
    cells[20:120, 30:130] = grid.cells
    grown = OccupancyGrid2D(cells, grid.resolution, (-3.0, -2.0))
    for point in ((5.0, 5.0), (0.3, 9.8), (40.0, 40.0)):
        assert np.array_equal(grid.around(point, 1.5), grown.around(point, 1.5))
