"""Tests of viewpoints of an object beyond an obstacle that appeared in front of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from agent_fakes import entity, room

from lodestar.agent.facts.config import LoopConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.worldmodel.recovery_places import is_hidden, viewpoint_beyond

CONFIG = LoopConfig()
CHAIR = entity(7, 5.0, 5.0)
FRONT = np.array([3.8, 5.0, 0.0])


def with_wall(grid: OccupancyGrid2D, x0: float, x1: float, y0: float, y1: float) -> OccupancyGrid2D:
    cells = grid.cells.copy()
    cells[round(y0 * 10) : round(y1 * 10), round(x0 * 10) : round(x1 * 10)] = 100
    return replace(grid, cells=cells)


def beyond(before: OccupancyGrid2D, now: OccupancyGrid2D, excluded=()) -> np.ndarray | None:
    return viewpoint_beyond((before,), now, FRONT, CHAIR, excluded, CONFIG.viewpoints, CONFIG.reach)


def test_a_new_screen_right_before_a_thing_hides_it_and_an_old_one_does_not():
    before, now = room(), with_wall(room(), 4.6, 4.7, 4.3, 5.7)
    assert is_hidden((before,), now, FRONT, CHAIR)
    assert not is_hidden((now,), now, FRONT, CHAIR)
    assert not is_hidden((before,), now, np.array([6.2, 5.0, math.pi]), CHAIR)


def test_the_other_side_is_looked_from():
    now = with_wall(room(), 4.6, 4.7, 4.3, 5.7)
    pose = beyond(room(), now)
    assert pose is not None and not is_hidden((room(),), now, pose, CHAIR)
    to_chair = math.atan2(5.0 - pose[1], 5.0 - pose[0])
    assert abs(math.remainder(pose[2] - to_chair, 2.0 * math.pi)) < math.radians(30.0)


def test_a_thing_that_is_walled_in_has_no_viewpoint():
    now = room()
    for wall in ((4.5, 4.6, 4.5, 5.5), (5.4, 5.5, 4.5, 5.5), (4.5, 5.5, 4.5, 4.6), (4.5, 5.5, 5.4, 5.5)):
        now = with_wall(now, *wall)
    assert beyond(room(), now) is None


def test_furniture_that_stood_there_is_avoided_where_a_free_side_is_left():
    before = with_wall(room(), 4.3, 5.7, 5.4, 5.5)  # a wall along the north side
    now = with_wall(before, 4.6, 4.7, 4.3, 5.4)
    pose = beyond(before, now)
    assert pose is not None and pose[1] < 5.4
