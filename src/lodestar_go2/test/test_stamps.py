"""Repair of the robot's stamps: offset, repetitions, late messages, restarts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar_go2.stamps import StampRepair


def test_another_clock_is_found_by_the_smallest_delay() -> None:
    repair, rng = StampRepair(), np.random.default_rng(0)
    errors = []
    for i in range(500):
        stamp = 1000.0 + 0.02 * i  # the robot's clock; ours is 40 s behind
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
