"""Tests of SPL, bootstrap intervals and related statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar_eval.metrics import (
    bootstrap_interval,
    defined,
    mean,
    paired_difference,
    share,
    share_interval,
    spl,
)
from lodestar_eval.stages import StageClock

lengths = st.floats(0.0, 500.0)


def test_spl_is_the_ratio_of_shortest_to_travelled():
    assert spl(True, 10.0, 20.0) == pytest.approx(0.5)


def test_spl_of_a_failure_is_zero():
    assert spl(False, 10.0, 10.0) == 0.0


def test_spl_never_rewards_a_path_shorter_than_the_shortest():
    assert spl(True, 10.0, 8.0) == 1.0


@pytest.mark.parametrize("success", [True, False])
@pytest.mark.parametrize("travelled", [0.0, 3.0])
def test_a_start_on_a_pose_of_success_has_no_spl(success, travelled):
    assert math.isnan(spl(success, 0.0, travelled))


def test_what_has_no_spl_is_left_out():
    assert defined([0.5, math.nan, 0.0, 1.0]) == [0.5, 0.0, 1.0]


def test_spl_of_a_target_that_no_path_leads_to():
    assert spl(False, math.inf, 3.0) == 0.0
    with pytest.raises(ValueError, match="no path"):
        spl(True, math.inf, 3.0)


@pytest.mark.parametrize("shortest, travelled", [(-1.0, 2.0), (math.nan, 2.0), (1.0, math.nan)])
def test_spl_refuses_lengths_that_are_none(shortest, travelled):
    with pytest.raises(ValueError, match="finite"):
        spl(True, shortest, travelled)


@given(lengths.filter(lambda length: length > 0.0), lengths)
def test_spl_lies_between_zero_and_one_and_falls_with_the_path(shortest, travelled):
    value = spl(True, shortest, travelled)
    assert 0.0 <= value <= 1.0
    assert spl(True, shortest, travelled + 1.0) <= value


def test_bootstrap_covers_the_mean_of_a_coin():
    rng = np.random.default_rng(0)
    low, high = bootstrap_interval([1.0] * 27 + [0.0] * 3, rng)
    assert low < 0.9 < high
    assert 0.75 <= low <= 0.82 and 0.98 <= high <= 1.0  # bounds of the binomial's 95 % range


def test_bootstrap_narrows_with_more_values():
    def width(n: int) -> float:
        low, high = bootstrap_interval([0.0, 1.0] * n, np.random.default_rng(1))
        return high - low

    assert width(200) < 0.5 * width(20)


def test_bootstrap_of_a_constant_and_of_nothing():
    assert bootstrap_interval([2.0] * 5, np.random.default_rng(0)) == (2.0, 2.0)
    assert all(math.isnan(x) for x in bootstrap_interval([], np.random.default_rng(0)))


def test_mean_skips_what_is_no_number_and_share_of_nothing_is_none():
    assert mean([1.0, math.nan, 3.0]) == 2.0
    assert math.isnan(mean([])) and math.isnan(share(0, 0))
    assert share(1, 4) == 0.25


def test_stage_clock_adds_up_across_episodes():
    clock = StageClock()
    with clock.stage("work"):
        sum(range(200_000))
    assert clock.seconds["work"] > 0.0
    clock.add("render", 0.3, calls=3)
    whole = StageClock.total([clock.totals(), clock.totals()])
    assert whole.seconds["render"] == pytest.approx(0.6)
    assert whole.milliseconds_per_call()["render"] == pytest.approx(100.0)


def test_a_share_of_all_cases_has_an_interval_of_its_own():
    low, high = share_interval(20, 20)
    assert low == pytest.approx(0.025 ** (1 / 20)) and high == 1.0
    assert share_interval(0, 20) == pytest.approx((0.0, 1.0 - 0.025 ** (1 / 20)))


def test_equal_successes_do_not_show_that_nothing_differs():
    value, low, high = paired_difference([1.0] * 20, [1.0] * 20, np.random.default_rng(0))
    assert value == 0.0 and low < -0.1 and high > 0.1
