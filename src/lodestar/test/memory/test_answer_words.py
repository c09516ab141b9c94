"""Tests of times as words, of the share of looked-at floor, and of windows against a clock."""

from __future__ import annotations

import math
from datetime import datetime

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.records import spans_of
from lodestar.memory.answering.wording import ago_in_words
from lodestar.models.english import duration_in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0 seconds"), (1.0, "1 second"), (119.0, "119 seconds"), (480.0, "8 minutes"), (7300.0, "2 hours"),
     (3 * 86400.0, "3 days"), (-5.0, "0 seconds")],
)  # fmt: skip
def test_durations(seconds, words):
    assert duration_in_words(seconds) == words


def test_simulated_time_is_told_as_ago_and_wall_time_with_the_clock():
    assert ago_in_words(520.0, 1000.0) == "8 minutes ago"
    assert ago_in_words(999.0, 1000.0) == "just now"
    now = datetime(2026, 11, 23, 16, 0).timestamp()
    assert ago_in_words(datetime(2026, 11, 22, 14, 5).timestamp(), now) == "yesterday at 14:05 (26 hours ago)"
    assert ago_in_words(now - 480.0, now) == "8 minutes ago"


def test_spans_join_over_small_gaps():
    assert spans_of([(10.0, 12.0), (0.0, 3.0), (3.0, 6.0)], 2.0) == [(0.0, 6.0), (10.0, 12.0)]


def test_coverage_grows_with_looks_and_knows_when():
    grid = OccupancyGrid2D(np.zeros((100, 100), np.int8), 0.1, (0.0, 0.0))
    floor = np.ones(grid.cells.shape, bool)
    looks = FloorLooks()
    assert looks.coverage(grid, floor).share == 0.0
    looks.look(10.0, np.array([5.0, 5.0]), 0.0)
    one = looks.coverage(grid, floor)
    looks.look(20.0, np.array([5.0, 5.0]), math.pi)
    two = looks.coverage(grid, floor)
    assert 0.1 < one.share < two.share < 1.0
    assert (one.last, two.last) == (10.0, 20.0)
    assert looks.coverage(grid, floor, (5.0, 15.0)).share == pytest.approx(one.share)
    assert looks.coverage(grid, floor, (15.0, 16.0)).last is None


def test_walls_hide_the_floor_behind_them():
    cells = np.zeros((100, 100), np.int8)
    cells[:, 60:62] = 100
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    behind = np.zeros(cells.shape, bool)
    behind[:, 62:] = True
    looks = FloorLooks()
    looks.look(1.0, np.array([5.0, 5.0]), 0.0)
    assert looks.coverage(grid, behind).share == 0.0


def test_looks_are_bounded_and_bad_ones_dropped(monkeypatch):
    monkeypatch.setattr("lodestar.memory.answering.coverage.COVERAGE_MAX_LOOKS", 5)
    looks = FloorLooks()
    for k in range(20):
        looks.look(float(k), np.array([k, 0.0]), 0.0)
    looks.look(3.0, np.array([0.0, 0.0]), 0.0)  # older than the last look
    looks.look(50.0, np.array([np.nan, 0.0]), 0.0)
    assert len(looks) == 5
