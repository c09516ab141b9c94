"""Tests that changes of floor are found from the height and tilt of the robot's base."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.watch import HeightWatch, Stand

STEP = 0.1  # s between two poses
SLOPE = math.atan(0.52)  # rad, slope of the generated flights


def follow(watch: HeightWatch, points: list[tuple[float, float, float]], start: float = 0.0) -> list[Stand]:
    """Return the stand after each of (x, height, tilt), STEP seconds apart."""
    return [
        watch.observe(start + i * STEP, np.array([x, 0.0, z]), tilt) for i, (x, z, tilt) in enumerate(points)
    ]


def walk(rise: float, start: float = 0.0) -> list[tuple[float, float, float]]:
    """Return a walk over a flight at 0.25 m/s, and 2 s on the level beyond."""
    run = abs(rise) / 0.52
    steps = int(run / (0.25 * STEP))
    over = [(0.025 * i, start + rise * i / steps, SLOPE) for i in range(steps)]
    return [*over, *((run + 0.025 * i, start + rise, 0.0) for i in range(20))]


@given(st.floats(2.0, 5.0), st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_flight_is_a_way_between_two_floors(rise: float, down: bool) -> None:
    watch = HeightWatch()
    watch.observe(-1.0, np.zeros(3), 0.0)
    stands = follow(watch, walk(-rise if down else rise))
    assert Stand.AWAY in stands and stands[-1] is Stand.LANDED
    assert abs(abs(watch.over_floor) - rise) < 0.1


@given(st.floats(-0.5, 0.5), st.integers(20, 200))
@settings(max_examples=25, deadline=None)
def test_heights_that_drift_change_no_floor(drift: float, metres: int) -> None:
    watch = HeightWatch()
    points = [(0.1 * i, drift * i / (10 * metres), 0.01) for i in range(10 * metres)]
    assert set(follow(watch, points)) == {Stand.ON} and not watch.is_climbing


@given(st.floats(0.0, 0.087), st.floats(1.0, 12.0))
@settings(max_examples=25, deadline=None)
def test_a_ramp_that_is_floor_changes_no_floor(slope: float, run: float) -> None:
    watch = HeightWatch()
    points = [(0.05 * i, 0.05 * i * slope, math.atan(slope)) for i in range(int(run / 0.05))]
    assert set(follow(watch, points)) == {Stand.ON} and not watch.is_climbing


def test_who_is_carried_is_noticed_before_the_plan_takes_a_turn_up_there() -> None:
    watch = HeightWatch()
    watch.observe(-1.0, np.zeros(3), 0.0)
    for i in range(30):
        watch.observe(i * STEP, np.array([0.0, 0.0, 0.1 * i]), 0.0)
        assert 0.1 * i < 0.3 or watch.is_climbing or watch.stand is not Stand.ON


@given(st.floats(-0.9, 0.9))
@settings(max_examples=25, deadline=None)
def test_who_stands_level_at_one_height_climbs_no_longer(height: float) -> None:
    """The robot may have stood up or been put on a stage, so it must identify its floor before it moves."""
    watch = HeightWatch()
    watch.observe(-1.0, np.zeros(3), 0.0)
    follow(watch, [(0.0, height * i / 10, 0.0) for i in range(11)])
    follow(watch, [(0.0, height, 0.0)] * 15, 2.0)
    assert watch.stand is Stand.ON and not watch.is_climbing


def test_a_pose_that_is_not_finite_changes_nothing() -> None:
    watch = HeightWatch()
    watch.observe(0.0, np.zeros(3), 0.0)
    assert watch.observe(0.1, np.array([0.0, 0.0, np.nan]), 0.0) is Stand.ON and watch.over_floor == 0.0
