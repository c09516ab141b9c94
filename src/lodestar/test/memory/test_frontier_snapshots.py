"""Tests of the choice of an image that shows a frontier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.snapshots.frontiers import FrontierImageChoice, overlap

CELLS = np.arange(100)
PLACE = np.array([4.0, 2.0])


def grid(stamp=0.0):
    return OccupancyGrid2D(np.zeros((40, 80), np.int8), 0.1, (0.0, 0.0), stamp)


def choice():
    made = FrontierImageChoice()
    made.images.add(1, 1.0, 2.0, 0.0, 1.2)
    return made


@pytest.mark.parametrize(("left", "renewed"), [(100, False), (95, False), (94, True), (10, True)])
def test_a_frontier_gets_a_new_image_below_an_iou_of_95_percent(left, renewed):
    made = choice()
    assert made.refresh(5, CELLS, grid(), PLACE) == (1, 0.0)
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)  # a nearer camera
    assert made.refresh(5, CELLS[:left], grid(7.0), PLACE) == ((2, 7.0) if renewed else (1, 0.0))


def test_a_frontier_whose_keyframe_is_gone_gets_the_next_one_or_none():
    made = choice()
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)
    assert made.refresh(5, CELLS, grid(), PLACE)[0] == 2
    made.drop_keyframe(2)
    assert made.refresh(5, CELLS, grid(3.0), PLACE) == (1, 3.0)
    made.drop_keyframe(1)
    made.drop_keyframe(99)
    assert made.refresh(5, CELLS, grid(4.0), PLACE) == (0, 4.0)


def test_what_is_not_stored_any_more_is_shown_by_no_frontier_and_what_is_newer_than_the_list_is():
    made = choice()
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)
    assert made.refresh(5, CELLS, grid(), PLACE)[0] == 2
    made.keep_stored((), next_id=2)
    assert made.refresh(5, CELLS, grid(1.0), PLACE)[0] == 2 and made.images.ids == (2,)
    made.keep_stored((1,), next_id=3)
    assert made.refresh(5, CELLS, grid(2.0), PLACE) == (0, 2.0) and made.images.ids == ()


def test_an_explored_frontier_is_forgotten_and_its_id_may_mean_another():
    made = choice()
    made.refresh(5, CELLS, grid(), PLACE)
    made.keep({6})
    made.images.add(2, 3.0, 2.0, 0.0, 1.2)
    assert made.refresh(5, CELLS, grid(2.0), PLACE) == (2, 2.0)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_overlap_is_that_of_sets(a, b):
    expected = len(a & b) / len(a | b) if a | b else 0.0
    assert overlap(np.array(sorted(a), np.int64), np.array(sorted(b), np.int64)) == expected
