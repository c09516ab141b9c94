"""Tests of durations, times of day, and the next time of a schedule."""

from __future__ import annotations

from datetime import datetime

import pytest

from lodestar.missions.records import Schedule
from lodestar.missions.times import clock_words, next_due, seconds_of, time_of_day


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("90 s", 90.0),
        ("5min", 300.0),
        ("1 h 30 min", 5400.0),
        ("2 hours", 7200.0),
        ("1 Day", 86400.0),
        (12, 12.0),
    ],
)
def test_durations(said, seconds):
    assert seconds_of(said) == seconds


@pytest.mark.parametrize(
    "said", ["", "soon", "5", "5 s later", "3 fortnights", 0, -1, "32 days", True, None, [5]]
)
def test_what_is_no_duration(said):
    with pytest.raises(ValueError):
        seconds_of(said)


@pytest.mark.parametrize("said", ["24:00", "7", "7:60", "noon", 1320, None])
def test_what_is_no_time_of_day(said):
    with pytest.raises(ValueError):
        time_of_day(said)


def at(day, hour, minute=0):
    return datetime(2026, 11, day, hour, minute).timestamp()


TWICE = Schedule(((2, 30), (22, 0)), window=3600.0)


@pytest.mark.parametrize(
    ("now", "after", "due"),
    [
        (at(3, 12), at(3, 12), at(3, 22)),
        (at(3, 22), at(3, 21), at(3, 22)),
        (at(3, 22, 59), at(3, 21), at(3, 22)),
        (at(3, 23, 1), at(3, 21), at(4, 2, 30)),
        (at(3, 22, 10), at(3, 22), at(4, 2, 30)),  # the 22:00 round has been done already
        (at(9, 12), at(3, 12), at(9, 22)),  # off for days
    ],
)
def test_the_next_time_of_a_schedule(now, after, due):
    assert next_due(TWICE, now, after) == due


def test_only_the_days_that_are_named():
    weekend = Schedule(((8, 0),), frozenset({5, 6}))
    due = next_due(weekend, at(3, 12), at(3, 12))  # due on a Tuesday
    assert due == at(7, 8) and clock_words(due) == "Sat 08:00"
