"""Tests of every policy: only admissible arms, exact propensities, and its specific behaviour."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.registry import expert_names
from lodestar.selection.baselines import greatest_of_gaussians
from lodestar.selection.config import policy_names
from lodestar.selection.policies import make_policy

ARMS, NAMES = ("frontier", "semantic_map", "ego_vlm"), ("bias", "coverage", "similarity")
ALL = np.ones(3, bool)


def policy(name, seed=0, **options):
    return make_policy(name, ARMS, NAMES, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("name", policy_names())
@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3).filter(any), min_size=1, max_size=8),
       st.integers(0, 2**31))  # fmt: skip
def test_only_admissible_arms_and_propensities_that_sum_to_one(name, rounds, seed):
    one, rng = policy(name, seed), np.random.default_rng(seed)
    for admissible in rounds:
        contexts = rng.normal(size=(3, 3))
        choice = one.choose(contexts, np.array(admissible))
        assert admissible[choice.arm] and choice.propensities[choice.arm] > 0.0
        assert choice.propensities.sum() == pytest.approx(1.0)
        assert all(p == 0.0 for p, ok in zip(choice.propensities, admissible) if not ok)
        one.update(contexts[choice.arm], choice.arm, float(rng.normal()))
        one.credit(contexts[choice.arm], choice.arm, 0.5)


@pytest.mark.parametrize("name", policy_names())
def test_nothing_admissible_is_refused(name):
    with pytest.raises(ValueError, match="admissible"):
        policy(name).choose(np.ones(3), np.zeros(3, bool))


@pytest.mark.parametrize("name", ["random", "epsilon_greedy", "thompson", "bandit"])
def test_arms_come_as_often_as_their_propensity_says(name):
    one, counts = policy(name, 3, **({} if name == "random" else {"mixing": 0.3})), np.zeros(3)
    one.update(np.array([1.0, 0.2, 0.1]), 1, 2.0)
    admissible = np.array([True, True, name != "random"])
    for _ in range(1200):
        choice = one.choose(np.array([1.0, 0.3, 0.2]), admissible)
        counts[choice.arm] += 1
    assert np.allclose(counts / 1200, choice.propensities, atol=0.055)


@pytest.mark.parametrize("name", expert_names())
def test_a_single_expert_gives_way_only_where_it_has_nothing_to_say(name):
    one, own = policy(name), ARMS.index(name)
    assert one.choose(np.ones(3), ALL).arm == own
    without = ALL.copy()
    without[own] = False
    stand_in = ARMS[one.choose(np.ones(3), without).arm]
    assert stand_in == ("semantic_map" if name == "frontier" else "frontier")


def test_round_robin_gives_a_lost_turn_to_the_next():
    one = policy("round_robin")
    assert [one.choose(np.ones(3), ALL).arm for _ in range(4)] == [0, 1, 2, 0]
    assert one.choose(np.ones(3), np.array([True, False, True])).arm == 2
    assert one.choose(np.ones(3), ALL).arm == 0


def test_a_schedule_goes_by_the_number_of_the_decision():
    one = policy("fixed", schedule=("ego_vlm", "frontier"))
    assert one.choose(np.ones(3), np.array([False, True, False])).arm == 1
    assert [one.choose(np.ones(3), ALL).arm for _ in range(3)] == [0, 2, 0]
    for schedule in ((), ("nobody",)):
        with pytest.raises(ValueError, match="schedule"):
            policy("fixed", schedule=schedule)


@pytest.mark.parametrize("name", ["bandit", "epsilon_greedy", "thompson"])
def test_learners_learn_which_arm_pays_in_which_context(name):
    one, rng = policy(name, prior="cold", mixing=0.1), np.random.default_rng(4)
    for _ in range(400):
        x = np.array([1.0, rng.random(), 0.0])
        arm = one.choose(x, ALL).arm
        one.update(x, arm, ((1.0 - x[1]), x[1], 0.1)[arm] + 0.05 * rng.normal())
    low, high = (one.choose(np.array([1.0, c, 0.0]), ALL).propensities for c in (0.02, 0.98))
    assert low.argmax() == 0 and low[0] > 0.8
    assert high.argmax() == 1 and high[1] > 0.8


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(1e-3, 4.0)), min_size=1, max_size=4), st.integers(0, 2**31)
)
def test_shares_of_thompson_are_those_of_comparing_draws(gaussians, seed):
    mean, deviation = np.array(gaussians).T
    draws = np.random.default_rng(seed).normal(mean, deviation, size=(20000, len(mean)))
    counted = np.bincount(draws.argmax(axis=1), minlength=len(mean)) / 20000
    assert np.allclose(greatest_of_gaussians(mean, deviation), counted, atol=0.02)


def test_names_and_options_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match="known: bandit"):
        policy("oracle")
    for name, option in (("random", "alpha"), ("bandit", "schedule"), ("epsilon_greedy", "alpha")):
        with pytest.raises(ValueError, match=option):
            policy(name, **{option: 1.0})
    with pytest.raises(ValueError, match="arm"):
        make_policy("ego_vlm", ARMS[:2], NAMES, np.random.default_rng(0))
