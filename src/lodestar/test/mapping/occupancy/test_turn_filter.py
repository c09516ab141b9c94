"""Tests that fewer scans of a standing LiDAR are used."""

from __future__ import annotations

import numpy as np

from lodestar.mapping.occupancy.turn_filter import TurnFilter


def taken(speed: float, seconds: float = 4.0) -> int:
    """Return the number of accepted scans of a 10 Hz LiDAR that moves at `speed`."""
    thinning, count = TurnFilter(), 0
    for stamp in np.arange(0.0, seconds, 0.1):
        if thinning.due(stamp):
            count += thinning.takes(stamp, np.array([speed * stamp, 0.0, 0.5]))
    return count


def test_the_faster_it_moves_the_more_is_taken_in():
    assert taken(0.0) == 7  # at 0.0, 0.6, 1.2 ... s: still_period is no multiple of the period
    assert taken(0.0) <= taken(0.25) < taken(0.8)
    assert taken(0.8) == 14, "every third one, as `period` has it"


def test_a_place_that_differs_in_height_only_is_another_place():
    thinning = TurnFilter()
    assert thinning.takes(0.0, np.zeros(3))
    assert not thinning.takes(0.2, np.zeros(3))
    assert thinning.takes(0.4, np.array([0.0, 0.0, 0.2]))


def test_after_a_reset_or_a_clock_that_went_back_the_next_is_taken_in():
    thinning = TurnFilter()
    assert thinning.due(10.0) and thinning.takes(10.0, np.zeros(3))
    assert thinning.takes(1.0, np.zeros(3)), "the clock went back"
    thinning.restart_clock()
    assert thinning.due(1.1) and thinning.takes(1.1, np.zeros(3))
