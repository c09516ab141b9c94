"""Tests of context features and rewards by RoboAtlas IV-A, App. A, eq. 5, eq. 23, eq. 24 and Table I."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.selection.context import FEATURES, ContextBuilder, feature_names
from lodestar.selection.perceived import Match, Perceived, TaskState, frontier_share
from lodestar.selection.reward import (
    REWARD_NOT_REACHED,
    DirectiveReward,
    SequenceReward,
    SubtaskEnd,
    Turn,
    credit_shares,
    make_reward,
)

ARMS = ("frontier", "semantic_map", "ego_vlm")


def builder(features="iv_a") -> ContextBuilder:
    return ContextBuilder(ARMS, features)


def seen(area=0.0, similarities=(), **changes) -> Perceived:
    return Perceived(0.0, area, matches=tuple(Match(s) for s in similarities), **changes)


@dataclass(frozen=True)
class Offer:
    goal: np.ndarray
    confidence: float = 0.5
    value: float | None = None


def feature(b, now, name, arm=0, goals=None, **given):
    contexts, _ = b.build(now, goals or {}, **given)
    return contexts[arm, b.names.index(name)]


def test_coverage_and_its_rate_are_relative_to_the_last_choice():
    b = builder()
    assert feature(b, seen(20.0), "coverage") == pytest.approx(1 - np.exp(-0.2))
    assert feature(b, seen(20.0), "coverage_rate") == 0.0
    b.chosen(0, seen(20.0))
    assert feature(b, seen(25.0), "coverage_rate") == pytest.approx(0.5)
    assert feature(b, seen(90.0), "coverage_rate") == 1.0
    assert feature(b, seen(10.0), "coverage_rate") == 0.0  # the map became smaller


def test_the_last_arm_weighs_the_confidence_of_the_view():
    b = builder()
    assert feature(b, seen(), "last_arm_x_vlm", v_vlm=0.9) == 0.0
    b.chosen(2, seen())
    assert feature(b, seen(), "last_arm_x_vlm", v_vlm=0.9) == pytest.approx(0.9)
    b.chosen(0, seen())
    assert feature(b, seen(), "last_arm_x_vlm", v_vlm=0.9) == pytest.approx(0.3)


def test_the_view_s_last_word_comes_with_its_age():
    b = builder()
    assert feature(b, seen(), "vlm_age", v_vlm=0.4, vlm_age=0.0) == 0.0
    assert feature(b, seen(), "vlm_age", v_vlm=0.4, vlm_age=10.0) == pytest.approx(1 - math.exp(-1))
    assert feature(b, seen(), "vlm_age", vlm_age=math.inf) == 1.0
    assert feature(b, seen(), "vlm", v_vlm=0.4, vlm_age=10.0) == 0.4


def test_backtracking_marks_only_the_arm_that_goes_back():
    b = builder()
    for x in np.arange(0.0, 10.01, 0.1):
        b.observe_pose(np.array([x, 0.0, 0.0]), x)
    goals = {"frontier": Offer(np.array([14.0, 0.0, 0.0])), "semantic_map": Offer(np.array([2.0, 0.5, 0.0]))}
    assert [feature(b, seen(), "backtracking", arm, goals) for arm in range(3)] == [0.0, 1.0, 0.0]
    assert not b.backtracks((9.5, 0.0))  # the robot's own place is not on the way back
    wide = builder("app_a")
    for x in np.arange(0.0, 10.01, 0.1):
        wide.observe_pose(np.array([x, 0.0, 0.0]), x)
    contexts, by_arm = wide.build(seen(), goals)
    assert by_arm["backtracking"].tolist() == [0.0, 1.0, 0.0] and np.ptp(contexts, axis=0).max() == 0.0


def test_every_arm_is_confident_for_itself():
    offers = {"frontier": Offer(np.zeros(3), 0.9), "ego_vlm": Offer(np.zeros(3), 7.0)}
    assert [feature(builder(), seen(), "confidence", arm, offers) for arm in range(3)] == [0.9, 0.0, 1.0]


def test_similarity_counts_tiers_and_is_bounded():
    b = builder()
    assert feature(b, seen(similarities=(0.85, 0.5)), "similarity") == pytest.approx((1.8 + 0.4) / 3.0)
    assert feature(b, seen(similarities=[0.9] * 50), "similarity") == 1.0
    assert feature(b, seen(), "similarity") == 0.0


def test_the_way_to_a_goal_is_the_arm_s_own():
    b, here = builder(), seen(pose=np.array([1.0, 0.0, 0.0]))
    offers = {"frontier": Offer(np.array([4.0, 4.0, 0.0])), "ego_vlm": Offer(np.array([99.0, 0.0, 0.0]))}
    assert [feature(b, here, "distance", arm, offers) for arm in range(3)] == pytest.approx([1 / 3, 0.0, 1.0])
    assert feature(b, seen(), "distance", 0, offers) == 0.0  # the robot's position is unknown


def test_there_are_eighteen_features_of_appendix_a_and_iv_a_s_five_in_order():
    assert len(feature_names("app_a", ARMS)) == 18
    assert FEATURES[1:6] == ("coverage", "coverage_rate", "backtracking", "last_arm_x_vlm", "similarity")
    with pytest.raises(ValueError, match="iv_a"):
        feature_names("app_b", ARMS)


def test_the_border_to_the_unknown_is_a_share_of_what_is_free():
    cells = np.full((6, 6), -1, np.int8)
    assert frontier_share(OccupancyGrid2D(cells, 0.1, (0.0, 0.0))) == 0.0
    cells[:, :3] = 0  # three free columns, of which one borders on unknown cells
    assert frontier_share(OccupancyGrid2D(cells, 0.1, (0.0, 0.0))) == pytest.approx(1 / 3)
    cells[:, 3] = 100  # a wall between
    assert frontier_share(OccupancyGrid2D(cells, 0.1, (0.0, 0.0))) == 0.0


def test_features_of_appendix_a_say_what_they_are_named_for():
    b = builder("app_a")
    for arm in (1, 1, 1):
        b.chosen(arm, seen(40.0, pose=np.zeros(3), instances=10))
    cells = np.full((10, 10), -1, np.int8)
    cells[:5] = 0
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    now = seen(40.0, [0.7, 0.5, 0.1], pose=np.array([1.5, 0.0, 0.0]), instances=12, grid=grid)
    task = TaskState(budget_left=0.25, progress=0.5, modality="description")
    contexts, _ = b.build(now, {}, task=task)
    values = dict(zip(b.names, contexts[0]))
    padded = [0.7, 0.5, 0.1] + [0.0] * 9
    expected = {
        "bias": 1.0, "coverage": 1 - math.exp(-0.4), "instance_density": 12 / 40 / 0.5, "frontier_share": 1.0,
        "max_similarity": 0.7, "p90_similarity": np.percentile(padded, 90), "matches": 2 / 3,
        "displacement": 0.5, "discovery_rate": 0.4, "budget_left": 0.25, "progress": 0.5, "repeated_arm": 1.0,
        "modality.object": 0.0, "modality.description": 1.0, "modality.image": 0.0,
        "last_arm.frontier": 0.0, "last_arm.semantic_map": 1.0, "last_arm.ego_vlm": 0.0,
    }  # fmt: skip
    assert values == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(["iv_a", "app_a"]), st.floats(0, 1e5), st.integers(0, 10**4),
       st.lists(st.floats(0, 1), max_size=6), st.floats(0, 1), st.floats(-1e6, 1e6))  # fmt: skip
def test_every_feature_stays_in_the_unit_interval(features, area, instances, similarities, v_vlm, budget):
    b = builder(features)
    b.chosen(1, seen(5.0, pose=np.zeros(3), instances=3))
    now = seen(area, similarities, pose=np.array([1e3, -1e3, 0.0]), instances=instances)
    contexts, _ = b.build(now, {}, v_vlm, 3.0, TaskState(budget_left=budget, progress=2.0))
    assert contexts.shape == (3, len(b.names)) and (contexts >= 0.0).all() and (contexts <= 1.0).all()


def test_a_robot_has_settled_only_after_it_stood_for_a_while():
    b = builder()
    assert not b.settled
    for step in range(10):
        b.observe_pose(np.array([0.3 * step, 0.0, 0.0]), 0.1 * step)
    assert not b.settled
    for step in range(10, 17):
        b.observe_pose(np.array([2.7, 0.0, 0.0]), 0.1 * step)
    assert b.settled


def test_reward_of_a_directive_is_the_weighted_sum_of_table_1():
    model = DirectiveReward()
    turn = model.turn(Turn(coverage_rate=0.5, backtracking=1.0, vlm=0.8, similarity=0.4))
    assert sum(turn.values()) == pytest.approx(0.5 - 1.0 + 0.8 + 0.4)
    missed = model.turn(Turn(reached=False))
    assert sum(missed.values()) == REWARD_NOT_REACHED
    assert model.subtask(SubtaskEnd(True)) == 10.0 and model.subtask(SubtaskEnd(False)) == 0.0


def test_reward_of_a_sequence_is_of_what_changed():
    model = SequenceReward()
    turn = Turn(coverage_rate=0.5, similarity=0.9, similarity_change=-0.2, discovery=0.4, displacement=1.0,
                backtracking=1.0, vlm=1.0)  # fmt: skip
    assert sum(model.turn(turn).values()) == pytest.approx(0.5 - 0.2 + 0.2 + 0.25)
    assert sum(model.turn(Turn(stuck=True, empty=True)).values()) == pytest.approx(-0.75)


def test_the_proxy_of_success_needs_confidence_and_arrival(monkeypatch):
    for name, value in {"SIGMA": 0.6, "TAU": 0.4, "MIN_MATCHES": 2, "RHO": 1.0, "FLOOR": 0.2}.items():
        monkeypatch.setattr(f"lodestar.selection.reward.SEQUENCE_{name}", value)
    model = SequenceReward()
    near, other = Match(0.7, 0.8, True), Match(0.5, 4.0, False)
    assert model.subtask(SubtaskEnd(False, (near, other), True, used=0.0)) == 10.0
    assert model.subtask(SubtaskEnd(False, (near, other), True, used=1.0)) == pytest.approx(2.0)
    assert model.subtask(SubtaskEnd(False, (near, other), True, used=0.5)) == pytest.approx(6.0)
    for matches, settled in (
        ((near, other), False),  # the goal estimate is still moving
        ((near,), True),  # too few similar matches
        ((Match(0.55, 0.8, True), other), True),  # no match is similar enough
        ((Match(0.7, 1.2, True), other), True),  # too far away
        ((Match(0.7, 0.8, False), other), True),  # an object of another kind
        ((), True),
    ):
        assert model.subtask(SubtaskEnd(True, matches, settled)) == 0.0


def test_a_subtask_s_reward_is_credited_to_earlier_turns_with_decay():
    assert credit_shares(0.5, 4) == pytest.approx([0.125, 0.25, 0.5, 1.0])


def test_rewards_have_names():
    assert isinstance(make_reward("single"), DirectiveReward)
    assert isinstance(make_reward("sequence"), SequenceReward)
    with pytest.raises(ValueError, match="sequence"):
        make_reward("both")
