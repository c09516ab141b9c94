"""Tests that closed passages block the grid until they expire, are opened, or rays pass through them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from closed_areas import closed_area

from lodestar.floors.records import Building, Floor
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.worldmodel.amendments import ClosedWay, middle_of
from lodestar.worldmodel.closed_ways import WayBook, WayOverlay, ways_here

DOOR = ClosedWay((5.0, 4.55), (5.0, 5.45), 100.0, "DOOR_CLOSED")


def two_rooms(stamp=0.0):
    """Return two rooms of 5 x 10 m with a door 0.9 m wide between them at x = 5."""
    cells = np.zeros((100, 100), np.int8)
    cells[:, 50] = 100
    cells[46:54, 50] = 0
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0), stamp=stamp)


def overlay(*ways):
    laid = WayOverlay()
    laid.follow(ways)
    return laid


def fan(yaw=0.0, reach=4.0, half=0.5, count=200):
    """Return (count, 3) ends of rays in the frame of a sensor that looks along x."""
    angles = np.linspace(yaw - half, yaw + half, count)
    return np.stack([np.cos(angles) * reach, np.sin(angles) * reach, np.zeros(count)], axis=-1)


def sensor(x=3.5, y=5.0, z=0.4):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def test_a_closed_door_separates_two_rooms_until_it_expires():
    start = np.array([2.0, 5.0])
    far = tuple(two_rooms().cells_of(np.array([[8.0, 5.0]]))[0])
    assert math.isfinite(path_lengths(two_rooms(), start)[far])
    closed = overlay(DOOR).laid_over(two_rooms(99.0), start)
    assert not math.isfinite(path_lengths(closed, start)[far])
    grid = two_rooms(100.0)
    assert overlay(DOOR).laid_over(grid, start) is grid


def test_the_grid_itself_is_never_changed_and_none_is_copied_without_ways():
    grid = two_rooms()
    before = grid.cells.copy()
    overlay(DOOR).laid_over(grid, None)
    assert (grid.cells == before).all()
    assert overlay().laid_over(grid, None) is grid


def test_no_wall_is_laid_under_the_robot():
    grid = overlay(DOOR).laid_over(two_rooms(), np.array([5.0, 5.0, 0.0]))
    row, column = grid.cells_of(np.array([[5.0, 5.0]]))[0]
    assert grid.cells[row, column] == 0 and grid.occupied.sum() > two_rooms().occupied.sum()


def test_rays_through_the_door_open_it_after_two_looks():
    laid = overlay(DOOR)
    laid.look(sensor(), fan(), 1.0)
    assert laid.laid(1.0) == (DOOR,), "one look may be a reflection"
    laid.look(sensor(), fan(), 1.1)
    assert laid.laid(1.1) == (DOOR,), "the second came too soon"
    laid.look(sensor(), fan(), 2.0)
    assert laid.laid(2.0) == ()
    laid.follow((DOOR,))
    assert laid.laid(2.0) == (), "the same list does not close it again"
    other = ClosedWay(DOOR.start, DOOR.end, 200.0)
    laid.follow((other,))
    assert laid.laid(2.0) == (other,), "a new closing does"


@pytest.mark.parametrize(
    "rays",
    [
        fan(reach=1.6),  # the rays end at the door
        fan(half=0.05),  # rays through a crack only
        fan(yaw=math.pi),  # rays in the opposite direction
        np.full((50, 3), np.nan),
        np.zeros((0, 3)),
    ],
)
def test_other_rays_do_not_open_it(rays):
    laid = overlay(DOOR)
    for stamp in range(1, 6):
        laid.look(sensor(), rays, float(stamp))
    assert laid.laid(6.0) == (DOOR,)


def test_rays_over_the_door_or_through_glass_do_not_open_it():
    laid = overlay(DOOR)
    high = fan() + np.array([0.0, 0.0, 4.0])
    for stamp in range(1, 6):
        laid.look(sensor(), high, float(stamp))
    assert laid.laid(6.0) == (DOOR,)
    glass = overlay(ClosedWay(DOOR.start, DOOR.end, 100.0, "UNSEEN_OBSTACLE", seen_free_opens=False))
    for stamp in range(1, 6):
        glass.look(sensor(), fan(), float(stamp))
    assert len(glass.laid(6.0)) == 1


def test_the_book_replaces_what_is_in_the_same_place_and_forgets_what_expired():
    book = WayBook()
    assert book.close(DOOR) == ()
    longer = ClosedWay((5.05, 4.5), (5.0, 5.4), 300.0)
    assert book.close(longer) == (DOOR,)
    elsewhere = ClosedWay((1.0, 1.0), (2.0, 1.0))
    book.close(elsewhere)
    assert book.expire(299.0) == () and book.expire(300.0) == (longer,)
    assert book.open(ClosedWay((1.1, 1.0), (2.1, 1.0))) == (elsewhere,) and book.ways == ()


def test_the_book_drops_the_oldest_of_what_ends_by_itself_and_nothing_that_stays():
    book, lasting = WayBook(), [ClosedWay((float(x), 5.0), (float(x), 5.9)) for x in range(99)]
    for way in (*lasting, AREA):
        book.close(way)
    assert not book.has_room(replace(AREA, area=((0.0, 9.0), (1.0, 9.0), (1.0, 10.0))))
    assert book.has_room(AREA), "it takes its own place"
    dropped = [book.close(ClosedWay((float(x), 0.0), (float(x), 0.9), 60.0)) for x in range(150)]
    assert [way.start[0] for (way,) in dropped[100:]] == list(range(50)) and not any(dropped[:100])
    assert len(book.ways) == 200 and {*lasting, AREA} <= {*book.ways}


def on(floor: int) -> Building:
    """Return a building of two floors with the robot on this one; 0 = between them."""
    return Building((Floor(1, 0, 0.0), Floor(2, 1, 3.0)), active=floor)


def test_a_grid_that_shows_a_closed_way_as_open_says_so():
    book, far = WayBook(), np.array([2.0, 5.0, 0.0])
    book.close(DOOR)
    assert book.look(two_rooms(), far) == (), "this grid may be older than the closing"
    closed = overlay(DOOR).laid_over(two_rooms(), far)
    assert book.look(closed, far) == ()
    assert book.look(two_rooms(), np.array([4.8, 5.0])) == (), "the robot stands beside it"
    assert book.look(two_rooms(), far) == (DOOR,)


def test_a_wall_of_another_floor_at_the_same_place_opens_no_way():
    book, far = WayBook(), np.array([2.0, 5.0, 0.0])
    book.close(DOOR)
    closed = overlay(DOOR).laid_over(two_rooms(), far)
    assert book.look(closed, far, on(1)) == book.look(closed, far, on(2)) == ()
    assert book.look(two_rooms(), far, on(2)) == (), "it was shown as closed on floor 1"
    assert book.look(two_rooms(), far, on(1)) == (DOOR,)


def test_a_grid_of_another_floor_opens_no_way_whatever_was_shown():
    book, far, upstairs = WayBook(), np.array([2.0, 5.0, 0.0]), replace(DOOR, floor=2)
    book.close(upstairs)
    closed = overlay(DOOR).laid_over(two_rooms(), far)
    assert book.look(closed, far, on(1)) == book.look(two_rooms(), far, on(1)) == ()
    assert book.look(two_rooms(), far, on(2)) == (), "its own grid has not shown it yet"
    book.look(closed, far, on(2))
    assert book.look(two_rooms(), far, on(1)) == () and book.look(two_rooms(), far, on(2)) == (upstairs,)


def test_a_way_of_a_floor_that_is_not_known_is_laid_judged_and_asked_for_here():
    """The passage comes from an older map, and may lie on this floor."""
    book, far, older = WayBook(), np.array([2.0, 5.0, 0.0]), replace(DOOR, floor=7)
    book.close(older)
    assert ways_here(book.ways, on(2)) == (older,) and book.nearest(np.array([4.0, 5.0]), 2.0, on(2)) is older
    book.look(overlay(DOOR).laid_over(two_rooms(), far), far, on(2))
    assert book.look(two_rooms(), far, on(1)) == () and book.look(two_rooms(), far, on(2)) == (older,)


def test_between_two_floors_no_way_is_judged():
    book, far = WayBook(), np.array([2.0, 5.0, 0.0])
    book.close(DOOR)
    closed = overlay(DOOR).laid_over(two_rooms(), far)
    assert book.look(closed, far, on(0)) == book.look(two_rooms(), far, on(0)) == ()
    assert book.look(two_rooms(), far, on(1)) == (), "no floor's grid has shown it yet"
    assert book.look(closed, far, on(1)) == () and book.look(two_rooms(), far, on(0)) == ()
    assert book.look(two_rooms(), far, on(1)) == (DOOR,)


def test_a_way_of_all_floors_stays_where_one_of_a_floor_is_closed_in_its_place():
    book, upstairs = WayBook(), replace(DOOR, floor=2, expires=300.0)
    book.close(DOOR)
    assert book.close(upstairs) == () and book.ways == (DOOR, upstairs)
    assert book.open(upstairs) == (upstairs,) and book.ways == (DOOR,), "what takes it back"
    book.close(upstairs)
    everywhere = replace(DOOR, expires=400.0)
    assert book.close(everywhere) == (DOOR, upstairs) and book.ways == (everywhere,)


def test_the_nearest_way_is_found_within_reach():
    book = WayBook()
    book.close(DOOR)
    assert book.nearest(np.array([4.0, 5.0]), 2.0) is DOOR
    assert book.nearest(np.array([1.0, 5.0]), 2.0) is None


AREA = closed_area(((1.0, 1.0), (3.0, 1.0), (3.0, 2.0), (1.0, 2.0)), "wet floor")


def test_an_area_is_no_obstacle_and_neither_sight_nor_a_question_for_a_way_opens_it():
    grid, book = two_rooms(), WayBook()
    assert overlay(AREA).laid_over(grid, None) is grid, "keep-out zones are laid elsewhere"
    book.close(AREA)
    assert book.nearest(np.array([2.0, 1.5]), 5.0) is None
    assert book.look(grid, None) == () and book.look(grid, None) == ()
    assert AREA.end == (3.0, 2.0) and middle_of(AREA) == (2.0, 1.5)


def test_an_area_replaces_itself_alone_and_is_opened_by_its_own_corners():
    book, other = WayBook(), closed_area(((1.0, 1.0), (3.0, 1.0), (3.0, 2.5)), "tape")
    for way in (AREA, other, ClosedWay((1.9, 1.4), (2.1, 1.6))):
        book.close(way)
    assert len(book.ways) == 3
    assert book.close(closed_area(AREA.area, "dry soon", 50.0)) == (AREA,)
    assert [way.cause for way in book.expire(50.0)] == ["dry soon"] and other in book.ways
