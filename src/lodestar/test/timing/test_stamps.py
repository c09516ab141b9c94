"""Parts that work at one period pick the same stamps, whichever came first."""

from __future__ import annotations

import numpy as np

from lodestar.timing.stamps import Periodic, Phased

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
