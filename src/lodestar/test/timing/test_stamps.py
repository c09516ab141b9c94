"""Tests that parts with the same period select the same stamps, whichever started first."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.timing.stamps import AttendedTime, CarriedStamp, NewestStamp, Periodic, Phased

STAMPS = np.arange(60) * 0.1 + 0.02


def picked(phased: Phased, stamps: np.ndarray) -> list[float]:
    return [round(float(stamp), 2) for stamp in stamps if phased.due(float(stamp))]


def test_those_that_begin_later_pick_the_same_stamps():
    first, second = picked(Phased(0.25), STAMPS), picked(Phased(0.25), STAMPS[13:])
    assert second[1:] == [stamp for stamp in first if stamp > second[0]]
    assert len(first) == 24, "four a second"


def test_a_stamp_on_the_edge_belongs_to_the_period_that_begins():
    assert len(picked(Phased(0.25), np.arange(40) * 0.25)) == 40


def test_after_a_reset_it_is_due_at_once():
    phased = Phased(1.0)
    assert phased.due(5.0) and not phased.due(5.5) and not phased.due(4.0)
    phased.restart_clock()
    assert phased.due(4.0)


def test_without_a_period_every_stamp_is_due():
    assert len(picked(Phased(0.0), STAMPS)) == 60


def test_a_period_is_not_shortened_by_stamps_out_of_order():
    every = Periodic(1.0)
    assert every.due(10.0) and not every.due(9.5) and not every.due(10.9)
    assert every.due(11.0)


def test_a_clock_that_goes_back_begins_the_period_anew():
    every = Periodic(1.0)
    assert every.due(11.0) and every.due(2.0) and not every.due(2.5) and every.due(3.0)


def due_with_a_late_stream(lag: float, begin: float, newest: NewestStamp, every: Periodic) -> int:
    """Count due stamps in ten seconds of scans at 4 Hz and of images at 5 Hz whose stamps are late by `lag`."""
    events = sorted(
        [(k / 4.0, "turns", 0.0) for k in range(40)] + [(k / 5.0 + 0.01, "images", lag) for k in range(50)]
    )
    return sum(every.due(newest.take(stream, begin + at - late)) for at, stream, late in events)


@given(st.floats(0.0, 5.0), st.floats(-1e4, 1e4).filter(lambda begin: begin <= -6.0 or begin >= 16.0))
def test_a_stream_that_lags_makes_nothing_due_and_a_clock_that_restarts_does(lag, begin):
    newest, every = NewestStamp(), Periodic(0.25)
    assert due_with_a_late_stream(lag, 0.0, newest, every) <= 41
    assert 38 <= due_with_a_late_stream(lag, begin, newest, every) <= 48, "soon by the new clock"


def test_the_newest_stamp_goes_back_with_a_streams_own_stamps_alone():
    newest = NewestStamp()
    assert newest.take("turns", 10.0) == 10.0 and newest.take("images", 4.0) == 10.0
    assert newest.take("turns", 9.8) == 10.0, "a stamp out of order"
    assert newest.take("images", 1.0) == 1.0 and newest.take("turns", 1.2) == 1.2
    newest.restart_clock()
    assert newest.take("turns", 0.5) == 0.5


@given(st.floats(-1e6, 1e6), st.floats(0.0, 100.0))
def test_a_stamp_is_carried_on_by_the_steady_clock_whatever_the_offset(stamp, passed):
    steady = [50.0]
    clock = CarriedStamp(lambda: steady[0])
    assert clock.now == -math.inf, "no time yet"
    clock.take(stamp)
    steady[0] += passed
    assert abs(clock.now - stamp - passed) < 1e-6


def test_of_a_gap_between_two_looks_only_a_part_counts() -> None:
    time = AttendedTime(0.5)
    assert [time.at(now) for now in (7.0, 7.2, 7.7, 60.0, 59.0, 59.1)] == pytest.approx(
        [0.0, 0.2, 0.7, 1.2, 1.2, 1.3]
    )
