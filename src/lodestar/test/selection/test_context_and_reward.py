"""Context features and rewards by RoboAtlas IV-A, eq. 5, eq. 24 and Table I."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.selection.context import FEATURES, ContextBuilder, ContextConfig
from lodestar.selection.reward import RewardConfig, success_shares, turn_reward

ARMS = ("frontier", "semantic_map", "ego_vlm")


def builder(**changes) -> ContextBuilder:
    return ContextBuilder(ContextConfig(**changes), ARMS)


def feature(contexts, name, arm=0):
    return contexts[arm, FEATURES.index(name)]


def test_coverage_and_its_rate_are_relative_to_the_last_choice():
    b = builder(coverage_scale=100.0, rate_scale=10.0)
    first = b.build(20.0, {}, 0.0, 0.0)
    assert feature(first, "coverage") == pytest.approx(1 - np.exp(-0.2))
    assert feature(first, "coverage_rate") == 0.0
    b.chosen(0, 20.0)
    assert feature(b.build(25.0, {}, 0.0, 0.0), "coverage_rate") == pytest.approx(0.5)
    assert feature(b.build(90.0, {}, 0.0, 0.0), "coverage_rate") == 1.0
    assert feature(b.build(10.0, {}, 0.0, 0.0), "coverage_rate") == 0.0  # the map shrank


def test_the_last_arm_weighs_the_confidence_of_the_view():
    b = builder()
    assert feature(b.build(0.0, {}, 0.9, 0.0), "last_arm_x_vlm") == 0.0
    b.chosen(2, 0.0)
    assert feature(b.build(0.0, {}, 0.9, 0.0), "last_arm_x_vlm") == pytest.approx(0.9)
    b.chosen(0, 0.0)
    assert feature(b.build(0.0, {}, 0.9, 0.0), "last_arm_x_vlm") == pytest.approx(0.3)


def test_backtracking_marks_only_the_arm_that_goes_back():
    b = builder()
    for x in np.arange(0.0, 10.01, 0.1):
        b.observe_pose(np.array([x, 0.0, 0.0]))
    goals = {"frontier": np.array([14.0, 0.0, 0.0]), "semantic_map": np.array([2.0, 0.5, 0.0])}
    contexts = b.build(0.0, goals, 0.0, 0.0)
    assert [feature(contexts, "backtracking", arm) for arm in range(3)] == [0.0, 1.0, 0.0]
    assert not b.backtracks((9.5, 0.0))  # where it stands is no way back


def test_similarity_is_bounded():
    b = builder(similarity_scale=3.0)
    assert feature(b.build(0.0, {}, 0.0, 1.5), "similarity") == pytest.approx(0.5)
    assert feature(b.build(0.0, {}, 0.0, 99.0), "similarity") == 1.0


def test_reward_is_the_weighted_sum_of_table_1():
    reward = turn_reward(RewardConfig(), 0.5, 1.0, 0.8, 0.4, reached=True, success=True)
    assert reward["total"] == pytest.approx(0.5 - 1.0 + 0.8 + 0.4 + 10.0)
    assert sum(v for k, v in reward.items() if k != "total") == pytest.approx(reward["total"])
    missed = turn_reward(RewardConfig(), 0.0, 0.0, 0.0, 0.0, reached=False)
    assert missed["total"] == RewardConfig().empty_penalty


def test_success_is_credited_to_earlier_turns_with_decay():
    shares = success_shares(RewardConfig(success=10.0, success_decay=0.5), 4)
    assert shares == pytest.approx([1.25, 2.5, 5.0, 10.0])
