"""Tests of places to which the robot moves so that a person can pass, in invented buildings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lodestar.grid.config import Footprint
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.worldmodel.passing_places import passing_place

BODY, CELL, HALF = Footprint(), 0.05, 0.25  # m: half the shoulders of an adult


def building(door: float, across: float = 4.0, depth: float = 0.15) -> OccupancyGrid2D:
    """Return two rooms of 6 m x 8 m, joined by a gap in a wall at x = 6 m: width `door` and length `depth`, metres."""
    cells = np.full((160, 240), FREE, np.int8)
    cells[0] = cells[-1] = cells[:, 0] = cells[:, -1] = OCCUPIED
    wall = slice(120 - round(depth / CELL / 2), 120 + math.ceil(depth / CELL / 2))
    low = round((across - door / 2.0) / CELL)
    cells[:, wall] = OCCUPIED
    cells[low : low + round(door / CELL), wall] = FREE
    return OccupancyGrid2D(cells, CELL, np.zeros(2))


def walks_by(grid: OccupancyGrid2D, robot: np.ndarray, start, end) -> bool:
    """Return whether a disc of HALF can go from start to end around walls and robot: by dilation, cell by cell."""
    cells = np.argwhere(np.ones(grid.cells.shape, bool))
    points = grid.points_of(cells)
    solid = grid.occupied | (BODY.gaps(robot[None], points)[0] <= 0.0).reshape(grid.cells.shape)
    free = ndimage.distance_transform_edt(~solid) * CELL > HALF
    labels = ndimage.label(free)[0]
    a, b = (labels[tuple(grid.cells_of(np.array([place]))[0])] for place in (start, end))
    return bool(a == b != 0)


@given(
    door=st.sampled_from([0.8, 0.9, 1.0]), across=st.floats(2.0, 6.0), yaw=st.floats(-0.4, 0.4),
    back=st.floats(-0.2, 0.2), away=st.floats(1.2, 2.2), speed=st.sampled_from([0.0, 0.6, 1.2]), flips=st.booleans(),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_from_a_doorway_it_leads_to_where_the_person_can_pass(
    door, across, yaw, back, away, speed, flips
) -> None:
    grid, side = building(door, across), -1.0 if flips else 1.0
    robot = np.array([6.0 + back, across, yaw])
    person = np.array([6.0 + side * away, across, -side * speed, 0.0])
    place = passing_place(grid, robot, person[None], BODY)
    assert place is not None and footprint_free(grid, place, BODY)
    assert math.dist(place[:2], person[:2]) >= math.dist(robot[:2], person[:2])
    assert walks_by(grid, place, person[:2], (6.0 - side * 2.0, across))


@pytest.mark.parametrize(
    ("robot", "person"),
    [
        ((3.0, 4.0, 0.0), (5.0, 4.0, -1.0, 0.0)),  # in an open room
        ((6.0, 4.0, 0.0), (7.8, 4.0, 1.0, 0.0)),  # leaves
        ((6.0, 4.0, 0.0), (7.8, 6.5, -1.0, 0.0)),  # walks past
        ((6.0, 4.0, 0.0), (9.5, 4.0, -1.0, 0.0)),  # far away
        ((6.0, 4.0, 0.0), (7.0, math.nan, -1.0, 0.0)),
        ((6.0, 4.0, 0.0), (6.0, 4.0, 0.0, 0.0)),
    ],
)
def test_a_robot_in_nobodys_way_stays(robot, person) -> None:
    assert passing_place(building(0.9), np.array(robot), np.array([person]), BODY) is None


def test_in_a_corridor_it_leads_out_of_it_or_nowhere() -> None:
    corridor = building(1.0, depth=7.0)
    for x, leads in ((3.5, True), (6.0, False)):
        person = np.array([x + 2.0, 4.0, -1.0, 0.0])
        place = passing_place(corridor, np.array([x, 4.0, 0.0]), person[None], BODY)
        assert (place is not None) == leads
        assert place is None or place[0] < 2.6


def test_a_grid_that_ends_beside_the_robot_bars_nothing() -> None:
    small = OccupancyGrid2D(np.full((10, 10), FREE, np.int8), CELL, np.array([5.8, 3.8]))
    assert passing_place(small, np.array([6.0, 4.0, 0.0]), np.array([[7.5, 4.0, -1.0, 0.0]]), BODY) is None


def carved(*rooms: tuple[float, float, float, float]) -> OccupancyGrid2D:
    """Return a solid block of 14 m x 10 m with rooms (x, y, width, depth), metres, carved out of it."""
    cells = np.full((200, 280), OCCUPIED, np.int8)
    for x, y, width, depth in rooms:
        low = round(y / CELL), round(x / CELL)
        cells[low[0] : low[0] + round(depth / CELL), low[1] : low[1] + round(width / CELL)] = FREE
    return OccupancyGrid2D(cells, CELL, np.zeros(2))


@pytest.mark.parametrize("y", [5.9, 6.1, 6.2])
def test_who_walks_past_a_side_door_in_which_it_stands_has_room(y) -> None:
    corridor = carved((0.5, 4.0, 13.0, 2.0), (5.5, 6.0, 0.9, 0.2), (3.0, 6.2, 6.0, 3.0))
    robot, person = np.array([5.95, y, math.pi / 2.0]), np.array([[7.5, 5.2, -0.9, 0.0]])
    assert passing_place(corridor, robot, person, BODY) is None


@pytest.mark.parametrize("width", [1.0, 1.1, 1.3, 2.0])
def test_from_a_door_to_a_corridor_it_leads_to_where_the_person_comes_out(width) -> None:
    home = carved((0.5, 4.0, 13.0, width), (5.5, 4.0 + width, 0.9, 0.2), (3.0, 4.2 + width, 6.0, 3.0))
    robot, person = np.array([5.95, 4.0 + width, 0.0]), np.array([5.95, 5.6 + width, 0.0, -0.6])
    place = passing_place(home, robot, person[None], BODY)
    assert place is not None
    assert any(walks_by(home, place, person[:2], (x, 4.0 + width / 2.0)) for x in (2.0, 10.0))


def test_unknown_floor_is_no_way_around_and_no_place() -> None:
    grid = building(0.9)
    grid.cells[4:40, 110:130] = UNKNOWN  # a gap in the wall that nobody has seen
    place = passing_place(grid, np.array([6.0, 4.0, 0.0]), np.array([[7.5, 4.0, -0.6, 0.0]]), BODY)
    assert place is not None and grid.free[tuple(grid.cells_of(place[None])[0])]


def test_the_place_is_not_beside_somebody_else() -> None:
    robot, people = np.array([6.0, 4.0, 0.0]), np.array([[7.6, 4.0, -0.6, 0.0], [5.3, 3.2, 0.0, 0.0]])
    place = passing_place(building(0.9), robot, people, BODY)
    assert place is not None and math.dist(place[:2], people[1, :2]) >= 1.0
