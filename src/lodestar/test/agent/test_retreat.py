"""Tests that a step aside leads to a place that the robot fits, with most room."""

from __future__ import annotations

import math

import numpy as np
from agent_fakes import room

from lodestar.grid.footprint import footprint_free
from lodestar.worldmodel.recovery_places import retreat

NEAR_A_WALL = np.array([0.5, 5.0, math.pi / 2])


def test_it_leads_away_from_the_wall_without_turning():
    aside = retreat(room(), NEAR_A_WALL, 0.45)
    assert aside[0] > NEAR_A_WALL[0] and aside[2] == NEAR_A_WALL[2]
    assert math.dist(aside[:2], NEAR_A_WALL[:2]) <= 0.4501
    assert footprint_free(room(), aside)


def test_directions_that_were_tried_are_left_out_until_none_is_left():
    tried = []
    while (aside := retreat(room(), NEAR_A_WALL, 0.45, tried)) is not None:
        assert all(math.dist(aside[:2], old[:2]) > 0.2 for old in tried)
        tried.append(aside)
    assert 3 <= len(tried) < 8  # it does not drive into the wall


def test_where_the_robot_is_walled_in_there_is_none():
    grid = room()
    grid.cells[:] = 100
    assert retreat(grid, NEAR_A_WALL, 0.45) is None
