"""Tests of disjoint LinUCB against its definition (RoboAtlas Algorithm 2)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.selection.context import feature_names
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
    st.lists(st.booleans(), min_size=3, max_size=3).filter(any), st.integers(0, 2**31), st.floats(0.05, 1.0)
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


@pytest.mark.parametrize(
    ("confidences", "arm"),
    [((0.9, 0.0, 0.15), 0), ((0.9, 0.2, 0.15), 0), ((0.5, 0.95, 0.15), 1), ((0.9, 0.2, 0.9), 2)],
)
def test_the_directed_prior_explores_until_somebody_is_sure(confidences, arm):
    names = ("bias", "coverage", "confidence")
    learner = LinUcb(LinUcbConfig(mixing=0.0), ARMS, names, np.random.default_rng(0))
    contexts = np.array([[1.0, 0.4, confidence] for confidence in confidences])
    assert learner.choose(contexts, np.ones(3, bool)).arm == arm


@pytest.mark.parametrize(("similarity", "arm"), [(0.1, 0), (0.9, 1)])
def test_the_prior_speaks_of_appendix_a_too(similarity, arm):
    names = feature_names("app_a", ARMS)
    learner = LinUcb(LinUcbConfig(mixing=0.0), ARMS, names, np.random.default_rng(0))
    x = np.zeros(len(names))
    x[[names.index("bias"), names.index("coverage"), names.index("max_similarity")]] = 1.0, 0.4, similarity
    assert learner.choose(x, np.ones(3, bool)).arm == arm


def test_a_prior_is_outweighed_by_as_much_evidence_as_its_strength():
    for strength, decisions in ((4.0, 4), (20.0, 20)):
        names = ("bias",)
        learner = LinUcb(LinUcbConfig(prior_strength=strength), ARMS, names, np.random.default_rng(0))
        before = learner.weights[0, 0]
        for _ in range(decisions):
            learner.update(np.ones(1), 0, 0.0)
        assert learner.weights[0, 0] == pytest.approx(before / 2.0)


def taught(seed=0) -> LinUcb:
    learner = policy(seed=seed)
    for arm in range(3):
        learner.update(np.array([1.0, 0.2, arm]), arm, arm)
    return learner


def test_its_state_survives_a_file(tmp_path):
    learner, other = taught(), policy()
    learner.save(tmp_path / "kept" / "policy.json")
    other.load(tmp_path / "kept" / "policy.json")
    x = np.array([1.0, 0.3, 0.4])
    for _ in range(20):
        mine, theirs = (p.choose(x, np.ones(3, bool)) for p in (learner, other))
        assert mine.arm == theirs.arm and np.array_equal(mine.bounds, theirs.bounds)


def test_foreign_and_damaged_states_are_refused_and_change_nothing(tmp_path):
    path, learner = tmp_path / "policy.json", taught()
    learner.save(path)
    whole = json.loads(path.read_text())
    lopsided = np.array(whole["inverse"])
    lopsided[0, 0, 1] += 1.0
    bad = {
        "truncated": path.read_text()[: len(path.read_text()) // 2],
        "empty": "",
        "binary": "\x00\xff",
        "foreign": json.dumps({"x": 1}),
        "list": "[]",
        "deep": "[" * 100_000,
        "another's": json.dumps({**whole, "policy": "thompson"}),
        "unsigned": json.dumps(
            {name: value for name, value in whole.items() if name not in ("policy", "reward")}
        ),
        "earlier": json.dumps({**whole, "format": "lodestar policy state 1"}),
        "arms": json.dumps({**whole, "arms": ["a", "b", "c"]}),
        "features": json.dumps({**whole, "names": ["bias"]}),
        "missing": json.dumps({k: v for k, v in whole.items() if k != "response"}),
        "shape": json.dumps({**whole, "response": [1.0, 2.0]}),
        "nan": json.dumps({**whole, "response": np.full((3, 3), np.nan).tolist()}),
        "negative": json.dumps({**whole, "inverse": (-np.array(whole["inverse"])).tolist()}),
        "lopsided": json.dumps({**whole, "inverse": lopsided.tolist()}),
    }
    other, before = policy(), policy().state()
    for name, text in bad.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"policy\.json is not a state for this policy: .+"):
            other.load(path)
        assert other.state() == before, name


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "policy.json"
    taught().save(path)
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        policy().save(path)
    assert path.read_bytes() == before


def test_a_hundred_thousand_updates_agree_with_a_direct_solve():
    learner, rng = policy(), np.random.default_rng(7)
    a = np.repeat(COLD.regularization * np.eye(3)[None], 3, axis=0)
    b = np.zeros((3, 3))
    xs = rng.random((100_000, 3)) * np.array([1.0, 1.0, 1e-3])  # one feature is hardly ever active
    arms, rewards = rng.integers(3, size=100_000), rng.normal(size=100_000)
    for x, arm, reward in zip(xs, arms, rewards):
        learner.update(x, int(arm), float(reward))
    for arm in range(3):
        mine = xs[arms == arm]
        a[arm] += mine.T @ mine
        b[arm] += rewards[arms == arm] @ mine
    assert np.allclose(learner.inverse, np.linalg.inv(a), rtol=1e-8, atol=1e-14)
    assert np.allclose(learner.weights, np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-7, atol=1e-12)
    assert np.array_equal(learner.inverse, learner.inverse.swapaxes(1, 2))


def test_impossible_requests_are_refused():
    with pytest.raises(ValueError, match="admissible"):
        policy().choose(np.ones(3), np.zeros(3, bool))
    with pytest.raises(ValueError, match="finite"):
        policy().choose(np.array([1.0, np.nan, 0.0]), np.ones(3, bool))
    with pytest.raises(ValueError, match="prior"):
        policy(LinUcbConfig(prior="wishful"))
    with pytest.raises(ValueError, match="mixing"):
        policy(LinUcbConfig(mixing=1.5))
