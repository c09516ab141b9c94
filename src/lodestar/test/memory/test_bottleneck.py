"""Tests of STaR eq. 3 to 7 against a slow literal implementation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from lodestar.geometry.boxes import box_distance
from lodestar.memory.evidence.bottleneck import information, merge, neighbours, task_conditional

ALPHA, TOP = 0.3, 2


def literal_conditional(row, alpha, top):
    theta = [alpha, *row]
    if max(row) < alpha:
        return [1.0] + [0.0] * len(row)
    total = [0.0] * len(theta)
    for count in range(1, top + 1):  # gamma_l keeps the l best and sets the rest to zero
        best = sorted(range(len(theta)), key=lambda j: (-theta[j], j))[:count]
        for j in best:
            total[j] += max(theta[j], 0.0)
    return [value / sum(total) for value in total]


def literal_information(clusters, conditional, size):
    prior = [len(c) / size for c in clusters]
    given = [
        [sum(conditional[i][y] for i in c) / len(c) for y in range(len(conditional[0]))] for c in clusters
    ]
    marginal = [sum(p * g[y] for p, g in zip(prior, given)) for y in range(len(given[0]))]
    return sum(
        p * g[y] * math.log(g[y] / marginal[y])
        for p, g in zip(prior, given)
        for y in range(len(marginal))
        if g[y] > 0.0
    )


def literal_merges(conditional, pairs, bound):
    """Return the clusters of the greedy algorithm by trying every merge; eq. 4 with I(k-1) - I(k)."""
    size = len(conditional)
    clusters = [frozenset([i]) for i in range(size)]
    start = literal_information(clusters, conditional, size)
    joined = {frozenset(pair) for pair in pairs}
    losses = []
    while True:
        now = literal_information(clusters, conditional, size)
        tries = []
        for a, b in itertools.combinations(clusters, 2):
            if any(frozenset((i, j)) in joined for i in a for j in b):
                rest = [c for c in clusters if c not in (a, b)]
                lost = now - literal_information([*rest, a | b], conditional, size)
                tries.append((lost, sorted(a), sorted(b), a, b))
        if not tries:
            return clusters, losses
        lost, _, _, a, b = min(tries)
        if lost / start > bound:
            return clusters, losses
        losses.append(lost / start)
        clusters = [*(c for c in clusters if c not in (a, b)), a | b]


def grouped(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def scene(seed, count=14, tasks=3):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0.0, 4.0, (count, 3))
    high = low + rng.uniform(0.1, 0.8, (count, 3))
    cosines = rng.uniform(-0.1, 0.9, (count, tasks))
    return low, high, cosines


@pytest.mark.parametrize("seed", range(20))
def test_the_conditional_is_equation_7(seed):
    _, _, cosines = scene(seed)
    cosines[0] = 0.1  # the null task's cosine
    given = task_conditional(cosines, ALPHA, TOP)
    expected = [literal_conditional(row, ALPHA, TOP) for row in cosines.tolist()]
    np.testing.assert_allclose(given, expected, atol=1e-12)
    np.testing.assert_allclose(given.sum(axis=1), 1.0)
    assert given[0].tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("top", [1, 2, 3, 9])
def test_the_best_cue_has_the_largest_share(top):
    given = task_conditional(np.array([[0.5, 0.8, 0.31]]), ALPHA, top)
    assert given[0].argmax() == 2
    assert (given[0] > 0.0).sum() == min(top, 4)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("bound", [0.005, 0.05, 1.0])
def test_merges_are_those_of_the_literal_algorithm(seed, bound):
    low, high, cosines = scene(seed)
    conditional = task_conditional(cosines, ALPHA, TOP)
    pairs = neighbours(low, high, 1.0, 99)
    clusters = merge(conditional, pairs, bound)
    expected, losses = literal_merges(conditional.tolist(), pairs.tolist(), bound)
    assert grouped(clusters.labels) == set(expected)
    np.testing.assert_allclose(clusters.losses, losses, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_a_merge_loses_what_equation_3_says_and_information_only_falls(seed):
    low, high, cosines = scene(seed, count=60)
    conditional = task_conditional(cosines, ALPHA, TOP)
    start = information(conditional, np.full(60, 1 / 60))
    pairs = neighbours(low, high, 1.0, 99)
    left = []
    for bound in (0.0, 0.001, 0.01, 0.1, 1.0):
        clusters = merge(conditional, pairs, bound)
        left.append(information(clusters.conditional, clusters.prior))
        assert left[-1] == pytest.approx(start * (1.0 - clusters.losses.sum()), abs=1e-9)
        assert (clusters.losses >= 0.0).all()
        assert clusters.prior.sum() == pytest.approx(1.0)
    assert left == sorted(left, reverse=True)


def test_things_that_mean_the_same_merge_for_nothing_and_only_with_neighbours():
    conditional = np.tile([0.2, 0.8], (6, 1))
    clusters = merge(conditional, np.array([[0, 1], [1, 2], [4, 5]]), 0.0)
    assert grouped(clusters.labels) == {frozenset({0, 1, 2}), frozenset({3}), frozenset({4, 5})}


def test_no_cluster_gets_wider_than_the_span():
    count = 30
    low = np.c_[np.arange(count) * 0.5, np.zeros((count, 2))]
    high = low + 0.4
    pairs = neighbours(low, high, 1.0, 16)
    clusters = merge(np.tile([0.2, 0.8], (count, 1)), pairs, 0.1, boxes=(low, high), max_span=3.0)
    for label in range(clusters.labels.max() + 1):
        rows = clusters.labels == label
        assert high[rows, 0].max() - low[rows, 0].min() <= 3.0
    assert 5 <= clusters.labels.max() + 1 <= 12
    assert len(merge(np.tile([0.2, 0.8], (count, 1)), pairs, 0.1).prior) == 1


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_are_the_boxes_within_reach(seed):
    low, high, _ = scene(seed, count=40)
    expected = {
        (i, j)
        for i, j in itertools.combinations(range(40), 2)
        if box_distance(low[i], high[i], low[j], high[j]) <= 0.5
    }
    assert {tuple(pair) for pair in neighbours(low, high, 0.5, 99).tolist()} == expected


def test_in_a_crowd_each_keeps_its_nearest():
    rng = np.random.default_rng(0)
    low = rng.uniform(0.0, 0.5, (300, 3))
    pairs = neighbours(low, low + 0.1, 1.0, 5)
    degrees = np.bincount(pairs.reshape(-1), minlength=300)
    assert degrees.min() >= 5
    assert len(pairs) <= 5 * 300
    apart = np.linalg.norm(low[0] - low, axis=1)
    apart[0] = np.inf
    nearest = set(np.argsort(apart)[:5].tolist())
    assert nearest <= {int(p) for pair in pairs.tolist() if 0 in pair for p in pair}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_or_no_primitives(count):
    low = np.zeros((count, 3))
    pairs = neighbours(low, low + 1.0, 1.0, 16)
    clusters = merge(task_conditional(np.full((count, 2), 0.5), ALPHA, TOP), pairs, 0.1)
    assert len(clusters.labels) == count
    assert len(clusters.prior) == min(count, 1)


def test_cosines_that_are_not_numbers_count_as_irrelevant():
    given = task_conditional(np.array([[np.nan, np.inf], [np.nan, 0.9]]), ALPHA, TOP)
    assert given[0].tolist() == [1.0, 0.0, 0.0]
    assert given[1, 2] > 0.5
    assert np.isfinite(given).all()


def test_without_any_information_nothing_is_lost():
    """All hits have one meaning: I(X; Y) = 0, and eq. 4 would divide by it."""
    clusters = merge(np.tile([0.5, 0.5], (3, 1)), np.array([[0, 1], [1, 2]]), 0.0)
    assert grouped(clusters.labels) == {frozenset({0, 1, 2})}
    assert clusters.losses.tolist() == [0.0, 0.0]
