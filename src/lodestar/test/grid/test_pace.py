"""Seconds to a goal: monotone in way and turn, never below either alone."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.grid.config import PaceConfig
from lodestar.grid.pace import seconds_to

LENGTHS, TURNS = st.floats(0.0, 100.0), st.floats(-math.pi, math.pi)
PACES = st.builds(
    PaceConfig,
    st.floats(0.05, 3.0),
    st.floats(0.1, 3.0),
    st.floats(0.0, 1.0),
    st.floats(0.1, 5.0),
    st.floats(0.0, 9.0),
)


@given(LENGTHS, TURNS, PACES, st.booleans())
def test_seconds_lie_between_the_longer_of_both_and_their_sum(length, turn, pace, verifies):
    drive, turning = length / pace.speed, abs(turn) / pace.turn
    moving = seconds_to(length, turn, pace, verifies) - pace.look - verifies * pace.verify
    assert max(drive, turning) - 1e-6 <= moving <= drive + turning + 1e-6


@given(LENGTHS, LENGTHS, TURNS, PACES)
def test_a_longer_way_never_takes_less(length, more, turn, pace):
    assert seconds_to(length + more, turn, pace) >= seconds_to(length, turn, pace) - 1e-9


def test_a_pace_that_is_none_is_refused():
    for wrong in ({"speed": 0.0}, {"turn": -1.0}, {"overlap": 1.5}, {"look": 0.0}, {"verify": -1.0}):
        with pytest.raises(ValueError, match="must be"):
            PaceConfig(**wrong)
