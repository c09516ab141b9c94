"""A headless robot that follows a recorded run takes its choices and remembers its own."""

from __future__ import annotations

import numpy as np

from lodestar.selection.baselines import SingleExpert
from lodestar.selection.decision_log import Decision
from lodestar_eval.live.parity.policy import FollowingPolicy

ARMS = ("frontier", "semantic_map", "ego_vlm")
ALL = np.ones(3, bool)


def decision(epoch: int, stamp: float, chosen: str) -> Decision:
    return Decision(epoch, stamp, "find the chair", 0, {}, (), chosen)


def following(*decisions: Decision) -> FollowingPolicy:
    return FollowingPolicy(SingleExpert(ARMS, (), "frontier"), decisions)


def test_the_live_choice_is_taken_and_its_own_remembered():
    policy = following(decision(1, 10.0, "ego_vlm"), decision(2, 20.0, "frontier"))
    policy.now = 10.4
    assert ARMS[policy.choose(np.zeros(1), ALL).arm] == "ego_vlm"
    assert policy.own == "frontier" and policy.followed.epoch == 1
    assert [left.epoch for left in policy.unmatched] == [2]


def test_without_a_live_decision_about_now_it_chooses_itself():
    policy = following(decision(1, 10.0, "ego_vlm"))
    policy.now = 15.0
    assert ARMS[policy.choose(np.zeros(1), ALL).arm] == "frontier"
    assert policy.followed is None and len(policy.unmatched) == 1


def test_a_live_choice_that_is_not_admissible_here_is_not_forced():
    policy = following(decision(1, 10.0, "ego_vlm"))
    policy.now = 10.0
    choice = policy.choose(np.zeros(1), np.array([True, True, False]))
    assert ARMS[choice.arm] == "frontier" and policy.followed.epoch == 1
