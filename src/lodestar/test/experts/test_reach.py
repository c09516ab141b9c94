"""Tests that paths with comfortable clearance come first, and narrow ones only without an alternative."""

from __future__ import annotations

import numpy as np
import pytest
from expert_worlds import furnished, thing

from lodestar.experts.reach import Reach, ReachConfig, length_near
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint, ViewpointConfig


def divided(gap_cells: int) -> OccupancyGrid2D:
    """Return a room of 8 x 8 m with a wall at x = 4 m and a gap in it."""
    grid = furnished()
    grid.cells[:, 40] = 100
    grid.cells[38 : 38 + gap_cells, 40] = 0
    return grid


@pytest.mark.parametrize("side", [(-1.0, 0.0), (0.0, -1.0), (1.0, 0.0), (0.0, 1.0)])
def test_a_pose_beside_the_grid_has_no_path(side):
    grid, lengths = furnished(), np.ones(furnished().cells.shape, np.float32)
    inside = np.array(grid.origin) + 2.0
    assert length_near(grid, lengths, inside) == 1.0
    size = grid.resolution * max(grid.cells.shape)
    assert (
        length_near(grid, lengths, np.array(grid.origin) + size / 2 + 1.5 * size * np.array(side)) == np.inf
    )


@pytest.mark.parametrize(("gap", "easy", "possible"), [(9, True, True), (5, False, True), (2, False, False)])
def test_a_gap_is_easy_possible_or_neither(gap, easy, possible):
    reach = Reach(divided(gap), np.array([2.0, 4.0, 0.0]), ReachConfig())
    assert np.isfinite(reach.easy[40, 60]) == easy
    assert np.isfinite(reach.possible[40, 60]) == possible


@pytest.mark.parametrize("gap", [9, 5])
def test_a_thing_behind_a_gap_is_faced_whichever_way_leads_there(gap):
    chair = thing(1, 6.0, 4.0, "red chair")
    reach = Reach(divided(gap), np.array([2.0, 4.0, 0.0]), ReachConfig())
    viewpoint = reach.viewpoints(chair.box_min, chair.box_max, (), (), ViewpointConfig())[0]
    assert viewpoint.pose[0] > 4.2 and viewpoint.path_length > 2.0


def test_a_thing_behind_a_wall_cannot_be_faced():
    chair = thing(1, 6.0, 4.0, "red chair")
    reach = Reach(divided(0), np.array([2.0, 4.0, 0.0]), ReachConfig())
    with pytest.raises(NoViewpoint):
        reach.viewpoints(chair.box_min, chair.box_max, (), (), ViewpointConfig())


def test_out_of_a_narrow_place_the_rest_is_reached_with_ease():
    grid = furnished()
    grid.cells[:, 6] = 100  # a free strip of 0.5 m along the wall
    grid.cells[30:36, 6] = 0
    reach = Reach(grid, np.array([0.35, 3.3, 0.0]), ReachConfig())
    assert np.isfinite(reach.easy[40, 60])
