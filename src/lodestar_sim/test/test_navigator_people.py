"""Tests of people on the path: the robot keeps the comfort distance if there is room, and never waits forever."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from lodestar.grid.comfort import with_comfort
from lodestar.grid.config import ComfortConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.overlay import with_keep_out
from lodestar_sim.clearance import Clearance
from lodestar_sim.courtesy import Courtesy
from lodestar_sim.navigator import Navigator, NavigatorConfig, NavigatorStatus
from lodestar_sim.path_follower import SLOW_SPEED, rolled_out


def _among(people, width=4.0):
    """Return the grid of an open room 8 m long, with comfort zones of people (x, y, vx, vy)."""
    plan = OccupancyGrid2D(np.zeros((round(width / 0.05), 160), np.int8), 0.05, (0.0, 0.0))
    zones = with_comfort(None, plan, np.array(people, float).reshape(-1, 4), ComfortConfig(), 0.0)
    return with_keep_out(plan, zones)


def _drive(grid_at, goal, start, seconds=60.0):
    """Drive a robot without dynamics; return its path (N, 3) and the last step of the navigator."""
    navigator, pose, path, velocity = Navigator(), np.array(start, float), [], np.zeros(3)
    navigator.set_goal(goal)
    for k in range(int(seconds / 0.1)):
        step = navigator.update(0.1 * k, grid_at(0.1 * k), pose, velocity)
        path.append(pose.copy())
        if step.status is not NavigatorStatus.ACTIVE:
            break
        velocity = step.command
        pose = rolled_out(pose, step.command, np.array([0.1]))[0]
    return np.array(path), step


def test_it_keeps_the_comfort_distance_where_there_is_room():
    person = np.array([4.0, 2.0])
    path, step = _drive(lambda now: _among([(*person, 0, 0)]), (7.0, 2.0, 0.0), (1.0, 2.0, 0.0))
    assert step.status is NavigatorStatus.SUCCEEDED
    assert np.linalg.norm(path[:, :2] - person, axis=1).min() > 0.9 * ComfortConfig().distance


def test_in_a_corridor_it_waits_and_then_passes_slowly_and_never_stays_for_ever():
    """The person stands at the side, so that only the comfort distance blocks the corridor."""
    config = NavigatorConfig()
    path, step = _drive(lambda now: _among([(4.0, 0.2, 0, 0)], 1.2), (7.0, 0.7, 0.0), (1.0, 0.7, 0.0))
    assert step.status is NavigatorStatus.SUCCEEDED
    waiting = np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1) / 0.1 < 0.6 * SLOW_SPEED
    assert waiting.sum() * 0.1 >= 0.6 * config.comfort_patience
    near = np.linalg.norm(path[:-1, :2] - (4.0, 0.2), axis=1) < 1.0
    speeds = np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1)[near] / 0.1
    assert speeds.max() <= SLOW_SPEED + 0.02


def test_a_walker_who_comes_to_it_is_let_pass():
    def walker(now):
        return _among([(7.0 - 0.8 * now, 2.0, -0.8, 0.0)] if now < 8.0 else [])

    path, step = _drive(walker, (7.0, 2.0, 0.0), (1.0, 2.0, 0.0))
    assert step.status is NavigatorStatus.SUCCEEDED
    moves = np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1) > 0.005
    away = np.array([abs(7.0 - 0.08 * k - path[k, 0]) + abs(2.0 - path[k, 1]) for k in range(len(path) - 1)])
    assert away[moves & (np.arange(len(moves)) < 80)].min() > 0.5


def test_a_crowd_in_the_way_ends_with_a_code_or_behind_it():
    """Five people block a corridor, also as occupied cells: the goal is aborted with an error code."""
    grid = _among([(4.0, 0.2 * k + 0.2, 0, 0) for k in range(5)], 1.2)
    cells = grid.cells.copy()
    cells[:, 78:82] = 100
    path, step = _drive(lambda now: replace(grid, cells=cells), (7.0, 0.7, 0.0), (1.0, 0.7, 0.0), 120.0)
    assert step.status is NavigatorStatus.ABORTED and step.error_code and step.error_msg
    assert path[:, 0].max() < 3.6


def test_it_steps_aside_for_one_who_walks_straight_at_it_and_never_nears_one_by_itself():
    """The walker neither gives way nor waits; in the narrow corridor the robot has no room to step aside."""

    def meet(width):
        def walker(now):
            return np.array([6.0 - 0.8 * now, width / 2.0])

        path, _ = _drive(
            lambda now: _among([(*walker(now), -0.8, 0.0)], width), (7.0, width / 2.0, 0.0),
            (2.0, width / 2.0, 0.0), 8.0,
        )  # fmt: skip
        nearest = np.inf
        for k in range(1, len(path)):
            then, now = (math.dist(walker(0.1 * k), path[i, :2]) for i in (k - 1, k))
            nearest = min(nearest, now)
            assert now > 1.0 or now >= then - 0.01
        return nearest

    assert meet(4.0) > 0.5
    meet(0.7)


def test_it_stands_for_one_who_walks_through_it_also_when_it_need_not_let_people_pass_any_more():
    """With its patience used up, the robot still stops on the path of a walker, but not beside the walker."""
    clearance = Clearance(_among([(2.0, 2.0, 0.8, 0.0)]))
    clearance.yields = False
    assert clearance.stands_at_people(np.array([2.6, 2.0, 0.0])), "on their way"
    assert not clearance.stands_at_people(np.array([2.0, 2.45, 0.0])), "beside them"


def _paces(now, low=3.0, high=6.0, speed=0.8):
    """Return x and vx of a person who walks to and fro between `low` and `high`."""
    way = (speed * now) % (2.0 * (high - low))
    return (low + way, speed) if way < high - low else (2.0 * high - low - way, -speed)


def test_it_never_nears_one_who_paces_before_it_while_it_has_patience_and_passes_in_the_end():
    """A person paces in a corridor of 1.6 m in front of the goal; a standing person would be passed after 6 s."""

    def walker(now):
        x, speed = _paces(now)
        return np.array([x, 0.8, speed, 0.0])

    path, step = _drive(lambda now: _among([walker(now)], 1.6), (7.4, 0.8, 0.0), (1.0, 0.8, 0.0), 120.0)
    for k in range(1, min(len(path), 250)):
        then, now = (math.dist(walker(0.1 * k)[:2], path[i, :2]) for i in (k - 1, k))
        assert now > 1.0 or now >= then - 0.01, f"nearer by itself at {0.1 * k:.1f} s"
    assert step.status is NavigatorStatus.SUCCEEDED


@given(way=st.floats(0.0, 2.0 * math.pi), speed=st.floats(0.0, 1.4), away=st.floats(0.3, 1.0))
def test_patience_ends_for_those_who_stand_and_not_for_those_who_walk(way, speed, away):
    """After the patience, the robot yields to walkers only; speeds of 0.2 to 0.6 m/s are ambiguous and skipped."""
    assume(not 0.2 < speed < 0.6)
    courtesy, pose = Courtesy(6.0, 10.0), np.array([4.0, 2.0, 0.0])
    velocity = speed * np.array([math.cos(way), math.sin(way)])
    plan = _among([(4.0 + away, 2.0, *velocity)])
    for k in range(65):
        courtesy.observe(0.1 * k, True)
    assert courtesy.yields(6.5, plan, pose) is (speed >= 0.6)
    for k in range(65, 350):
        courtesy.observe(0.1 * k, True)
    assert not courtesy.yields(35.0, plan, pose), "nobody keeps it for ever"
