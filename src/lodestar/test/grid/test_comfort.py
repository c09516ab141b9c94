"""Tests of the comfort zone around people: graded, limited by walls, and never closed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid.comfort import with_comfort
from lodestar.grid.config import ComfortConfig
from lodestar.grid.occupancy import COMFORT, HELD_BACK, OCCUPIED, OccupancyGrid2D
from lodestar.grid.overlay import with_keep_out
from lodestar.grid.paths import path_lengths, plan_path

KEPT = ComfortConfig()


def room(wall=False):
    """Return a room of 6 x 4 m at 0.1 m, optionally with a wall at x = 3."""
    cells = np.zeros((40, 60), np.int8)
    if wall:
        cells[:, 30] = OCCUPIED
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def at(grid, x, y):
    row, column = grid.cells_of(np.array([[x, y]]))[0]
    return int(grid.cells[row, column])


def test_it_falls_from_the_person_to_the_comfort_distance():
    zones = with_comfort(None, room(), np.array([[3.0, 2.0, 0.0, 0.0]]), KEPT, 1.0)
    values = [at(zones, 3.05 + away, 2.05) for away in (0.0, 0.3, 0.6, 0.9, 1.3)]
    assert COMFORT >= values[0] > values[1] > values[2] > values[3] > values[4] == 0
    assert zones.cells.max() < HELD_BACK


def test_a_walker_takes_the_way_ahead_and_not_behind():
    zones = with_comfort(None, room(), np.array([[2.0, 2.0, 1.0, 0.0]]), KEPT, 1.0)
    assert at(zones, 3.8, 2.0) > 0 and at(zones, 0.7, 2.0) == 0
    ahead = [at(zones, x, 2.0) for x in (2.05, 2.35, 2.65, 2.95)]
    assert ahead == sorted(set(ahead), reverse=True), "who walks towards them along it comes nearer"


def test_a_wall_ends_the_zone_also_that_of_somebody_in_a_mirror():
    zones = with_comfort(None, room(wall=True), np.array([[3.6, 2.0, 0.0, 0.0]]), KEPT, 1.0)
    assert at(zones, 2.8, 2.0) == 0 and at(zones, 4.0, 2.0) > 0


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 9),
    st.booleans(),
    st.floats(0.0, 0.05),
    st.floats(-1.0, 1.0),
    st.sampled_from((0.0, 0.2, 0.25)),
)
def test_no_wall_is_too_thin_however_near_somebody_stands(away, across, off, pace, body):
    """A wall of one cell, with a person beside it whose body may be in the grid and touch the wall."""
    cells = np.zeros((60, 60), np.int8)
    plan = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    place = np.array([3.15 + 0.1 * away + off, 3.0])
    rows, columns = np.mgrid[:60, :60]
    points = plan.points_of(np.stack([rows, columns], axis=-1).reshape(-1, 2)).reshape(60, 60, 2)
    cells[(np.linalg.norm(points - place, axis=2) < body) & (points[..., 0] > 3.1)] = OCCUPIED
    cells[:, 30] = OCCUPIED
    person = np.array([[*place, 0.0, pace]])
    if across:
        cells[:] = cells.T.copy()
        person = person[:, [1, 0, 3, 2]]
    zones = with_comfort(None, plan, person, KEPT, 1.0)
    values = zones.cells.T if across else zones.cells
    assert not values[:, :31].any(), "nothing behind the wall"
    assert values[:, 31:].max() > 0.6 * COMFORT, "the person's side"


def test_a_path_leads_around_where_there_is_room_and_through_where_there_is_none():
    wide = room()
    shown = with_keep_out(wide, with_comfort(None, wide, np.array([[3.0, 2.0, 0.0, 0.0]]), KEPT, 1.0))
    path = plan_path(shown, (0.5, 2.0), (5.5, 2.0))
    assert np.linalg.norm(path - (3.0, 2.0), axis=1).min() > 1.0
    corridor = OccupancyGrid2D(np.zeros((10, 60), np.int8), 0.1, (0.0, 0.0))
    shown = with_keep_out(corridor, with_comfort(None, corridor, np.array([[3.0, 0.5, 0.0, 0.0]]), KEPT, 1.0))
    assert plan_path(shown, (0.5, 0.5), (5.5, 0.5))[-1] == pytest.approx((5.5, 0.5))


def test_zones_that_forbid_stay_and_nobody_changes_nothing():
    zones = OccupancyGrid2D(np.zeros((40, 60), np.int8), 0.1, (0.0, 0.0))
    zones.cells[:, :20] = OCCUPIED
    assert with_comfort(zones, room(), np.zeros((0, 4)), KEPT, 1.0) is zones
    assert (
        with_comfort(zones, room(), np.array([[2.2, 2.0, 0.0, 0.0]]), ComfortConfig(distance=0.0), 1.0)
        is zones
    )
    both = with_comfort(zones, room(), np.array([[2.2, 2.0, 0.0, 0.0]]), KEPT, 1.0)
    assert (both.occupied == zones.occupied).all() and at(both, 2.4, 2.0) > 0
    laid = with_keep_out(room(), both)
    assert (laid.keep_out == zones.occupied).all() and laid.comfort is not None


numbers = st.floats(-8.0, 14.0) | st.just(float("nan"))
person = st.tuples(numbers, numbers, st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))


@settings(max_examples=60, deadline=None)
@given(st.lists(person, max_size=6), st.booleans())
def test_whoever_stands_where_nothing_is_closed_by_it(people, wall):
    plan = room(wall)
    zones = with_comfort(None, plan, np.array(people, float).reshape(-1, 4), KEPT, 1.0)
    laid = with_keep_out(plan, zones)
    assert laid.keep_out is None
    np.testing.assert_array_equal(path_lengths(laid, (0.5, 2.0)), path_lengths(plan, (0.5, 2.0)))
    assert plan_path(laid, (0.5, 2.0), (2.5, 3.0)).shape[1] == 2


def test_the_zones_of_an_earlier_and_smaller_plan_do_not_end_the_comfort():
    small = OccupancyGrid2D(np.zeros((10, 10), np.int8), 0.1, (0.0, 0.0))
    small.cells[2, 3] = OCCUPIED
    zones = with_comfort(small, room(), np.array([[4.0, 2.0, 0.0, 0.0]]), KEPT, 1.0)
    assert zones.cells.shape == room().cells.shape
    assert at(zones, 4.05, 2.05) > 0 and at(zones, 0.35, 0.25) == OCCUPIED
