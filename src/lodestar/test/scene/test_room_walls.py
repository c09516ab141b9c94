"""Tests that objects in different rooms count as neighbours only through an opening."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.regions import segment_regions
from lodestar.scene.regions import RegionMap
from lodestar.scene.room_walls import walled_off

CELL = 0.1
DOOR = (6.0, 7.0)  # y range, m, of the opening in the wall at x = 4.9 to 5.1 m


def two_rooms(wall: int = 2) -> RegionMap:
    """Return two rooms of 5 m by 10 m with a doorway in a wall of `wall` cells; 0 = rooms that differ only in name."""
    mask = np.ones((100, 100), np.uint16)
    mask[:, 50:] = 2
    if wall:
        mask[:60, 50 - wall // 2 : 50 + wall - wall // 2] = 0
        mask[70:, 50 - wall // 2 : 50 + wall - wall // 2] = 0
    rooms = RegionMap(0.5)
    rooms.set_mask(mask, (0.0, 0.0), CELL)
    return rooms


def is_walled(rooms, one, other, regions=None):
    """Return whether two boxes, (x, y, side) in plan, are separated by a wall; checks both orders."""
    low, high = (np.array([[b[0] + k * b[2] / 2, b[1] + k * b[2] / 2, 0.45 * (k + 1)] for b in (one, other)])
                 for k in (-1, 1))  # fmt: skip
    region = np.array(regions or rooms.at((low + high) / 2.0), int)
    found = walled_off(rooms, region, region[::-1], low, high, low[::-1], high[::-1])
    assert found[0] == found[1]
    return bool(found[0])


boxes = st.tuples(st.floats(0.5, 4.5), st.floats(0.5, 9.5), st.floats(0.1, 0.7))
beyond = st.tuples(st.floats(5.5, 9.5), st.floats(0.5, 9.5), st.floats(0.1, 0.7))


@given(boxes, boxes)
def test_things_of_one_room_are_never_walled_off(one, other):
    assert not is_walled(two_rooms(), one, other)


@given(boxes, beyond)
def test_a_wall_is_between_unless_the_line_leads_through_the_doorway(one, other):
    rooms = two_rooms()
    share = (5.0 - one[0]) / (other[0] - one[0])
    # y at which the line between the centres crosses the wall
    crossing = one[1] + share * (other[1] - one[1])
    if DOOR[0] <= crossing <= DOOR[1]:
        assert not is_walled(rooms, one, other)
    if min(one[1], other[1]) > DOOR[1] + 1.5 or max(one[1], other[1]) < DOOR[0] - 1.5:
        near = other[0] - one[0] < 1.5
        assert is_walled(rooms, one, other) or not near


@given(boxes, beyond)
def test_a_boundary_without_a_wall_keeps_nothing_apart_that_is_near(one, other):
    if abs(one[1] - other[1]) < 3.0:
        assert not is_walled(two_rooms(wall=0), one, other)


@given(st.floats(0.5, 9.5), st.floats(0.5, 1.2), st.floats(-0.15, 0.15), st.floats(0.1, 0.5), st.booleans())
def test_a_thing_on_the_boundary_of_two_regions_of_one_room_hides_no_opening(y, side, shift, small, left):
    """The object stands in the opening, so its own cells belong to neither region."""
    rooms, mask = RegionMap(0.5), np.ones((100, 100), np.uint16)
    mask[:, 50:] = 2
    cells = [round((middle - side / 2) / CELL) for middle in (5.0 + shift, y)]
    mask[max(cells[1] - 12, 0) : cells[1] + 24, max(cells[0] - 2, 0) : cells[0] + round(side / CELL) + 2] = 0
    rooms.set_mask(mask, (0.0, 0.0), CELL)
    thing = (5.0 + shift, y, side)
    beside = (5.0 + shift + (-1 if left else 1) * (side / 2 + small / 2 + 0.05), y, small)
    for regions in ((1, 2), (2, 1)):
        assert not is_walled(rooms, thing, beside, regions=regions)


@given(st.floats(0.5, 4.0), st.floats(0.2, 0.7), st.floats(0.2, 0.7), st.floats(0.0, 0.05))
def test_things_on_both_sides_of_a_wall_stay_walled_off_where_they_were_measured_into_it(
    y, one, other, error
):
    rooms = two_rooms()
    assert is_walled(rooms, (4.9 - one / 2 + error, y, one), (5.1 + other / 2 - error, y, other))


def test_what_has_no_room_is_walled_off_from_nothing():
    rooms = two_rooms()
    assert is_walled(rooms, (4.6, 2.0, 0.4), (5.4, 2.0, 0.4))
    assert not is_walled(rooms, (4.6, 2.0, 0.4), (5.4, 2.0, 0.4), regions=(1, 0))
    assert not is_walled(RegionMap(0.5), (4.6, 2.0, 0.4), (5.4, 2.0, 0.4), regions=(1, 2))


def test_rooms_that_do_not_meet_are_walled_off():
    mask = np.ones((100, 100), np.uint16)
    mask[:, 50:] = 2
    mask[:, 48:52] = 0
    rooms = RegionMap(0.5)
    rooms.set_mask(mask, (0.0, 0.0), CELL)
    assert is_walled(rooms, (4.6, 6.5, 0.4), (5.4, 6.5, 0.4))


def test_the_openings_move_with_the_map_and_are_shared_by_copies():
    rooms = two_rooms()
    same = copy(rooms)
    assert same.is_as(rooms) and not rooms.is_as(None)
    before = rooms.openings(2, 1)
    assert len(before) == 10 and before[:, 0] == pytest.approx(5.0)
    assert DOOR[0] <= before[:, 1].min() and before[:, 1].max() <= DOOR[1]
    np.testing.assert_array_equal(same.openings(1, 2), before)
    rooms.at(before)  # fills the cells that belong to no room
    rooms.move(MapCorrection(planar_transform(1.0, 0.0, 0.0)))
    assert not same.is_as(rooms)
    np.testing.assert_allclose(rooms.openings(1, 2), before + np.array([1.0, 0.0]))
    np.testing.assert_array_equal(same.openings(1, 2), before)
    rooms.set_mask(np.ones((10, 10), np.uint16), (0.0, 0.0), CELL)
    assert not len(rooms.openings(1, 2))


def test_a_doorway_of_segmented_rooms_is_an_opening():
    cells = np.full((100, 100), 100, np.int8)
    cells[2:98, 2:48] = cells[2:98, 52:98] = 0
    cells[60:70, 48:52] = 0
    mask, found = segment_regions(OccupancyGrid2D(cells, CELL, (0.0, 0.0)))
    assert len(found) == 2
    rooms = RegionMap(0.5)
    rooms.set_mask(mask, (0.0, 0.0), CELL)
    a, b = (each[0] for each in found)
    assert len(rooms.openings(a, b))
    assert is_walled(rooms, (4.4, 2.0, 0.5), (5.6, 2.0, 0.5))
    assert not is_walled(rooms, (4.2, 6.5, 0.5), (5.8, 6.5, 0.5))
