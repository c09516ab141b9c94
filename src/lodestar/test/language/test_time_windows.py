"""Tests of times in questions, resolved against a given clock."""

from __future__ import annotations

import math

import pytest

from lodestar.language.question_reader import read_question
from lodestar.language.time_windows import (
    DAY,
    Act,
    Clock,
    Event,
    TimeBasis,
    TimePoint,
    TimeWindow,
    ago,
    on_day,
)

MIDNIGHT = 1000 * DAY
CLOCK = Clock(
    MIDNIGHT + 15 * 3600.0, MIDNIGHT, MIDNIGHT + 9 * 3600.0
)  # now is 15:00; the session started at 9:00


def window(text, when=lambda event: None):
    found = read_question(text).window.resolve(CLOCK, when)
    return None if found is None else tuple((seconds - MIDNIGHT) / 3600.0 for seconds in found)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("what did you see in the last ten minutes?", (15 - 1 / 6, 15)),
        ("what did you see in the past hour?", (14, 15)),
        ("what did you see 2 hours ago?", (12.8, 13.2)),
        ("what did you see half an hour ago?", (14.45, 14.55)),
        ("what did you see yesterday?", (-24, 0)),
        ("what did you see today?", (0, 15)),
        ("what did you see this morning?", (5, 12)),
        ("what did you see yesterday evening?", (-7, -1)),
        ("what did you see last night?", (-4, 6)),
        ("what did you see since you started?", (9, 15)),
        ("what did you see before 10 am?", (-math.inf, 10)),
        ("what did you see after 2:30 pm?", (14.5, 15)),
        ("what did you see between 10:00 and 11:15?", (10, 11.25)),
        ("what did you see from 10 am to 1 pm?", (10, 13)),
        ("what did you see around noon at 12:00?", (12 - 1 / 12, 12 + 1 / 12)),
        ("what did you see?", (-math.inf, 15)),
    ],
)
def test_a_time_is_resolved_against_the_clock(text, hours):
    assert window(text) == pytest.approx(hours)


def test_nothing_lies_in_the_future():
    assert window("what did you see after 4 pm?") is None
    assert window("what did you see tonight?") is None
    assert window("what did you see between 14:00 and 18:00?") == pytest.approx((14, 15))


def test_a_window_around_an_event_needs_its_times():
    def when(event):
        assert event.act == Act("enter")
        return MIDNIGHT + 10 * 3600.0, MIDNIGHT + 11 * 3600.0

    assert window("what did you see before you entered the kitchen?", when) == pytest.approx((-math.inf, 10))
    assert window("what did you see after you entered the kitchen?", when) == pytest.approx((11, 15))
    assert window("what did you see while you entered the kitchen?", when) == pytest.approx((10, 11))
    assert window("what did you see after you entered the kitchen?") is None


def test_a_place_is_no_time():
    for text in (
        "what is by the door?",
        "is the lamp between the desk and the sofa?",
        "what is around the table?",
    ):
        assert not read_question(text).window


@pytest.mark.parametrize(
    "make",
    [
        lambda: TimePoint(TimeBasis.EVENT),
        lambda: TimePoint(TimeBasis.NOW, event=Event()),
        lambda: TimePoint(TimeBasis.NOW, math.nan),
        lambda: ago(4000 * DAY),
        lambda: on_day(-5000),
    ],
)
def test_what_is_no_time_is_refused(make):
    with pytest.raises(ValueError, match=r"ten years|event"):
        make()


def test_hours_past_a_day_are_of_the_next():
    assert on_day(-1, 30 * 3600.0) == on_day(0, 6 * 3600.0)
    assert bool(TimeWindow(on_day(0)))
    assert not TimeWindow()
