"""A configuration names a policy, its features and its reward, and says what it cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.selection.config import SelectionConfig, policy_of
from lodestar.selection.linucb import LinUcbConfig
from lodestar.selection.policies import POLICIES

ARMS = ("frontier", "semantic_map", "ego_vlm")


def policy(**changes):
    return policy_of(SelectionConfig(**changes), LinUcbConfig(), ARMS, np.random.default_rng(0))


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("features", "count"), [("iv_a", 10), ("app_a", 18)])
def test_every_policy_goes_with_both_feature_sets(name, features, count):
    one = policy(policy=name, features=features)
    assert len(one.names) == count
    assert one.choose(np.zeros((3, count)), np.ones(3, bool)).propensities.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "changes", [{"policy": "best"}, {"features": "all"}, {"reward": "none"},
                {"policy": "random", "policy_state": "x.json"}]
)  # fmt: skip
def test_what_there_is_not_is_refused(changes):
    with pytest.raises(ValueError, match=r"is none of|learns nothing"):
        SelectionConfig(**changes)


def test_what_was_learned_is_taken_up_where_the_file_exists(tmp_path):
    file = tmp_path / "policy.json"
    cold = policy(policy_state=str(file))
    cold.update(np.ones(10), 2, 5.0)
    cold.save(file)
    assert policy(policy_state=str(file)).state() == cold.state()
    assert policy().state() != cold.state()
    with pytest.raises(ValueError, match="features"):
        policy(policy_state=str(file), features="app_a")
