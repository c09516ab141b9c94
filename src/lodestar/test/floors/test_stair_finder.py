"""Tests of finding flights of stairs in the heights of the lowest surfaces."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.stair_finder import HINT, StairConfig, find_flights

CELL = 0.1
SIZE = 100  # cells per side


def heights_of(
    yaw: float, rise: float, tread: float, steps: int, down: bool, noise: float, seed: int, unseen: float
) -> np.ndarray:
    """Return heights of a floor at 1 m with a flight of 1.4 m width; a share of the cells is unseen."""
    rng = np.random.default_rng(seed)
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) * CELL - SIZE * CELL / 2.0
    along, across = x * math.cos(yaw) + y * math.sin(yaw), -x * math.sin(yaw) + y * math.cos(yaw)
    step = np.floor(along / tread) + 1.0
    on = (np.abs(across) <= 0.7) & (along >= 0.0) & (step <= steps)
    heights = np.where(on, 1.0 + (-1.0 if down else 1.0) * rise * step, np.where(along < 0.0, 1.0, np.nan))
    heights = heights + rng.normal(0.0, noise, heights.shape)
    heights[rng.random(heights.shape) < unseen] = np.nan
    return heights.astype(np.float32)


@given(
    yaw=st.floats(-math.pi, math.pi), rise=st.floats(0.13, 0.16), tread=st.floats(0.28, 0.32),
    steps=st.integers(7, 14), down=st.booleans(), noise=st.floats(0.0, 0.015), seed=st.integers(0, 99),
    unseen=st.floats(0.0, 0.3),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_flight_is_found_with_its_edge_and_its_way_up(
    yaw, rise, tread, steps, down, noise, seed, unseen
) -> None:
    heights = heights_of(yaw, rise, tread, steps, down, noise, seed, unseen)
    found = find_flights(heights, (-SIZE * CELL / 2.0,) * 2, CELL, 1.0, StairConfig())
    assert len(found) == 1
    flight = found[0]
    assert (flight.upper == -1) is down and (flight.lower == -1) is not down
    entry = flight.entry(-1)
    assert abs(math.remainder(entry[2] - yaw, math.tau)) < math.radians(6.0)
    beside = abs(-entry[0] * math.sin(yaw) + entry[1] * math.cos(yaw))
    assert (
        beside < 0.2 and math.hypot(entry[0], entry[1]) < 0.45
    )  # the edge is at the first step, or one tread further
    assert not flight.refused


@given(yaw=st.floats(-math.pi, math.pi), rise=st.floats(0.19, 0.22), down=st.booleans())
@settings(max_examples=15, deadline=None)
def test_a_steep_flight_is_found_and_refused(yaw, rise, down) -> None:
    heights = heights_of(yaw, rise, 0.26, 10, down, 0.005, 0, 0.0)
    for flight in find_flights(heights, (-SIZE * CELL / 2.0,) * 2, CELL, 1.0, StairConfig()):
        assert "steep" in flight.refused


@given(
    seed=st.integers(0, 200), boxes=st.integers(1, 12),
    slope=st.floats(0.0, 0.25), yaw=st.floats(-math.pi, math.pi),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_furniture_walls_and_ramps_are_no_flights(seed, boxes, slope, yaw) -> None:
    rng = np.random.default_rng(seed)
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) * CELL
    heights = 1.0 + slope * np.clip(x * math.cos(yaw) + y * math.sin(yaw), 0.0, None)
    for _ in range(boxes):
        row, column = rng.integers(0, SIZE - 25, 2)
        height, width = rng.integers(3, 25, 2)
        heights[row : row + height, column : column + width] += rng.uniform(0.2, 2.0)
    found = find_flights(heights.astype(np.float32), (0.0, 0.0), CELL, 1.0, StairConfig())
    assert not found


def test_nothing_is_found_where_nothing_was_seen() -> None:
    assert find_flights(np.full((5, 5), np.nan, np.float32), (0.0, 0.0), CELL, 0.0, StairConfig()) == []


@given(
    yaw=st.floats(-math.pi, math.pi), rise=st.floats(0.13, 0.16), steps=st.integers(3, 5), width=st.floats(0.45, 1.0),
    down=st.booleans(), seed=st.integers(0, 99), unseen=st.floats(0.0, 0.3),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_few_steps_that_are_no_flight_yet_are_a_hint(yaw, rise, steps, width, down, seed, unseen) -> None:
    heights = heights_of(yaw, rise, 0.3, steps, down, 0.01, seed, unseen)
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) * CELL - SIZE * CELL / 2.0
    across = -x * math.sin(yaw) + y * math.cos(yaw)
    along = x * math.cos(yaw) + y * math.sin(yaw)
    heights[(np.abs(across) > width / 2.0) & (along > 0.0)] = np.nan  # walls hide the rest
    seen = heights, (-SIZE * CELL / 2.0,) * 2, CELL, 1.0
    places = [one.entry(-1)[:2] for one in (*find_flights(*seen, StairConfig()), *find_flights(*seen, HINT))]
    assert any(math.hypot(*place) < 0.8 for place in places)
