"""Tests of edges, rims and clutter in the layer of heights, on hand-made grids."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.mapping.occupancy.floor import FloorConfig, FloorMap, FloorState

SIDE = 60  # cells of 0.1 m; the robot stands in the middle of the lower edge
CEILING = 2.6  # m


def level_floor() -> FloorMap:
    """Return a floor seen often in all cells, with rays that crossed it from 2.5 m."""
    floor = FloorMap(FloorConfig(), 0.1)
    floor.grow((SIDE, SIDE), 0, 0)
    floor.height[:], floor.variance[:], floor.hits[:] = 0.0, 0.02**2, 3
    floor.closest[:] = 25.0
    floor.trodden[2:6, 28:32] = True
    return floor


def unseen(floor: FloorMap, rows: slice, columns: slice) -> None:
    """Clear these cells, as if no ray had returned from below the ceiling."""
    floor.height[rows, columns] = CEILING


def test_what_stands_on_a_level_floor_neither_lifts_it_nor_makes_it_a_drop_off():
    """The foot of a wall, whose hits climb from cell to cell, and floor of the same height behind it."""
    floor = level_floor()
    floor.height[20:23, 5:40] = np.linspace(0.02, 0.5, 35)
    floor.height[23:26, 5:40] = np.linspace(0.5, 0.02, 35)
    state = floor.state()
    assert not state.drop.any()
    away = np.ones((SIDE, SIDE), bool)
    away[17:29] = False
    assert state.floor[away].all()
    assert np.abs(state.reference[away]).max() < 0.05


@pytest.mark.parametrize("depth", [-0.045, -0.06, -0.1])
def test_the_far_rim_of_a_hole_is_no_floor_though_it_shows_little_below_the_edge(depth):
    floor = level_floor()
    unseen(floor, slice(25, 34), slice(25, 34))
    floor.height[33, 25:34] = depth
    state = floor.state()
    assert not state.floor[33, 25:34].any()


def test_unseen_ground_is_no_floor_where_a_ray_has_passed_under_it_nearby():
    floor = level_floor()
    unseen(floor, slice(25, 33), slice(25, 33))
    floor.passed[30, 29] = -0.06
    state = floor.state()
    assert not state.floor[25:33, 25:33].any()
    assert not state.drop.any(), "too little for an obstacle"


@pytest.mark.parametrize("passed", [np.nan, -0.3])
def test_a_wide_gap_is_floor_only_where_it_lies_as_far_off_as_rings_are_apart(passed):
    def gap_at(closest: float) -> FloorState:
        floor = level_floor()
        unseen(floor, slice(25, 37), slice(0, SIDE))
        floor.closest[25:37] = closest
        floor.passed[30, 30] = passed
        return floor.state()

    assert not gap_at(10.0).floor[25:37, 20:40].any()
    assert gap_at(35.0).floor[25:37, 2:8].all() and gap_at(35.0).floor[25:37, 30].all() == np.isnan(passed)


def test_the_walk_does_not_go_down_the_wall_of_a_shaft():
    """Each cell lies a little lower than the one before, like hits on a wall."""
    floor = level_floor()
    floor.height[30:50] = -0.03 * np.arange(1, 21)[:, None]
    assert not floor.state().floor[34:50].any()


def test_one_ring_along_the_wall_of_a_shaft_does_not_draw_the_level_along():
    """The hits fall by less than a ramp may, and the rays beside them pass hardly lower."""
    floor = level_floor()
    unseen(floor, slice(25, 49), slice(25, 37))
    floor.closest[25:49, 25:37] = 45.0
    fall = -0.012 * np.arange(1, 25)
    floor.height[25:49, 25], floor.hits[25:49, 25] = fall, 1
    floor.passed[25:49, 25:37] = fall[:, None] - 0.01
    state = floor.state()
    assert not state.floor[29:49, 25:37].any()
    assert np.abs(state.reference[25:49, 25:37]).max() < 0.01


def test_a_ramp_of_five_degrees_down_is_floor():
    floor = level_floor()
    floor.height[20:50] = -0.1 * np.tan(np.radians(5.0)) * np.arange(1, 31)[:, None]
    floor.height[50:] = floor.height[49]
    state = floor.state()
    assert state.floor.all() and not state.drop.any()
    assert state.reference[45, 30] == pytest.approx(floor.height[45, 30], abs=0.02)


def test_a_wall_seen_a_little_above_a_gap_is_no_floor_and_does_not_lift_it():
    """The end of a corridor with a lowest hit from one ring, as uncertain as far hits are."""
    floor = level_floor()
    unseen(floor, slice(40, SIDE), slice(0, SIDE))
    floor.height[48:51, 0:SIDE], floor.variance[48:51] = 0.15, 0.1**2
    state = floor.state()
    assert not state.floor[49:51].any() and not state.drop.any()
    assert np.nanmax(state.reference) < 0.05


def test_the_foot_of_a_wall_does_not_lift_the_floor_behind_it():
    floor = level_floor()
    unseen(floor, slice(26, SIDE), slice(0, SIDE))
    floor.height[20:26] = np.linspace(0.03, 0.3, 6)[:, None]
    floor.face[20:26] = 4
    assert np.nanmax(floor.state().reference) < 0.01


@pytest.mark.parametrize(
    ("height", "closest", "floor_before_it"), [(0.2, 35.0, True), (0.2, 10.0, False), (0.7, 35.0, False)]
)
def test_floor_goes_on_to_the_foot_of_a_thing_as_far_as_rings_are_apart(height, closest, floor_before_it):
    """A wall seen low; the same from near, where a ring would have hit the floor before it; and the edge of a desk."""
    floor = level_floor()
    unseen(floor, slice(25, SIDE), slice(0, SIDE))
    floor.closest[25:] = closest
    floor.height[37] = height
    state = floor.state()
    assert state.floor[25:37].all() == floor_before_it and not state.floor[38:].any()
    assert state.floor[37].all() == floor_before_it


def test_floor_goes_on_under_a_thing_between_two_cells_of_it():
    floor = level_floor()
    floor.height[30, 30] = 0.2
    assert floor.state().floor.all()


def test_between_two_things_nothing_is_floor():
    floor = level_floor()
    unseen(floor, slice(25, SIDE), slice(0, SIDE))
    floor.closest[25:] = 35.0
    floor.height[50], floor.height[40, 20:40] = 0.2, 0.2
    assert not floor.state().floor[41:50, 25:35].any()


def test_floor_before_a_thing_is_unknown_where_a_ray_has_passed_under_it():
    """Stairs down before a wall, which shows both below and above the edge."""
    floor = level_floor()
    unseen(floor, slice(25, SIDE), slice(0, SIDE))
    floor.closest[25:], floor.height[37] = 35.0, 0.2
    floor.passed[35] = -0.06
    assert not floor.state().floor[25:37].any()


def test_a_gap_counts_whichever_way_the_building_lies_on_the_grid():
    """The same gap between two rings, across a diagonal strip of seen floor."""
    floor = level_floor()
    rows, columns = np.indices((SIDE, SIDE))
    along, across = rows + columns - SIDE, np.abs(rows - columns)
    unseen(floor, slice(0, SIDE), slice(0, SIDE))
    seen = (across <= 4) & ((along <= 0) | (along >= 20))
    floor.height[seen] = 0.0
    floor.trodden[:] = (across <= 4) & (along < -40)
    floor.closest[:] = 35.0
    assert floor.state().floor[(across <= 4) & (along > 0) & (along < 20)].all()


@pytest.mark.parametrize("over_it", [CEILING, 0.5])
def test_returns_from_within_a_hole_are_no_mirror_images_in_what_is_over_it(over_it):
    """The ceiling, or the top of a table, is the lowest surface seen in the columns of a hole."""
    floor = level_floor()
    floor.height[25:34, 25:34] = over_it
    far_wall = np.array([[x, 3.45, -0.25] for x in np.arange(2.55, 3.4, 0.1)])
    used = floor.observe(far_wall, np.array([3.0, 0.4, 0.5]), np.array([0, 0]), 12.0)
    assert used.all()
    state = floor.state()
    assert not state.floor[25:34, 25:34].any() and state.drop[33, 26:33].all()
    assert (floor.hits[25:33, 25:34] == 3).all(), "what is over it stays"


def test_a_return_from_far_under_seen_floor_is_its_mirror_image():
    floor = level_floor()
    mirrored = np.array([[x, 3.45, -0.25] for x in np.arange(2.55, 3.4, 0.1)])
    used = floor.observe(mirrored, np.array([3.0, 0.4, 0.5]), np.array([0, 0]), 12.0)
    assert not used.any()
    assert floor.state().floor.all()
