"""Disjoint LinUCB against its definition (RoboAtlas Algorithm 2)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.selection.linucb import LinUcb, LinUcbConfig

ARMS, NAMES = ("frontier", "semantic_map", "ego_vlm"), ("bias", "coverage", "similarity")
COLD = LinUcbConfig(alpha=0.7, regularization=2.0, mixing=0.1, prior="cold")


def policy(config=COLD, seed=0) -> LinUcb:
    return LinUcb(config, ARMS, NAMES, np.random.default_rng(seed))


def test_bounds_are_those_of_algorithm_2_solved_directly():
    learner, rng = policy(), np.random.default_rng(1)
    a = np.repeat(COLD.regularization * np.eye(3)[None], 3, axis=0)
    b = np.zeros((3, 3))
    for _ in range(40):
        arm, x, reward = int(rng.integers(3)), rng.normal(size=3), float(rng.normal())
        learner.update(x, arm, reward)
        a[arm] += np.outer(x, x)
        b[arm] += reward * x
    x = rng.normal(size=3)
    choice = learner.choose(x, np.ones(3, bool))
    for arm in range(3):
        theta = np.linalg.solve(a[arm], b[arm])
        bound = x @ theta + COLD.alpha * np.sqrt(x @ np.linalg.solve(a[arm], x))
        assert choice.estimates[arm] == pytest.approx(x @ theta)
        assert choice.bounds[arm] == pytest.approx(bound)


def test_credit_adds_reward_without_counting_the_turn_again():
    one, two = policy(), policy()
    x = np.array([1.0, 0.5, 0.2])
    one.update(x, 1, 3.0)
    two.update(x, 1, 1.0)
    two.credit(x, 1, 2.0)
    assert np.allclose(one.inverse, two.inverse) and np.allclose(one.response, two.response)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.booleans(), min_size=3, max_size=3).filter(any),
    st.integers(0, 2**31),
    st.floats(0.05, 1.0),
)
def test_propensities_are_probabilities_of_admissible_arms_only(admissible, seed, mixing):
    learner = policy(LinUcbConfig(mixing=mixing), seed)
    contexts = np.random.default_rng(seed).normal(size=(3, 3))
    choice = learner.choose(contexts, np.array(admissible))
    assert choice.propensities.sum() == pytest.approx(1.0)
    assert admissible[choice.arm]
    floor = mixing / sum(admissible)
    for index, allowed in enumerate(admissible):
        assert (
            choice.propensities[index] == 0.0 if not allowed else choice.propensities[index] >= floor - 1e-12
        )
        assert np.isnan(choice.bounds[index]) == (not allowed)


def test_arms_are_picked_as_often_as_their_propensity_says():
    learner = policy(LinUcbConfig(mixing=0.3, prior="directed"))
    x, counts = np.array([1.0, 0.1, 0.0]), np.zeros(3)
    for _ in range(4000):
        choice = learner.choose(x, np.ones(3, bool))
        counts[choice.arm] += 1
    assert np.allclose(counts / 4000, choice.propensities, atol=0.03)


def test_arms_of_equal_bound_share_their_probability():
    choice = policy().choose(np.ones(3), np.array([True, False, True]))
    assert choice.propensities == pytest.approx([0.5, 0.0, 0.5])


def test_it_learns_which_arm_pays_in_which_context():
    learner, rng = policy(), np.random.default_rng(4)
    for _ in range(300):
        x = np.array([1.0, rng.random(), 0.0])
        arm = learner.choose(x, np.ones(3, bool)).arm
        reward = (1.0 - x[1]) if arm == 0 else x[1] if arm == 1 else 0.1
        learner.update(x, arm, reward + 0.05 * rng.normal())
    assert np.nanargmax(learner.choose(np.array([1.0, 0.05, 0.0]), np.ones(3, bool)).estimates) == 0
    assert np.nanargmax(learner.choose(np.array([1.0, 0.95, 0.0]), np.ones(3, bool)).estimates) == 1


def test_the_directed_prior_explores_first_and_follows_strong_matches():
    learner = policy(LinUcbConfig(mixing=0.0))
    assert learner.choose(np.array([1.0, 0.1, 0.0]), np.ones(3, bool)).arm == 0
    assert learner.choose(np.array([1.0, 0.5, 0.8]), np.ones(3, bool)).arm == 1


def test_its_state_survives_a_file(tmp_path):
    learner = policy()
    for arm in range(3):
        learner.update(np.array([1.0, 0.2, arm]), arm, arm)
    learner.save(tmp_path / "policy.json")
    other = policy(seed=9)
    other.load(tmp_path / "policy.json")
    x = np.array([1.0, 0.3, 0.4])
    for _ in range(20):
        mine, theirs = (p.choose(x, np.ones(3, bool)) for p in (learner, other))
        assert mine.arm == theirs.arm and np.array_equal(mine.bounds, theirs.bounds)


def test_foreign_states_are_refused(tmp_path):
    state = policy().state()
    with pytest.raises(ValueError, match="arms"):
        LinUcb(COLD, ("a", "b", "c"), NAMES, np.random.default_rng(0)).restore(state)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "other.json").write_text(json.dumps({"x": 1}))
    for name in ("broken.json", "other.json"):
        with pytest.raises(ValueError):
            policy().load(tmp_path / name)


def test_impossible_requests_are_refused():
    with pytest.raises(ValueError, match="admissible"):
        policy().choose(np.ones(3), np.zeros(3, bool))
    with pytest.raises(ValueError, match="finite"):
        policy().choose(np.array([1.0, np.nan, 0.0]), np.ones(3, bool))
    with pytest.raises(ValueError, match="prior"):
        policy(LinUcbConfig(prior="wishful"))
    with pytest.raises(ValueError, match="mixing"):
        policy(LinUcbConfig(mixing=1.5))
