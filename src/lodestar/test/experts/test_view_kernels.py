"""Tests of the compiled rays of viewpoints against a plain implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from expert_worlds import request
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.coverage import LookedAt
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.protocol import Proposal
from lodestar.experts.view_kernels import VIEW_EDGES, is_new_view, ray_over, view_code, view_sums, views
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.grid.visibility import ray_buffers
from lodestar.language.directive import StepKind


def walked(cells, index, closest, owner, starts, in_view, reach, depth, count, rays):
    """Return the result of `views`, traced cell by cell along whole rays."""
    flat, entered = ray_buffers(reach)
    more, further = ray_buffers(reach)
    sectors = in_view.shape[1]
    seen = np.zeros((len(starts), count), bool)
    for i, (u, v) in enumerate(starts):
        for ray in np.flatnonzero(np.repeat(in_view[i], rays)):
            angle = 2.0 * math.pi * (ray + 0.5) / (sectors * rays)
            du, dv = math.cos(angle), math.sin(angle)
            n, _ = ray_over(cells, 65, owner, u, v, du, dv, reach, flat, entered, more, further)
            inside = 0.0
            for k in range(n):
                number = index.flat[flat[k]]
                if number >= 0 and entered[k] >= closest.flat[flat[k]]:
                    seen[i, number] = True
                if cells.flat[flat[k]] < 0 and k + 1 < n:
                    inside += entered[k + 1] - entered[k]
                    if inside > depth:
                        break
    return seen


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from((2.0, 8.0, 100.0)))
def test_views_are_those_of_whole_rays(seed, depth):
    rng = np.random.default_rng(seed)
    values = np.array([UNKNOWN, FREE, OCCUPIED], np.int8)
    cells = rng.choice(values, (30, 36), p=(0.3, 0.62, 0.08))
    owner = np.full(cells.shape, -1, np.int32)
    owner[8:14, 9:20] = 0
    cells[9:13, 11:18] = OCCUPIED  # furniture with a known height
    index = np.where(rng.random(cells.shape) < 0.5, rng.integers(0, 40, cells.shape), -1).astype(np.int32)
    closest = np.where(rng.random(cells.shape) < 0.3, 6.0, 0.0).astype(np.float32)
    starts = rng.uniform((0.0, 0.0), (36.0, 30.0), (5, 2))
    in_view = rng.random((5, 12)) < 0.7
    shown = views(cells, 65, index, closest, owner, starts, in_view, 14.0, depth, 40, 4)
    plain = walked(cells, index, closest, owner, starts, in_view, 14.0, depth, 40, 4)
    assert np.array_equal(shown, plain)
    weights = rng.integers(0, 9, (40, 2)).astype(np.float32)
    sides = np.zeros((*cells.shape, len(VIEW_EDGES) + 2), np.uint64)
    scene = (cells, 65, index, closest, owner, starts, in_view, 14.0, depth, weights, 4)
    sums = view_sums(*scene, sides, np.array([math.inf]), np.ones(1), 0.1)
    assert np.array_equal(sums, plain @ weights)
    near = view_sums(*scene, sides, np.array([5.0, math.inf]), np.array([1.0, 0.0]), 0.1)
    reached = walked(cells, index, closest, owner, starts, in_view, 5.0, depth, 40, 4) @ weights
    assert (near <= reached).all() and near.sum() > 0.4 * reached.sum(), (
        "a cell counts by the first ray that shows it"
    )


@given(st.floats(-7.0, 7.0), st.floats(0.1, 6.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_a_view_is_new_if_direction_or_distance_has_changed_enough(angle, distance, turn, nearer):
    sides = np.zeros((1, len(VIEW_EDGES) + 2), np.uint64)
    away, side = view_code(angle, distance)
    assert is_new_view(sides, 0, away, side), "nothing was seen before"
    sides[0, away] |= np.uint64(1) << np.uint64(side)
    assert not is_new_view(sides, 0, away, side)
    other = distance * math.exp(nearer)
    steps = (
        min(distance, other) < VIEW_EDGES[-1] and max(distance, other) > VIEW_EDGES[0]
    )  # not both in one end
    if abs(math.remainder(turn, 2.0 * math.pi)) > 0.1 or (abs(nearer) > 0.36 and steps):
        assert is_new_view(sides, 0, *view_code(angle + turn, other))
        return
    codes = {view_code(angle + k * turn / 10, distance * math.exp(k * nearer / 10)) for k in range(11)}
    assert len(codes) <= 6, "a small change crosses few edges"


def comb(teeth: int) -> np.ndarray:
    """Return (rows, columns) int8: a hall with a large unknown part, and many unknown niches too small to be goals."""
    cells = np.full((48, 24 * teeth + 40), OCCUPIED, np.int8)
    cells[1:20, 1:-1] = FREE
    cells[1:20, -32:-1] = UNKNOWN
    for k in range(teeth):
        cells[20, 24 * k + 4 : 24 * k + 20] = UNKNOWN
    return cells


@pytest.mark.parametrize("given_up", [(), ((1.0, 1.0, 0.0),)])
def test_rays_are_cast_for_all_pieces_at_once(given_up, monkeypatch):
    calls, cast = [], LookedAt.view_sums

    def count(self, points, *rest, **more):
        calls.append(len(points))
        return cast(self, points, *rest, **more)

    monkeypatch.setattr(LookedAt, "view_sums", count)
    made, small = [], []
    for teeth in (3, 9):
        expert, calls[:] = FrontierExpert(), []
        expert.set_grid(OccupancyGrid2D(comb(teeth), 0.1, (0.0, 0.0)))
        asked = request((1.0, 1.0, 0.0), kind=StepKind.EXPLORE, excluded_goals=given_up)
        assert isinstance(expert.propose(asked), Proposal)
        small.append(sum(not one.reachable for one in expert.frontiers()))
        made.append(len(calls))
    assert 1 < small[0] < small[1] and made[0] == made[1] <= 3
