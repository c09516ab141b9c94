"""Tests that a shadow selector decides on another robot's questions as the loop would, from that robot's answers."""

from __future__ import annotations

import numpy as np
import pytest
from agent_fakes import EXPERTS, FakeMirror, FakeTargets, entity, find, room

from lodestar.agent.errands.context import make_context
from lodestar.agent.facts.config import LoopConfig
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.selection.baselines import SingleExpert
from lodestar.selection.context import FEATURES
from lodestar.selection.decisions import Outcome
from lodestar.selection.linucb import LinUcb, LinUcbConfig
from lodestar_eval.shadow import ShadowSelector

POSE = np.array([2.0, 2.0, 0.0])


@pytest.fixture
def policy() -> LinUcb:
    return LinUcb(LinUcbConfig(), EXPERTS, FEATURES, np.random.default_rng(0))


def shadow_of(policy, targets: FakeTargets | None = None) -> ShadowSelector:
    shadow = ShadowSelector(
        make_context(LoopConfig(), policy, None, EXPERTS, targets=targets or FakeTargets())
    )
    shadow.begin(find(), 0.0, 600.0)
    shadow.on_pose(POSE, 1.0)
    shadow.facts.take_grid(room(), 1.0)
    shadow.facts.mirror = FakeMirror()
    return shadow


def question(epoch: int, **changes) -> ProposalRequest:
    return ProposalRequest(epoch, 1.0, find(), 0, POSE, **changes)


def go(expert: str, epoch: int, x: float, **changes) -> Proposal:
    return Proposal(expert, epoch, np.array([x, 5.0, 0.0]), 0.5, "because", **changes)


def nothing(expert: str, epoch: int) -> Rejection:
    return Rejection(expert, epoch, RejectionReason.NO_PROPOSAL, "nothing")


def answered(shadow: ShadowSelector, request: ProposalRequest, *answers):
    shadow.ask(request)
    for answer in answers:
        shadow.on_answer(answer)
    return shadow.decide()


def test_what_was_not_answered_is_no_arm():
    shadow = shadow_of(SingleExpert(EXPERTS, (FEATURES), "frontier"))
    decision = answered(shadow, question(1), nothing("semantic_map", 1), go("ego_vlm", 1, 3.0))
    assert [arm.expert for arm in decision.arms if arm.admissible] == ["ego_vlm"]
    assert "no answer" in decision.arms[0].reason


def test_a_late_answer_counts_for_the_next_question(policy):
    shadow = shadow_of(policy)
    answered(shadow, question(1), nothing("semantic_map", 1), go("ego_vlm", 1, 3.0))
    shadow.on_pose(POSE, 4.0)
    late = go("frontier", 1, 6.0)
    decision = answered(shadow, question(2), late, nothing("semantic_map", 2), nothing("ego_vlm", 2))
    assert decision.chosen == "frontier" and decision.arms[0].proposal is late


def test_what_the_question_excludes_is_not_admitted(policy):
    shadow = shadow_of(policy)
    barred = question(1, excluded_goals=((6.0, 5.0, 0.0),))
    answers = go("frontier", 1, 6.0), nothing("semantic_map", 1), nothing("ego_vlm", 1)
    assert answered(shadow, barred, *answers) is None
    answers = go("frontier", 2, 6.0), nothing("semantic_map", 2), nothing("ego_vlm", 2)
    assert answered(shadow, question(2), *answers).chosen == "frontier"


def test_an_accepted_target_comes_first_unless_it_is_excluded(policy):
    for excluded, chosen in ((frozenset(), "semantic_map"), (frozenset({7}), "frontier")):
        shadow = shadow_of(policy, FakeTargets(scores={7: 0.9}))
        shadow.facts.mirror.put(entity(7, 8.0, 8.0))
        known = go("semantic_map", 1, 7.0, entity_id=7) if not excluded else nothing("semantic_map", 1)
        answers = go("frontier", 1, 6.0), known, nothing("ego_vlm", 1)
        assert answered(shadow, question(1, excluded_entities=excluded), *answers).chosen == chosen


def test_what_became_of_a_goal_teaches_the_policy(policy):
    shadow = shadow_of(policy)
    before = policy.state()
    answered(shadow, question(1), go("frontier", 1, 6.0), nothing("semantic_map", 1), nothing("ego_vlm", 1))
    shadow.close(Outcome.ABORTED)
    assert policy.state() != before


def test_without_a_directive_there_is_nothing_to_decide(policy):
    shadow = ShadowSelector(make_context(LoopConfig(), policy, None, EXPERTS, targets=FakeTargets()))
    with pytest.raises(AssertionError, match="a directive is needed"):
        shadow.decide()
