"""Headings that show what was not looked at, in halls with invented walls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid.config import LookConfig
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.grid.visibility import visible_mask
from lodestar.grid.way_headings import WayHeadings

ASIDE = 0.45
LOOKS = LookConfig()


def hall(columns: int = 120, rows: int = 100) -> OccupancyGrid2D:
    cells = np.full((rows, columns), FREE, np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = OCCUPIED
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def shown(grid: OccupancyGrid2D, seen: np.ndarray, pose, heading: float) -> float:
    """Square metres of free floor that a look would add to what was seen."""
    view = visible_mask(grid, pose[:2], LOOKS.range, LOOKS.fov, heading)
    return float((view & ~seen & (grid.cells == FREE)).sum()) * grid.resolution**2


walls = st.lists(
    st.tuples(st.integers(0, 110), st.integers(0, 90), st.integers(1, 30), st.integers(1, 30)), max_size=8
)
angles = st.floats(-math.pi, math.pi)


@settings(max_examples=120)
@given(boxes=walls, heading=angles, turn=st.floats(-0.45, 0.45), looked=st.lists(angles, max_size=4))
def test_the_heading_shows_at_least_what_the_way_itself_would(boxes, heading, turn, looked):
    grid = hall()
    for column, row, width, height in boxes:
        grid.cells[row : row + height, column : column + width] = OCCUPIED
    grid.cells[48:53, 58:63] = FREE
    pose, headings = np.array([6.0, 5.0, heading]), WayHeadings(ASIDE)
    seen = np.zeros(grid.cells.shape, bool)
    for k, view in enumerate(looked):
        headings.look(grid, np.array([6.0, 5.0, view]), float(k))
        seen |= visible_mask(grid, pose[:2], LOOKS.range, LOOKS.fov, view)
    stamp = len(looked) + 1.0
    headings.look(grid, pose, stamp)
    seen |= visible_mask(grid, pose[:2], LOOKS.range, LOOKS.fov, heading)
    bearing = heading + turn
    chosen = headings.heading(pose, bearing, stamp)
    assert abs(chosen - bearing) <= ASIDE + 1e-9
    assert shown(grid, seen, pose, chosen) >= shown(grid, seen, pose, bearing) - 0.4  # rays of 3 degrees


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_it_turns_to_a_side_that_was_not_seen_and_back_when_it_was(side):
    grid, headings = hall(), WayHeadings(ASIDE)
    pose = np.array([2.0, 5.0, 0.0])
    headings.look(grid, np.array([2.0, 5.0, -side * 0.9]), 0.0)
    headings.look(grid, pose, 1.0)
    assert headings.heading(pose, 0.0, 1.0) == pytest.approx(side * ASIDE)
    for k, yaw in enumerate(np.linspace(-math.pi, math.pi, 12)):
        headings.look(grid, np.array([2.0, 5.0, yaw]), 2.0 + k)
    assert headings.heading(pose, 0.0, 20.0) == 0.0


def test_what_was_seen_long_ago_is_looked_at_again():
    grid, headings = hall(), WayHeadings(ASIDE)
    pose = np.array([2.0, 5.0, 0.0])
    for yaw in np.linspace(-math.pi, math.pi, 12):
        headings.look(grid, np.array([2.0, 5.0, yaw]), 10.0 + yaw)
    assert headings.heading(pose, 0.0, 20.0) == 0.0
    headings.look(grid, pose, 400.0)
    assert abs(headings.heading(pose, 0.0, 400.0)) == pytest.approx(ASIDE)


def test_a_clock_that_begins_anew_and_a_grid_that_grows():
    grid, headings = hall(), WayHeadings(ASIDE)
    pose = np.array([2.0, 5.0, 0.0])
    headings.look(grid, pose, 500.0)
    headings.look(grid, pose, 0.0)
    assert abs(headings.heading(pose, 0.0, 0.1)) == pytest.approx(ASIDE)
    larger = OccupancyGrid2D(np.full((200, 200), UNKNOWN, np.int8), 0.1, (-5.0, -5.0))
    headings.look(larger, pose, 1.0)
    assert math.isfinite(headings.heading(pose, 0.3, 1.0))
    off = OccupancyGrid2D(np.full((5, 5), FREE, np.int8), 0.1, (50.0, 50.0))
    headings.look(off, pose, 2.0)
    assert headings.heading(pose, 0.3, 2.0) == pytest.approx(0.3)


def test_one_that_does_not_look_aside_or_was_told_nothing_follows_the_way():
    grid, pose = hall(), np.array([2.0, 5.0, 0.0])
    still = WayHeadings(0.0)
    still.look(grid, pose, 0.0)
    assert still.heading(pose, 0.7, 0.0) == 0.7 and WayHeadings(ASIDE).heading(pose, 0.7, 0.0) == 0.7
    for wrong in (-0.1, math.pi / 2.0, math.nan):
        with pytest.raises(ValueError, match="aside"):
            WayHeadings(wrong)
