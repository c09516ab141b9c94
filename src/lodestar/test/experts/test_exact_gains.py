"""Tests that gains of viewpoints do not depend on the order of summation in a library."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.config import STOP_DEPTH, StopConfig
from lodestar.experts.coverage import SECTORS, TRIAL_EDGES, LookedAt
from lodestar.experts.view_kernels import views
from lodestar.experts.viewpoint_survey import Survey
from lodestar.grid.occupancy import OccupancyGrid2D


def survey_of(seed: int, share: float) -> Survey:
    """Return a free room of 6 m of which a share is unseen, with irregular prior weights."""
    rng = np.random.default_rng(seed)
    grid = OccupancyGrid2D(np.zeros((60, 60), np.int8), 0.1, (0.0, 0.0))
    looked = LookedAt(4.5)
    looked.set_grid(grid)
    unseen = rng.random(grid.cells.shape) < share
    prior = rng.uniform(0.25, 6.0, grid.cells.shape)
    nothing = np.zeros(grid.cells.shape, np.float32)
    return Survey(
        grid, looked, nothing, unseen.astype(np.float32), nothing, 4.5, math.radians(80.0), prior, np.empty((0, 3)),
        StopConfig(), np.ones(len(TRIAL_EDGES)),
    )  # fmt: skip


def seen_from(survey: Survey, points: np.ndarray) -> np.ndarray:
    """Return (N, n) bool: the blocks that each point sees by turning in place."""
    everywhere = np.ones((len(points), SECTORS), bool)
    rays = survey.looked._rays(survey.view, survey._stride)
    return views(
        survey.grid.cells, survey.grid.occupied_from, survey._samples[0], survey.closest,
        survey.looked._surfaces.owner, points / survey.grid.resolution, everywhere,
        survey.view / survey.grid.resolution, STOP_DEPTH / survey.grid.resolution,
        len(survey._samples[1]), rays,
    )  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from((0.02, 0.4, 1.0)))
def test_any_order_of_the_sum_gives_the_same_gain_and_weight(seed, share):
    survey = survey_of(seed, share)
    points = np.array([[1.0, 1.0], [3.0, 3.0], [4.5, 2.0], [1.0, 1.0]])
    views = seen_from(survey, points)
    _, cells, mass = survey._samples
    for order in (np.argsort(cells), np.random.default_rng(seed).permutation(len(cells))):
        sums = [views[:, order].astype(np.float32) @ sizes[order] for sizes in (cells, mass)]
        assert np.array_equal(survey.shown(points), survey._areas(np.stack(sums, axis=1)))
    assert survey.shown(points)[:, 0] == pytest.approx([math.fsum(row * cells) * 0.01 for row in views])


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from((0.002, 0.02, 0.4)), st.sampled_from((1, 3, 24)), st.booleans()
)
def test_the_best_of_those_that_may_be_best_is_the_best_of_all(seed, share, ranked, kept):
    rng = np.random.default_rng(seed)
    survey = survey_of(seed, share)
    survey.unseen[:, 25:] &= rng.random() < 0.5  # the unseen rest may lie at one end
    survey = replace(survey, lengths=np.hypot(*np.indices(survey.unseen.shape)) * 0.1, reach=1.5)
    points = survey.grid.points_of(rng.integers(0, 60, (4, 2)))
    last = np.array([*rng.uniform(1.0, 5.0, 2), 0.0]) if kept else None
    given = points, survey.shown(points), 0.05, last, 0.1
    endless = replace(survey)
    endless.__dict__["_bounds"] = lambda cells: np.full((len(cells), 2), np.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lodestar.experts.viewpoint_survey.STOP_RANKED", ranked)
        best = survey.best(*given, robot=np.zeros(3))
        assert str(best) == str(endless.best(*given, robot=np.zeros(3)))
    cells = survey.lattice()
    assert (survey._bounds(cells) >= survey.shown(survey.grid.points_of(cells))).all()


@pytest.mark.parametrize("bound", [2.0, 0.5, 0.15])
def test_an_area_that_is_just_the_bound_reaches_it(bound):
    survey = survey_of(1, 0.5)  # so few points that each block is one cell
    counts = np.cumsum(survey._samples[1])
    assert survey._areas(counts[counts == round(bound * 100.0)])[0] == bound
