"""Tests of the fence, a polygon outside which no cell may be entered."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.grid.config import FenceConfig
from lodestar.grid.fence import outside, widened
from lodestar.grid.occupancy import FREE, UNKNOWN, OccupancyGrid2D

SQUARE = (0.0, 0.0, 3.0, 0.0, 3.0, 2.0, 0.0, 2.0)


@pytest.fixture
def grid() -> OccupancyGrid2D:
    return OccupancyGrid2D(np.full((60, 80), FREE, np.int8), 0.1, (-2.0, -2.0), 1.0)


def test_no_cell_that_reaches_beyond_the_fence_is_inside(grid):
    barred = outside(FenceConfig(SQUARE), grid)
    points = grid.points_of(np.argwhere(~barred))
    assert (points - 0.05 >= -1e-9).all() and (points + 0.05 <= np.array([3.0, 2.0]) + 1e-9).all()
    assert len(points) == 29 * 19, "a cell is lost at each edge, not more"


def test_a_fence_may_have_any_shape_and_lie_beyond_the_grid(grid):
    corner = FenceConfig((-50.0, -50.0, 50.0, -50.0, 50.0, 1.0, 1.0, 1.0, 1.0, 50.0, -50.0, 50.0))
    barred = outside(corner, grid)
    x, y = grid.points_of(np.argwhere(barred)).T
    assert len(x) and ((x > 0.9) & (y > 0.9)).all(), "the notch alone"
    assert not outside(FenceConfig((-50.0, -50.0, 50.0, -50.0, 50.0, 50.0, -50.0, 50.0)), grid).any()


def test_a_fence_that_the_grid_does_not_reach_bars_everything(grid):
    assert outside(FenceConfig((90.0, 90.0, 95.0, 90.0, 95.0, 95.0)), grid).all()


def test_what_will_be_known_next_is_barred_in_advance(grid):
    wide = widened(grid, 5.0)
    assert wide.cells.shape == (160, 180) and wide.origin == pytest.approx((-7.0, -7.0))
    assert (wide.cells[50:110, 50:130] == grid.cells).all() and (wide.cells[:50] == UNKNOWN).all()
    assert outside(FenceConfig(SQUARE), wide)[:50].all()


@pytest.mark.parametrize(
    ("corners", "said"),
    [
        ((0.0, 0.0, 1.0), "3 values"),
        ((0.0, 0.0, 4.0, 0.0), "4 values"),
        ((0.0, 0.0, 4.0, 0.0, 4.0), "5 values"),
        ((0.0, 0.0, 4.0, 0.0, float("nan"), 1.0), "6 values"),
        ((0.0, 0.0, 4.0, 0.0, 8.0, 0.0), "encloses 0.00 m2"),
        ((0.0, 0.0, 4.0, 4.0, 4.0, 0.0, 0.0, 4.0), "encloses 0.00 m2"),
    ],
)
def test_corners_that_make_no_polygon_are_refused(corners, said):
    with pytest.raises(ValueError, match=said):
        FenceConfig(corners)
