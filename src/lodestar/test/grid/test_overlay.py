"""Tests of obstacles of one grid overlaid on another."""

from __future__ import annotations

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.overlay import confirmed_by, overlay_obstacles


def test_occupied_cells_are_added_and_nothing_else_changes():
    base = OccupancyGrid2D(np.array([[0, -1, 0], [0, 0, 100]], np.int8), 0.1, (0.0, 0.0), 1.0)
    above = OccupancyGrid2D(np.array([[100, 0], [-1, 100]], np.int8), 0.1, (0.0, 0.0), 2.0)
    merged = overlay_obstacles(base, above)
    assert merged.cells.tolist() == [[100, -1, 0], [0, 100, 100]]
    assert merged.stamp == 2.0
    assert base.cells[0, 0] == 0, "the base itself is left alone"


def test_a_coarser_grid_elsewhere_fills_the_cells_that_it_covers():
    base = OccupancyGrid2D(np.zeros((4, 4), np.int8), 0.05, (0.0, 0.0))
    above = OccupancyGrid2D(np.array([[100]], np.int8), 0.1, (0.1, 0.1))
    occupied = overlay_obstacles(base, above).occupied
    assert occupied[2:, 2:].all()
    assert occupied.sum() == 4


def test_what_lies_outside_is_ignored():
    base = OccupancyGrid2D(np.zeros((2, 2), np.int8), 0.1, (0.0, 0.0))
    above = OccupancyGrid2D(np.full((3, 3), 100, np.int8), 0.1, (5.0, 5.0))
    assert not overlay_obstacles(base, above).occupied.any()


def test_a_planar_map_is_free_only_where_the_points_confirm_it():
    planar = OccupancyGrid2D(np.array([[0, 0, 0, 0], [-1, 100, 0, 0]], np.int8), 0.1, (0.0, 0.0), 1.0)
    points = OccupancyGrid2D(np.array([[0, -1, 100], [0, 0, 0]], np.int8), 0.1, (0.0, 0.0), 2.0)
    merged = confirmed_by(planar, points)
    assert merged.cells.tolist() == [[0, -1, 100, -1], [-1, 100, 0, -1]], (
        "beyond the points it is unknown too"
    )
    assert merged.stamp == 2.0
