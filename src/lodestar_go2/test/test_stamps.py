"""Tests of the correction of the robot's stamps: offset, repetitions, late messages, restarts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar_go2.stamps import STAMP_SLACK, STAMP_STEP, StampRepair


def test_another_clock_is_found_by_the_smallest_delay() -> None:
    repair, rng = StampRepair(), np.random.default_rng(0)
    errors = []
    for i in range(500):
        stamp = 1000.0 + 0.02 * i  # robot's clock, 40 s ahead of ours
        delay = 0.002 + (0.2 if rng.random() < 0.15 else 0.0)
        given_out = repair.repaired(stamp, stamp - 40.0 + delay)
        if given_out is not None and i > 10:
            errors.append(given_out - (stamp - 40.0))
    assert repair.offset == pytest.approx(-39.998)
    assert len(errors) > 480 and np.abs(errors).max() < 0.01


def test_repeated_and_late_stamps_are_dropped_and_counted() -> None:
    repair = StampRepair()
    assert repair.repaired(10.0, 10.0) == pytest.approx(10.0)
    assert repair.repaired(10.0, 10.02) is None
    assert repair.repaired(9.9, 10.04) is None
    assert repair.repaired(10.1, 10.1) == pytest.approx(10.1)
    assert repair.counts == {"repeated": 1, "late": 1}


def test_a_restarted_clock_is_followed() -> None:
    repair = StampRepair()
    for i in range(10):
        repair.repaired(500.0 + i * 0.1, 100.0 + i * 0.1)
    first = repair.repaired(1.0, 101.5)
    assert first == pytest.approx(101.5)
    assert repair.repaired(1.1, 101.6) == pytest.approx(101.6)
    assert repair.counts["clock_restarts"] == 1


def test_a_message_without_a_stamp_gets_the_time_of_arrival() -> None:
    repair = StampRepair()
    assert repair.repaired(0.0, 7.0) == 7.0
    assert repair.counts["without_stamp"] == 1


@given(st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(0.0, 0.5)), max_size=60))
def test_what_is_given_out_ascends_and_never_lies_in_the_future(messages: list[tuple[float, float]]) -> None:
    repair, newest, arrival = StampRepair(), -1.0, 0.0
    for stamp, wait in messages:
        arrival += wait
        mapped = repair.repaired(stamp, arrival)
        if mapped is not None:
            assert newest < mapped <= arrival + 1e-9
            newest = mapped


@given(
    step=st.sampled_from([-3600.0, -30.0, -2.0, -0.4, 0.25, 0.4, 0.8, 1.0, 3.0, 60.0, 3600.0]),
    told=st.booleans(),
    seed=st.integers(0, 999),
)
def test_a_wall_clock_that_is_set_silences_the_robot_for_a_moment_at_most(step, told, seed) -> None:
    """told: the node's watch of the wall clock says so too. Half of the messages come 0.1 s late."""
    previous = 0.0
    repair, used, late = StampRepair(), [], np.random.default_rng(seed).random(500) < 0.5
    for i in range(500):
        t = 0.02 * i
        if told and i == 260:
            repair.restart_clock()
        arrival = 1000.0 + t + (step if t >= 5.0 else 0.0) + (0.1 if late[i] else 0.002)
        arrival = max(arrival, previous) if i and (t < 5.0 or t > 5.1) else arrival
        previous = arrival
        stamp = repair.repaired(77.0 + t, arrival)
        if stamp is not None:
            used.append(t)
            if t > 6.0:
                assert -STAMP_SLACK <= stamp - (1000.0 + t + step) <= 0.1 + 1e-6
    after = [t for t in used if t >= 5.0]
    assert after and np.diff([4.98, *after]).max() < 0.5, "no longer than BASE_STATE_TIMEOUT"


def test_a_burst_after_a_stall_is_late_and_no_step_of_our_clock() -> None:
    repair = StampRepair()
    for i in range(200):
        t = 0.02 * i
        repair.repaired(10.0 + t, 10.0 + max(t, 2.9) if t > 2.0 else 10.0 + t)  # 0.9 s arrive at once
    assert repair.counts["steps_of_our_clock"] == 0 and STAMP_STEP < 0.9
    assert repair.offset == pytest.approx(0.0)
