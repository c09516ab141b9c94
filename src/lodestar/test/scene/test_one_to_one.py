"""Tests of assignment over sparse pairs, against a list of all assignments."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from lodestar.scene.one_to_one import Pairs, best_pairs, pair_probabilities


def every_assignment(pairs):
    """Return all one-to-one assignments as sets of pairs, with their weights."""
    found = []
    table = {(i, j): (e, w) for e, (i, j, w) in enumerate(zip(pairs.rows, pairs.columns, pairs.weights))}
    rows, columns = pairs.shape
    for chosen in permutations([*range(columns), *[None] * rows], rows):
        edges = [table.get((i, j)) for i, j in enumerate(chosen) if j is not None]
        if None not in edges:
            found.append((frozenset(e for e, _ in edges), float(np.prod([w for _, w in edges]))))
    return dict(found)


def random_pairs(seed, rows=4, columns=4, density=0.6):
    rng = np.random.default_rng(seed)
    there = np.argwhere(rng.random((rows, columns)) < density)
    return Pairs(there[:, 0], there[:, 1], np.exp(rng.normal(0.0, 2.0, len(there))), (rows, columns))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_assignment_is_the_best_of_all(seed):
    pairs = random_pairs(seed)
    everything = every_assignment(pairs)
    best = max(everything, key=everything.get)
    assert set(np.flatnonzero(best_pairs(pairs))) == best


@pytest.mark.parametrize("seed", range(8))
def test_the_probabilities_are_near_those_over_all_assignments(seed):
    pairs = random_pairs(seed)
    everything = every_assignment(pairs)
    total = sum(everything.values())
    exact = [sum(w for edges, w in everything.items() if e in edges) / total for e in range(len(pairs.rows))]
    assert pair_probabilities(pairs) == pytest.approx(exact, abs=0.08)


def test_a_chain_is_exact():
    pairs = Pairs(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3.0, 1.0, 2.0]), (2, 2))
    everything = every_assignment(pairs)
    exact = [
        sum(w for edges, w in everything.items() if e in edges) / sum(everything.values()) for e in range(3)
    ]
    assert pair_probabilities(pairs) == pytest.approx(exact, abs=1e-5)


def test_no_thing_has_two_partners_and_no_pair_below_the_least_odds_is_taken():
    pairs = random_pairs(3, 12, 12, 0.9)
    chosen = best_pairs(pairs)
    assert len(set(pairs.rows[chosen])) == len(set(pairs.columns[chosen])) == chosen.sum() > 6
    assert (pairs.weights[best_pairs(pairs, least=5.0)] >= 5.0).all()
    weak = Pairs(np.array([0]), np.array([0]), np.array([0.5]), (1, 1))
    assert not best_pairs(weak).any() and best_pairs(weak, least=0.4).all()


def test_nothing_is_assigned_where_nothing_is():
    empty = Pairs(np.zeros(0, int), np.zeros(0, int), np.zeros(0), (0, 3))
    assert not len(best_pairs(empty)) and not len(pair_probabilities(empty))


def test_weights_beyond_all_bounds_stay_finite():
    pairs = Pairs(np.array([0, 1]), np.array([0, 0]), np.array([1e300, 1e-300]), (2, 1))
    assert np.isfinite(pair_probabilities(pairs)).all() and best_pairs(pairs).tolist() == [True, False]
