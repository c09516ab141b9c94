"""Tests that a configuration names a policy, its features and its reward, and reports invalid values."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lodestar.selection.config import BY_VALUE, LEARNERS, SelectionConfig, policy_names
from lodestar.selection.linucb import PRIORS, ForeignState, LinUcbConfig, prior_weights
from lodestar.selection.policies import policy_of, state_file
from lodestar.selection.reward import REWARDS

ARMS = ("frontier", "semantic_map", "ego_vlm")


def policy(**changes):
    return policy_of(SelectionConfig(**changes), LinUcbConfig(), ARMS, np.random.default_rng(0))


@pytest.mark.parametrize("name", policy_names())
@pytest.mark.parametrize(("features", "count"), [("iv_a", 10), ("app_a", 18), ("valued", 6)])
def test_every_policy_goes_with_every_feature_set(name, features, count):
    if name in BY_VALUE and features != "valued":
        with pytest.raises(ValueError, match="set features to valued"):
            SelectionConfig(policy=name, features=features)
        return
    one = policy(policy=name, features=features, reward="found" if name == "corrected" else "single")
    assert len(one.names) == count
    assert one.choose(np.zeros((3, count)), np.ones(3, bool)).propensities.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "changes", [{"policy": "best"}, {"features": "all"}, {"reward": "none"},
                {"policy": "random", "policy_state": "x.json"}]
)  # fmt: skip
def test_what_there_is_not_is_refused(changes):
    with pytest.raises(ValueError, match=r"is one of|does not learn"):
        SelectionConfig(**changes)


def test_corrected_needs_to_know_whether_the_target_showed():
    with pytest.raises(ValueError, match="set reward to found"):
        SelectionConfig(policy="corrected", features="valued")


@pytest.mark.parametrize("name", policy_names())
def test_kept_goes_with_every_policy_and_means_nothing_for_those_that_do_not_learn(
    name, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    features = "valued" if name in BY_VALUE else "iv_a"
    config = SelectionConfig(
        name, features, "found" if name == "corrected" else "single", policy_state="kept"
    )
    policy_of(config, LinUcbConfig(), ARMS, np.random.default_rng(0), keeps=True)
    assert (state_file(config, ARMS) is not None) == (name in LEARNERS)


@pytest.mark.parametrize(
    "changes",
    [
        {"rate_strength": 0.0}, {"rate_strength": math.nan}, {"alpha": math.inf}, {"rate_alpha": math.nan},
        {"memory": 0.0}, {"memory": 1.1}, {"least_factor": -0.1}, {"untold": -1.0},
    ],
)  # fmt: skip
def test_parameters_of_learning_without_a_meaning_are_refused(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        LinUcbConfig(**changes)


@pytest.mark.parametrize("name", ["greedy", "mask_after"])
def test_a_goal_that_tells_nothing_counts_what_the_configuration_says(name):
    x = np.zeros((3, 6))
    x[1, 1] = 0.1  # column of the feature "value"
    for untold, arm in ((0.01, 1), (0.5, 0)):
        config = SelectionConfig(policy=name, features="valued")
        one = policy_of(config, LinUcbConfig(untold=untold), ARMS, np.random.default_rng(0))
        assert one.choose(x, np.ones(3, bool)).arm == arm


def test_what_was_learned_is_taken_up_where_the_file_exists(tmp_path):
    file = tmp_path / "policy.json"
    cold = policy(policy_state=str(file))
    cold.update(np.ones(10), 2, 5.0)
    cold.save(file)
    assert policy(policy_state=str(file)).state() == cold.state()
    assert policy().state() != cold.state()
    with pytest.raises(ValueError, match="features"):
        policy(policy_state=str(file), features="app_a")


CHANGES = {
    "kind": {"policy": "thompson"},
    "kin": {"policy": "epsilon_greedy"},
    "reward": {"reward": "sequence"},
    "features": {"features": "app_a"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_another_learned_is_refused_and_kept(change, tmp_path):
    file = tmp_path / "policy.json"
    for first, second in (({}, change), (change, {})):
        policy(**first).save(file)
        before = file.read_bytes()
        assert policy(policy_state=str(file), **first).state() == policy(**first).state()
        with pytest.raises(
            ForeignState, match=r"policy\.json is not a state for this policy: it (was learned by|is for)"
        ):
            policy(policy_state=str(file), **second)
        assert file.read_bytes() == before


def test_a_state_says_by_what_it_was_learned(tmp_path):
    policy(policy="thompson", reward="sequence", features="app_a").save(tmp_path / "policy.json")
    told = json.loads((tmp_path / "policy.json").read_text())
    assert (told["policy"], told["features"], told["reward"]) == ("thompson", "app_a", "sequence")


def test_a_file_of_the_earlier_format_is_refused_until_somebody_says_how_it_was_learned(tmp_path):
    file, learned = tmp_path / "policy.json", policy(reward="sequence")
    learned.update(np.ones(10), 2, 5.0)
    old = {name: learned.state()[name] for name in ("arms", "names", "inverse", "response")}
    file.write_text(json.dumps({"format": "lodestar policy state 1", **old}))
    with pytest.raises(ValueError, match=r"does not say by which policy and reward.*delete it") as refused:
        policy(reward="sequence", policy_state=str(file))
    added = '"policy": "bandit", "features": "iv_a", "reward": "sequence"'
    assert f'"lodestar policy state 2" and {added} into it' in str(refused.value)
    text = file.read_text().replace("policy state 1", "policy state 2").replace("{", f"{{{added}, ", 1)
    file.write_text(text)
    assert policy(reward="sequence", policy_state=str(file)).state() == learned.state()


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("reward", REWARDS)
def test_every_named_prior_goes_with_every_learner_and_reward(prior, reward):
    for name in (
        name for name in LEARNERS if name != "corrected"
    ):  # policies whose prior is that the values are right
        config = SelectionConfig(policy=name, reward=reward)
        one = policy_of(config, LinUcbConfig(prior=prior), ARMS, np.random.default_rng(0))
        weights = dict(zip(one.names, one.weights[1]))
        assert weights["confidence"] == pytest.approx(
            prior_weights(prior, "semantic_map").get("confidence", 0.0)
        )
