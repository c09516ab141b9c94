"""Gains of viewpoints are the same in whatever order a library sums them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.config import StopConfig
from lodestar.experts.coverage import LookedAt
from lodestar.experts.viewpoint_survey import Survey
from lodestar.grid.config import PaceConfig
from lodestar.grid.occupancy import OccupancyGrid2D


def survey_of(seed: int, share: float) -> Survey:
    """A free room of 6 m with so much of it unseen, and a prior of odd weights."""
    rng = np.random.default_rng(seed)
    grid = OccupancyGrid2D(np.zeros((60, 60), np.int8), 0.1, (0.0, 0.0))
    looked = LookedAt(4.5)
    looked.set_grid(grid)
    unseen = rng.random(grid.cells.shape) < share
    prior = rng.uniform(0.25, 6.0, grid.cells.shape)
    nothing = np.zeros(grid.cells.shape, np.float32)
    return Survey(
        grid, looked, nothing, unseen, nothing, 4.5, math.radians(80.0), prior, np.empty((0, 3)), StopConfig(),
        PaceConfig(),
    )  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from((0.02, 0.4, 1.0)))
def test_any_order_of_the_sum_gives_the_same_gain_and_weight(seed, share):
    survey = survey_of(seed, share)
    views = survey.views(np.array([[1.0, 1.0], [3.0, 3.0], [4.5, 2.0]]))
    _, cells, mass = survey._samples
    for order in (np.argsort(cells), np.random.default_rng(seed).permutation(len(cells))):
        assert np.array_equal(views @ cells, views[:, order] @ cells[order])
        assert np.array_equal(views @ mass, views[:, order] @ mass[order])
    assert survey.gains(views) == pytest.approx([math.fsum(row * cells) * 0.01 for row in views])


@pytest.mark.parametrize("bound", [2.0, 0.5, 0.15])
def test_an_area_that_is_just_the_bound_reaches_it(bound):
    survey = survey_of(1, 0.5)  # so few that each block is one cell
    views = np.zeros((1, len(survey._samples[1])), np.float32)
    counts = np.cumsum(survey._samples[1])
    views[0, : int(np.flatnonzero(counts == round(bound * 100.0))[0]) + 1] = 1.0
    assert survey.gains(views)[0] == bound
