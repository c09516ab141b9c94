"""Tests that a keep-out zone leaves out the robot, and is complete once the robot has left it."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.grid.config import Footprint
from lodestar.grid.occupancy import HELD_BACK, OCCUPIED, OccupancyGrid2D, distance_to
from lodestar.grid.zone_growth import ZoneGrowth

SIDE, RES = 8.0, 0.1
BODY = Footprint().circumscribed_radius


def grid(cells=None) -> OccupancyGrid2D:
    n = round(SIDE / RES)
    return OccupancyGrid2D(np.zeros((n, n), np.int8) if cells is None else cells, RES, (0.0, 0.0))


def disc(x: float, y: float, radius: float) -> OccupancyGrid2D:
    """Return the mask of a zone around an object."""
    plain = grid()
    places = plain.points_of(np.argwhere(np.ones_like(plain.cells, bool)))
    inside = np.hypot(places[:, 0] - x, places[:, 1] - y).reshape(plain.cells.shape) <= radius
    return grid(np.where(inside, np.int8(OCCUPIED), np.int8(0)))


def at(x: float, y: float) -> np.ndarray:
    return np.array([x, y, 0.0])


def closed_near(mask: OccupancyGrid2D, pose: np.ndarray, radius: float = BODY) -> int:
    """Return the number of closed cells within the robot's radius."""
    here = np.zeros(mask.cells.shape, bool)
    row, column = mask.cells_of(pose[None, :2])[0]
    here[row, column] = True
    return int(((distance_to(here, RES) <= radius) & (mask.cells == OCCUPIED)).sum())


@pytest.mark.parametrize(
    "x", [2.75, 3.0, 3.4, 4.0]
)  # body overlaps the zone; centre in the zone; robot in its middle
def test_a_robot_in_a_new_zone_stands_on_no_closed_cell_and_can_leave(x):
    zone, growth = disc(4.0, 4.0, 1.0), ZoneGrowth()
    pose = at(x, 4.0)
    for _ in range(60):
        laid = growth.lay(zone, grid(), pose)
        assert closed_near(laid, pose) == 0
        held = laid.cells == HELD_BACK
        if not held.any():
            break
        assert growth.has_way_out and "until it has left" in growth.sentence
        pose = pose - np.array([0.1, 0.0, 0.0]) if x < 4.0 else _along_the_way(laid, pose)
    assert np.array_equal(laid.cells, zone.cells) and growth.sentence == ""


def _along_the_way(laid: OccupancyGrid2D, pose: np.ndarray) -> np.ndarray:
    """Return the pose after 0.1 m over cells where the robot's body fits, away from the middle."""
    steps = [pose + np.array([0.1 * np.cos(a), 0.1 * np.sin(a), 0.0]) for a in np.linspace(0, 2 * np.pi, 16)]
    free = [step for step in steps if closed_near(laid, step) == 0]
    assert free, "no motion is possible"
    return max(free, key=lambda step: np.hypot(*(step[:2] - 4.0)))


def test_a_zone_away_from_the_robot_is_laid_at_once():
    zone, growth = disc(4.0, 4.0, 1.0), ZoneGrowth()
    assert growth.lay(zone, grid(), at(1.0, 1.0)) is zone and growth.held == 0.0


def test_what_was_laid_once_is_not_opened_again_by_coming_near():
    zone, growth = disc(4.0, 4.0, 1.0), ZoneGrowth()
    growth.lay(zone, grid(), at(1.0, 1.0))
    assert growth.lay(zone, grid(), at(3.0, 4.0)) is zone


def test_a_zone_that_grows_by_a_cell_is_held_back_there_alone():
    growth = ZoneGrowth()
    growth.lay(disc(4.0, 4.0, 1.0), grid(), at(2.44, 4.0))
    wider = disc(4.0, 4.0, 1.1)
    laid = growth.lay(wider, grid(), at(2.44, 4.0))
    held = laid.cells == HELD_BACK
    assert held.any() and not (held & disc(4.0, 4.0, 1.0).occupied).any()


def test_the_way_out_leads_around_a_wall_and_a_robot_without_one_says_so():
    zone = disc(4.0, 4.0, 1.0)
    cells = grid().cells.copy()
    cells[:, 33] = OCCUPIED  # a wall between the robot and the near border
    pose = at(3.5, 4.0)
    growth = ZoneGrowth()
    laid = growth.lay(zone, grid(cells), pose)
    held = np.argwhere(laid.cells == HELD_BACK)
    assert growth.has_way_out and (held[:, 1] * RES).max() > 3.9, "not through the wall, which is nearer"
    cells[30:51, [33, 51]] = OCCUPIED  # walls all around, with the zone extending to every corner
    cells[[30, 50], 33:52] = OCCUPIED
    growth = ZoneGrowth()
    laid = growth.lay(zone, grid(cells), pose)
    assert not growth.has_way_out and "by hand" in growth.sentence
    assert closed_near(laid, pose) == 0


def test_a_new_directive_holds_back_anew_and_an_unknown_pose_lays_all():
    zone, growth = disc(4.0, 4.0, 1.0), ZoneGrowth()
    assert growth.lay(zone, None, None) is zone
    growth.lay(grid(), None, at(4.0, 4.0))  # the directive has ended
    assert (growth.lay(zone, None, at(4.0, 4.0)).cells == HELD_BACK).any()
    assert growth.lay(disc(2.0, 2.0, 1.0), None, at(-5.0, 90.0)).occupied.any(), "a robot off the map"


def test_the_origin_of_the_grid_may_move_while_a_zone_is_held_back():
    zone, growth = disc(4.0, 4.0, 1.0), ZoneGrowth()
    growth.lay(zone, grid(), at(3.0, 4.0))
    before = growth.held
    moved = OccupancyGrid2D(np.pad(zone.cells, ((5, 0), (7, 0))), RES, (-0.7, -0.5))
    laid = growth.lay(moved, None, at(3.0, 4.0))
    assert growth.held == pytest.approx(before, abs=0.05) and laid.cells.shape == moved.cells.shape
