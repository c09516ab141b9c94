"""Tests of the occupancy grid."""

import numpy as np
import pytest

from lodestar.grid.inflation import distance_to
from lodestar.grid.occupancy import UNKNOWN, OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.regions import RegionTracker, segment_regions
from lodestar.grid.visibility import visible_mask


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0)])
def test_a_grid_without_cells_is_one_unknown_cell_and_nothing_crashes(shape):
    """OpenCV's component labelling aborts the process on an empty image, without an exception."""
    grid = OccupancyGrid2D(np.zeros(shape, np.int8), 0.1, (1.0, 2.0), keep_out=np.zeros(shape, bool))
    assert grid.cells.tolist() == [[UNKNOWN]] and grid.keep_out is None and grid.free_area == 0.0
    mask, regions = segment_regions(grid)
    assert mask.shape == (1, 1) and not regions
    assert RegionTracker().segment(grid)[1] == []
    assert np.isinf(path_lengths(grid, (1.0, 2.0))).all()
    assert visible_mask(grid, (0.5, 0.5), 3.0).shape == (1, 1)
    assert np.isinf(distance_to(grid.occupied, 0.1)).all()
