"""Tests that passages are updated by new views, and a short first view does not reject a flight of stairs for good."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.config import FLOORS_CONFIRMATIONS, FloorsConfig
from lodestar.floors.passage_finder import PassageFinder
from lodestar.floors.records import Building, Floor
from lodestar.floors.stair_finder import is_in_doubt

CELL, SIZE = 0.1, 120  # m, side of a cell; cells per side


def surface(slope: float, shown: float, width: float = 1.3, step: float = 0.155) -> tuple:
    """Return a floor at 0 m with a flight from x = 0, of which the first `shown` metres in plan are seen."""
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) * CELL - SIZE * CELL / 2.0
    heights = step * (np.floor(x / (step / slope)) + 1.0)
    on = (np.abs(y) <= width / 2.0) & (x >= 0.0) & (x <= shown)
    heights = np.where(on, heights, np.where(x < 0.0, 0.0, np.nan))
    return heights.astype(np.float32), (-SIZE * CELL / 2.0,) * 2, CELL, 0.0


def steeper(seen: tuple, by: float) -> tuple:
    """Return the surface with the heights of its steps scaled."""
    heights, *rest = seen
    return (np.where(heights > 0.0, heights * by, heights).astype(np.float32), *rest)


def after(*seen: tuple) -> Building:
    """Return the building after each surface was seen as often as a confirmation needs."""
    config = FloorsConfig(stairs=True)
    finder, building = PassageFinder(config), Building((Floor(1, 0, 0.0),), active=1)
    for one in seen:
        for _ in range(FLOORS_CONFIRMATIONS):
            building = finder.update(building, one)
    return building


@given(
    slope=st.floats(0.45, 0.52), off=st.floats(1.0, 1.35), first=st.floats(1.2, 2.0), rest=st.floats(3.0, 5.0)
)
@settings(max_examples=40, deadline=None)
def test_a_flight_that_looked_too_steep_is_taken_once_more_of_it_is_seen(slope, off, first, rest) -> None:
    short = steeper(surface(slope, first), off)
    before, seen = after(short), after(short, surface(slope, rest))
    assert len(seen.passages) == 1 and not seen.passages[0].refused
    for passage in before.passages:
        entry = passage.entry(1)[:2]
        # a doubtful flight attracts the robot, but it must not walk it
        if is_in_doubt(passage):
            assert passage.refused and not before.ways_from(1)
            assert any(math.dist(hint.place, entry) < 0.01 for hint in before.hints)


@given(slope=st.floats(0.70, 0.85), parts=st.lists(st.floats(1.2, 5.0), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_a_steep_flight_is_taken_after_no_order_of_views(slope, parts) -> None:
    building = after(*(surface(slope, part) for part in parts))
    assert all("steep" in one.refused for one in building.passages)


@given(slope=st.floats(0.70, 0.85))
@settings(max_examples=10, deadline=None)
def test_a_steep_flight_that_was_seen_whole_draws_nobody(slope) -> None:
    building = after(surface(slope, 5.0))
    assert building.passages and building.hints == ()
    assert not any(is_in_doubt(one) for one in building.passages)


def test_a_passage_that_failed_stays_refused() -> None:
    config, seen = FloorsConfig(stairs=True), surface(0.5, 4.0)
    building = after(seen)
    failed = replace(building.passages[0], refused="somebody stood there")
    building, finder = building.with_passage(failed), PassageFinder(config)
    for shown in (3.0, 4.0, 5.0):
        building = finder.update(building, surface(0.5, shown))
    assert building.passages == (failed,)
