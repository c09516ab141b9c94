"""Tests of truncated posteriors against exact counts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.voxels.posterior import BACKGROUND, BOUND, CANDIDATES, REST, add_vote, move_votes, read

VOTES = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), max_size=60)


def voxel():
    return (
        np.zeros((1, CANDIDATES), np.int32),
        np.zeros((1, CANDIDATES), np.uint8),
        np.zeros((1, CANDIDATES), np.uint8),
        np.zeros((1, 3), np.uint8),
    )


def cast(state, votes):
    owner = 0
    for voter, weight in votes:
        owner = add_vote(*state, 0, voter, weight)
    return owner


def check_bounds(state, exact, slack=0.0):
    ids, weights, errors, other = (array[0].astype(int) for array in state)
    candidates = {i: (w - e, w) for i, w, e in zip(ids, weights, errors) if w > 0}
    for identity, votes in exact.items():
        if identity == 0:
            assert abs(other[BACKGROUND] - votes) <= slack
            continue
        low, high = candidates.get(identity, (0, other[BOUND]))
        assert low - slack <= votes <= high + slack
    return candidates, other


@given(VOTES)
@settings(max_examples=300, deadline=None)
def test_space_saving_bounds_hold_against_exact_counts(votes):
    state, exact = voxel(), Counter()
    for voter, weight in votes:
        exact[voter] += weight
    cast(state, votes)
    candidates, other = check_bounds(state, exact)
    total = sum(n for i, n in exact.items() if i)
    assert other[BOUND] <= total / CANDIDATES
    # votes are neither lost nor invented
    assert sum(low for low, _ in candidates.values()) + other[REST] == total
    often = {i for i, n in exact.items() if i and n > total / CANDIDATES}
    assert often <= candidates.keys()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 127)), min_size=100, max_size=300))
@settings(max_examples=100, deadline=None)
def test_when_counts_are_halved_the_bounds_hold_for_votes_that_age(votes):
    state, exact = voxel(), Counter()
    for voter, weight in votes:
        before = state[1].astype(int).sum() + state[3][0, BACKGROUND]
        add_vote(*state, 0, voter, weight)
        after = state[1].astype(int).sum() + state[3][0, BACKGROUND]
        if after < before + weight:
            exact = Counter({i: n / 2 for i, n in exact.items()})
        exact[voter] += weight
    check_bounds(state, exact, slack=1.0)


@given(VOTES, st.integers(1, 9), st.integers(0, 9))
@settings(max_examples=200, deadline=None)
def test_moved_votes_stay_within_the_bounds(votes, old, new):
    state, exact = voxel(), Counter()
    for voter, weight in votes:
        exact[voter] += weight
    cast(state, votes)
    if old == new or sum(exact.values()) > 200:
        return
    bound = int(state[3][0, BOUND])
    was_candidate = old in state[0][0][state[1][0] > 0]
    assert move_votes(*state, 0, old, new) == was_candidate
    exact[new] += exact.pop(old, 0)
    check_bounds(state, exact, slack=bound + (exact[0] if new == 0 else 0))
    assert old not in state[0][0][state[1][0] > 0]
    live = state[0][0][state[1][0] > 0].tolist()
    assert len(live) == len(set(live))


def posterior(state, prior=2.0):
    ids, probability = np.zeros(CANDIDATES, np.int32), np.zeros(CANDIDATES, np.float32)
    remaining = read(*state, 0, prior, ids, probability)
    return ids, probability, remaining


@given(VOTES)
@settings(max_examples=200, deadline=None)
def test_a_posterior_is_a_distribution_by_falling_probability(votes):
    state = voxel()
    cast(state, votes)
    ids, probability, remaining = posterior(state)
    assert probability.sum() + remaining == pytest.approx(1.0, abs=1e-5)
    assert (np.diff(probability) <= 0).all() and remaining > 0
    assert ((ids > 0) == (probability > 0)).all()


def test_the_mean_of_a_posterior_is_votes_over_votes_and_prior():
    state = voxel()
    owner = cast(state, [(7, 4)] * 3 + [(2, 4)] + [(0, 1)] * 2)
    ids, probability, remaining = posterior(state, prior=2.0)
    assert owner == 7 and ids.tolist() == [7, 2, 0, 0]
    np.testing.assert_allclose(probability[:2], [12 / 20, 4 / 20])
    assert remaining == pytest.approx(4 / 20)


def test_a_passing_crowd_does_not_take_a_voxel_from_its_owner():
    state = voxel()
    cast(state, [(1, 4)] * 20)
    for passer in range(2, 40):
        assert add_vote(*state, 0, passer, 1) == 1
    assert 1 in state[0][0] and state[2][0][state[0][0] == 1].tolist() == [0]
