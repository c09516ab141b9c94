"""Tests of the seconds to a goal: monotone in path and turn, never below either alone."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.grid.pace import seconds_to

LENGTHS, TURNS = st.floats(0.0, 100.0), st.floats(-math.pi, math.pi)
PACES = st.fixed_dictionaries({
    "SPEED": st.floats(0.05, 3.0), "TURN": st.floats(0.1, 3.0), "OVERLAP": st.floats(0.0, 1.0),
    "LOOK": st.floats(0.1, 5.0), "VERIFY": st.floats(0.0, 9.0),
})  # fmt: skip


def seconds_at(pace, length, turn, verifies=False):
    """Return `seconds_to` for a robot of this pace."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in pace.items():
            patch.setattr(f"lodestar.grid.pace.PACE_{name}", value)
        return seconds_to(length, turn, verifies)


@given(LENGTHS, TURNS, PACES, st.booleans())
def test_seconds_lie_between_the_longer_of_both_and_their_sum(length, turn, pace, verifies):
    drive, turning = length / pace["SPEED"], abs(turn) / pace["TURN"]
    moving = seconds_at(pace, length, turn, verifies) - pace["LOOK"] - verifies * pace["VERIFY"]
    assert max(drive, turning) - 1e-6 <= moving <= drive + turning + 1e-6


@given(LENGTHS, LENGTHS, TURNS, PACES)
def test_a_longer_way_never_takes_less(length, more, turn, pace):
    assert seconds_at(pace, length + more, turn) >= seconds_at(pace, length, turn) - 1e-9
