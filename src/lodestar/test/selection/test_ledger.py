"""Tests of the decision ledger: late views, credit for a subtask's success, and masked arms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, RejectionReason
from lodestar.language.directive import Item, Step, StepKind
from lodestar.language.grammar import parse_directive
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate
from lodestar.selection.admission import Admission, Arm
from lodestar.selection.context import ContextBuilder
from lodestar.selection.decisions import Outcome
from lodestar.selection.ledger import Ledger, modality_of, perceive
from lodestar.selection.linucb import LinUcb, LinUcbConfig
from lodestar.selection.perceived import Match, Perceived
from lodestar.selection.reward import DirectiveReward, SequenceReward

from agent_fakes import entity, find  # isort: skip

ARMS = ("frontier", "semantic_map", "ego_vlm")
DIRECTIVE = find("mug", "chair")


def arm(name, confidence=0.5, action=ActionKind.GO, at=(5.0, 0.0, 0.0)):
    return Arm(name, Proposal(name, 1, np.array(at), confidence, "because", action=action), True)


LATE = Arm("ego_vlm", None, False, "late: no answer before the deadline")
SILENT = Arm("ego_vlm", None, False, "NO_PROPOSAL: nothing", RejectionReason.NO_PROPOSAL)


class Books:
    """Ledger with its policy and a clock."""

    def __init__(self, rewards=None, features="iv_a", **config):
        builder = ContextBuilder(ARMS, features)
        learning = LinUcbConfig(mixing=0.0, prior="cold", **config)
        self.policy = LinUcb(learning, ARMS, builder.names, np.random.default_rng(0))
        self.ledger = Ledger(self.policy, builder, rewards or DirectiveReward())
        self.ledger.begin_directive(0.0, 100.0)
        self.epoch = 0

    def choose(self, *arms, stamp=0.0, area=0.0, **seen):
        self.epoch += 1
        request = ProposalRequest(self.epoch, stamp, DIRECTIVE, 0, np.zeros(3))
        now = Perceived(stamp, area, np.zeros(3), **seen)
        return self.ledger.choose(request, Admission(arms), DIRECTIVE.steps[0], now, stamp, 1)[0]

    def close(self, outcome=Outcome.REACHED, stamp=5.0, area=0.0, pose=(4.0, 0.0, 0.0), success=False,
              ended=False, **seen):  # fmt: skip
        return self.ledger.close(outcome, Perceived(stamp, area, np.array(pose), **seen), success, ended)


def test_a_late_view_counts_with_its_last_word_and_its_age():
    books = Books()
    assert books.choose(arm("frontier"), LATE).context["vlm_age"] == 1.0  # the model has never answered
    assert books.choose(arm("frontier"), arm("ego_vlm", 0.8), stamp=10.0).context["vlm_age"] == 0.0
    late = books.choose(arm("frontier"), LATE, stamp=20.0).context
    assert late["vlm"] == 0.8 and late["vlm_age"] == pytest.approx(1 - math.exp(-1.0))
    answered = books.choose(arm("frontier"), SILENT, stamp=21.0).context
    assert answered["vlm"] == 0.0 and answered["vlm_age"] == 0.0
    books.choose(arm("frontier"), arm("ego_vlm", 0.8), stamp=22.0)
    books.ledger.begin_directive(23.0, 100.0)
    # the answer was for another search
    assert books.choose(arm("frontier"), LATE, stamp=23.0).context["vlm"] == 0.0


@pytest.mark.parametrize(
    ("told", "took", "counts"),
    [(10.0, 7.0, 7.0), (10.0, 900.0, 30.0), (None, 900.0, 900.0), (0.0, 40.0, 40.0)],
)
def test_a_turn_that_was_held_up_counts_three_times_what_its_goal_told(told, took, counts, monkeypatch):
    books, taken = Books(), []
    monkeypatch.setattr(books.policy, "update", lambda context, arm, reward, seconds: taken.append(seconds))
    offer = arm("frontier")
    books.choose(replace(offer, proposal=replace(offer.proposal, chance=0.5, seconds=told)))
    books.close(stamp=took)
    assert taken == [counts]


def test_the_confidence_of_the_view_pays_only_the_view():
    books = Books()
    books.choose(arm("frontier"), Arm("ego_vlm", arm("ego_vlm", 0.9).proposal, False, "excluded"))
    assert books.close().reward["vlm"] == 0.0
    books.choose(arm("ego_vlm", 0.9))
    assert books.close().reward["vlm"] == pytest.approx(0.9)


@pytest.mark.parametrize("decay", [0.7, DirectiveReward.decay])
def test_what_was_learned_is_eq_24_or_eq_5_where_nothing_is_shared(decay, monkeypatch):
    monkeypatch.setattr(DirectiveReward, "decay", decay)
    books = Books(DirectiveReward(), regularization=1.0)
    decisions = [
        (books.choose(arm("frontier"), area=10.0 * i), books.close(area=10.0 * i + 5.0)) for i in range(2)
    ]
    decisions.append((books.choose(arm("frontier"), area=30.0), books.close(area=30.0, success=True)))
    names = books.policy.names
    expected_a, expected_b = np.eye(len(names)), np.zeros(len(names))
    for age, (_, closed) in zip((2, 1, 0), decisions):
        x = np.array([closed.context[name] for name in names])
        expected_a += np.outer(x, x)
        own = closed.reward["total"] - closed.reward["success"]
        expected_b += (own + decay**age * 10.0) * x
    assert np.allclose(books.policy.response[0], expected_b)
    assert np.allclose(books.policy.inverse[0], np.linalg.inv(expected_a))


def test_a_new_subtask_shares_nothing_with_the_turns_before():
    books = Books()
    books.choose(arm("frontier"))
    books.close(success=True)
    books.ledger.begin_subtask(5.0)
    before = books.policy.response[0].copy()
    books.choose(arm("ego_vlm"))
    books.close(success=True)
    assert np.array_equal(books.policy.response[0], before)


def test_a_subtask_of_a_sequence_pays_by_what_was_perceived_at_its_end():
    mug = (Match(0.8, 0.6, True),)
    for success, matches, pays in ((True, mug, True), (False, mug, True), (True, (), False)):
        books = Books(SequenceReward())
        books.choose(arm("semantic_map"), matches=())
        for step in range(12):
            books.ledger.builder.observe_pose(np.array([4.0, 0.0, 0.0]), 49.0 + 0.1 * step)
        closed = books.close(stamp=50.0, success=success, ended=True, matches=matches)
        # half of the time limit is used
        assert closed.reward["success"] == pytest.approx(6.0 if pays else 0.0)


def test_a_turn_that_is_not_the_end_pays_no_subtask():
    books = Books(SequenceReward())
    books.choose(arm("semantic_map"), matches=())
    assert books.close(matches=(Match(0.8, 0.6, True),)).reward["success"] == 0.0


def test_nobody_looked_is_not_a_loss_of_similarity():
    books = Books(SequenceReward())
    books.choose(arm("frontier"), matches=(Match(0.7),))
    assert books.close(matches=None).reward["similarity"] == 0.0
    books.choose(arm("frontier"), matches=(Match(0.7),))
    assert books.close(matches=(), neighbor=0.4).reward["similarity"] == pytest.approx(-0.3)


def test_standing_still_is_punished_but_not_on_the_first_turn():
    books, punished = Books(SequenceReward()), []
    for _ in range(2):
        books.choose(arm("frontier"))
        punished.append(books.close(pose=(0.0, 0.0, 0.0)).reward["stuck"])
    books.choose(arm("frontier"))
    # too short a time to move in
    punished.append(books.close(stamp=0.5, pose=(0.0, 0.0, 0.0)).reward["stuck"])
    books.choose(arm("frontier"))
    punished.append(books.close().reward["stuck"])
    assert punished == [0.0, -0.5, 0.0, 0.0]


def test_empty_picks_are_punished_three_times_and_then_masked(monkeypatch):
    monkeypatch.setattr(SequenceReward, "mask_after", 4)
    books, turn = Books(SequenceReward()), ActionKind.TURN_LEFT
    punished = []
    for _ in range(4):
        books.choose(arm("ego_vlm", action=turn))
        punished.append(books.close().reward["empty"])
    assert punished == [-0.25, -0.25, -0.25, 0.0]
    decision = books.choose(arm("frontier"), arm("ego_vlm", action=turn))
    record = next(a for a in decision.arms if a.expert == "ego_vlm")
    assert decision.chosen == "frontier" and not record.admissible and "masked" in record.reason
    assert record.propensity == 0.0
    books.close()
    assert books.choose(arm("ego_vlm")).chosen == "ego_vlm"  # masked, but no other arm has a proposal
    books.close(outcome=Outcome.REACHED)  # a reached goal ends the streak
    assert all(a.admissible for a in books.choose(arm("frontier"), arm("semantic_map"), arm("ego_vlm")).arms)
    books.ledger.begin_subtask(9.0)
    for _ in range(9):  # eq. 5 masks no arm
        plain = Books()
        plain.choose(arm("ego_vlm", action=turn))
        assert "empty" not in plain.close().reward


def test_contexts_and_rewards_of_the_log_are_those_that_were_learned_of():
    books = Books(features="app_a")
    decision = books.choose(arm("frontier"), arm("ego_vlm"), area=42.0)
    assert set(books.policy.names) <= set(decision.context)
    assert decision.context["area_m2"] == 42.0 and "backtracking.ego_vlm" in decision.context
    assert sum(a.propensity for a in decision.arms) == pytest.approx(1.0)
    closed = books.close()
    assert sum(v for k, v in closed.reward.items() if k != "total") == pytest.approx(closed.reward["total"])


def test_a_policy_of_other_features_is_refused():
    with pytest.raises(ValueError, match="bias"):
        Ledger(Books().policy, ContextBuilder(ARMS, "app_a"), DirectiveReward())


def test_matches_know_how_far_they_are_and_whether_they_are_of_the_kind():
    mug, sofa = entity(1, 3.0, 0.0, "a white mug"), entity(2, 0.0, 9.0, "sofa")
    view = TargetView((Candidate(1, 0.9, 0.9), Candidate(2, 0.5, 0.5), Candidate(99, 0.5, 0.5)), neighbor=0.3)
    step = parse_directive("find the mugs").steps[0]
    now = perceive(1.0, 20.0, np.zeros(3), None, {1: mug, 2: sofa}, view, step)
    assert now.instances == 2 and now.neighbor == 0.3 and [m.overlaps for m in now.matches] == [True, False]
    assert now.matches[0].distance == pytest.approx(max(mug.box_min[0], 0.0))
    assert perceive(1.0, 20.0, None, None, {1: mug}, view, step).matches[0].distance == math.inf
    assert perceive(1.0, 20.0, np.zeros(3), None, {}, None, step).matches is None


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("find a mug", "object"),
        ("find the red mug", "description"),
        ("find the mug on the desk", "description"),
    ],
)
def test_the_modality_is_how_the_target_is_given(text, modality):
    assert modality_of(parse_directive(text).steps[0]) == modality
    assert modality_of(Step(StepKind.FIND, Item(images=(b"png",)))) == "image"
