"""Tests of the viewpoints from which the robot looks at a blockage of the path to a known object."""

from __future__ import annotations

import math

import numpy as np
from agent_fakes import entity, room
from test_viewpoints_beyond import with_wall

from lodestar.agent.activities.search_ends import place_before_shut_way
from lodestar.agent.facts.config import LoopConfig
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D

CONFIG = LoopConfig()
CHAIR = entity(7, 8.0, 5.0)
ROBOT = np.array([1.5, 2.0, 0.0])


def two_rooms() -> OccupancyGrid2D:
    """Return a grid with a wall at x = 5 m with a door of 1 m in its middle."""
    return with_wall(with_wall(room(), 5.0, 5.1, 0.0, 4.5), 5.0, 5.1, 5.5, 10.0)


def place(before: OccupancyGrid2D, now: OccupancyGrid2D, robot: np.ndarray = ROBOT) -> np.ndarray | None:
    return place_before_shut_way(before, now, robot, CHAIR, CONFIG.viewpoints, CONFIG.reach)


def test_a_shut_door_is_looked_at_from_before_it():
    now = with_wall(two_rooms(), 5.0, 5.1, 4.5, 5.5)
    goal = place(two_rooms(), now)
    assert goal is not None and footprint_free(now, goal)
    assert goal[0] < 5.0 and 1.0 < math.dist(goal[:2], (5.05, 5.0)) < 2.0
    bearing = math.atan2(5.0 - goal[1], 5.05 - goal[0])
    assert abs(math.remainder(goal[2] - bearing, 2.0 * math.pi)) < math.radians(15.0)


def test_from_beside_the_door_the_robot_turns_to_it():
    now = with_wall(two_rooms(), 5.0, 5.1, 4.5, 5.5)
    beside = np.array([4.3, 5.0, math.pi])
    goal = place(two_rooms(), now, beside)
    assert goal is not None and math.dist(goal[:2], beside[:2]) < 0.15
    assert abs(math.remainder(goal[2], 2.0 * math.pi)) < math.radians(20.0)


def test_where_nothing_came_into_the_way_there_is_nothing_to_look_at():
    assert place(two_rooms(), two_rooms()) is None


def test_a_way_that_never_was_is_not_looked_for():
    walled = with_wall(two_rooms(), 5.0, 5.1, 4.5, 5.5)
    assert place(walled, walled) is None
