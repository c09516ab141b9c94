"""Tests that per-cell data keeps its place while the grid grows."""

from __future__ import annotations

import numpy as np

from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import OccupancyGrid2D


def _grid(rows: int, columns: int, origin=(0.0, 0.0), resolution: float = 0.5) -> OccupancyGrid2D:
    return OccupancyGrid2D(np.zeros((rows, columns), np.int8), resolution, origin)


def test_values_keep_their_place_in_the_map():
    values = np.arange(6.0).reshape(2, 3)
    carried = carried_over(values, _grid(2, 3), _grid(4, 5, (-0.5, -1.0)), np.inf)
    assert np.array_equal(carried[2:4, 1:4], values)
    assert np.isinf(carried).sum() == carried.size - values.size


def test_what_falls_off_the_new_grid_is_dropped():
    values = np.arange(6.0).reshape(2, 3)
    carried = carried_over(values, _grid(2, 3), _grid(2, 2, (1.0, 0.5)), -1.0)
    assert carried.tolist() == [[5.0, -1.0], [-1.0, -1.0]]
    assert (carried_over(values, _grid(2, 3), _grid(2, 2, (9.0, 9.0)), -1.0) == -1.0).all()


def test_alike_grids_share_the_array_and_other_resolutions_nothing():
    values = np.ones((2, 3), np.uint8)
    assert carried_over(values, _grid(2, 3), _grid(2, 3), 0) is values
    fresh = carried_over(values, _grid(2, 3), _grid(2, 3, (0.0, 0.0), 0.25), 0)
    assert fresh.dtype == np.uint8 and not fresh.any()
    assert not carried_over(values, None, _grid(2, 3), 0).any()
