"""Tests of the policy that follows a recorded run and records its own choices."""

from __future__ import annotations

import numpy as np

from lodestar.selection.baselines import SingleExpert
from lodestar_eval.live.parity.policy import FollowingPolicy

ARMS = ("frontier", "semantic_map", "ego_vlm")
ALL = np.ones(3, bool)


def following(live: str) -> FollowingPolicy:
    policy = FollowingPolicy(SingleExpert(ARMS, (), "frontier"))
    policy.live = live
    return policy


def test_the_live_choice_is_taken_and_its_own_remembered():
    policy = following("ego_vlm")
    assert ARMS[policy.choose(np.zeros(1), ALL).arm] == "ego_vlm"
    assert policy.own == "frontier"


def test_a_live_choice_that_is_no_arm_is_not_taken():
    assert ARMS[following("by the map").choose(np.zeros(1), ALL).arm] == "frontier"


def test_a_live_choice_that_is_not_admissible_here_is_not_forced():
    policy = following("ego_vlm")
    choice = policy.choose(np.zeros(1), np.array([True, True, False]))
    assert ARMS[choice.arm] == "frontier"
