"""Tests of seconds by the robot's activity, and of success weighted by completion time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_episodes_table import outcome

from lodestar_eval.metrics import sct
from lodestar_eval.time_split import KINDS, TimeWatcher, quickest
from lodestar_eval.time_tables import time_metrics, time_table
from lodestar_sim.robot import (
    ROBOT_BRAKING,
    CollisionRaster,
    LocalizationConfig,
    OdometryConfig,
    Robot,
    RobotConfig,
)

ROBOT = RobotConfig()
speeds = st.floats(-2.0, 2.0)


@given(
    st.lists(
        st.tuples(st.floats(0.01, 5.0), speeds, speeds, speeds, st.sampled_from(["DECIDING", "NAVIGATING"]))
    )
)
def test_every_second_is_of_one_kind_and_every_standing_one_has_a_reason(steps):
    watcher, now = TimeWatcher(100.0), 100.0
    for passed, *velocity, state in steps:
        now += passed
        watcher.observe(now, np.array(velocity), state)
    seconds = watcher.seconds
    assert sum(seconds[kind] for kind in KINDS) == pytest.approx(now - 100.0)
    assert sum(s for name, s in seconds.items() if "." in name) == pytest.approx(seconds["standing"])


@pytest.mark.parametrize(
    "velocity, kind",
    [
        ((0.3, 0.0, 0.9), "driving"),
        ((0.0, -0.3, 0.0), "driving"),
        ((0.0, 0.01, -0.5), "turning"),
        ((0.0, 0.0, 0.0), "standing"),
    ],
)  # fmt: skip
def test_who_drives_and_turns_drives(velocity, kind):
    watcher = TimeWatcher(0.0)
    watcher.observe(2.0, np.array(velocity), "NAVIGATING")
    assert watcher.seconds[kind] == 2.0


@given(st.floats(0.0, 200.0), st.floats(0.0, 50.0))
def test_a_longer_way_takes_longer_and_none_is_faster_than_the_limit(length, more):
    assert quickest(length, ROBOT) >= length / ROBOT.max_forward
    assert quickest(length + more, ROBOT) >= quickest(length, ROBOT)


@pytest.mark.parametrize("length", [0.05, 0.4, 3.0])
def test_the_simulated_robot_comes_close_to_the_shortest_time_and_never_beats_it(length):
    empty = CollisionRaster(np.zeros((0, 3)), np.zeros((0, 3)))
    robot = Robot(ROBOT, OdometryConfig(), LocalizationConfig(), np.zeros(3), np.random.default_rng(0))
    taken = 0.0
    while taken == 0.0 or robot.velocity[0] > 0.0:
        rolls = robot.velocity[0] ** 2 / 2.0 / ROBOT_BRAKING
        robot.command((0.0 if robot.pose[0] + rolls >= length else ROBOT.max_forward, 0.0, 0.0))
        robot.step(0.005, empty, [])
        taken += 0.005
    least = quickest(robot.pose[0], ROBOT)
    assert robot.pose[0] >= 0.8 * length and least - 0.02 <= taken <= least + 0.05


def test_sct_of_a_failure_is_zero_and_of_a_start_at_the_goal_undefined():
    assert sct(False, 5.0, 100.0) == 0.0
    assert sct(True, 5.0, 20.0) == 0.25
    assert sct(True, 5.0, 4.0) == 1.0
    assert math.isnan(sct(True, 0.0, 4.0)) and math.isnan(sct(True, math.nan, 4.0))
    assert sct(False, math.inf, 600.0) == 0.0


def test_a_table_says_where_the_seconds_go():
    seconds = {
        "driving": 30.0,
        "turning": 20.0,
        "standing": 10.0,
        "standing.deciding": 8.0,
        "standing.navigating": 2.0,
    }
    made = replace(outcome(1, True, True, {}), duration=60.0, seconds=seconds, seen_after=45.0, quickest=15.0)
    unseen = replace(made, success=False, seen_after=math.nan, seconds=seconds | {"standing.verifying": 0.0})
    metrics = time_metrics([made, unseen])
    assert metrics["sct"] == 0.125 and metrics["time_share.standing"] == pytest.approx(1 / 6)
    assert metrics["seconds_to_view"] == 45.0 and metrics["seconds_from_view"] == 15.0
    assert metrics["never_in_view"] == 1
    table = time_table(
        {("unexplored", "bandit"): [made, unseen], ("unexplored", "reference"): [outcome(1, True, True, {})]}
    )
    assert len(table.rows) == 1 and len(table.rows[0]) == len(table.columns)
