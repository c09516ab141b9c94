"""Tests of late, wrong and missing answers of experts, of admissible choices, and of requests."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import TARGET, World, entity, exploring, find, proposal, towards_target

from lodestar.agent.errands.commands import EmbedPhrases, RecordDecision, RequestProposals, SendGoal
from lodestar.agent.errands.context import make_context
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import ActionKind
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.records import TraceError, Verdict


def test_silent_experts_are_late_and_at_last_there_is_no_expert():
    world = World(answers=dict.fromkeys(("frontier", "semantic_map", "ego_vlm"), "silent"))
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.NO_EXPERT
    assert "late" in world.result.error_msg


def test_a_late_expert_does_not_keep_the_others_waiting():
    world = World(answers={"ego_vlm": "silent", "frontier": exploring((2.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert world.now == pytest.approx(LoopConfig().expert_deadline, abs=0.35)


def test_answers_to_old_questions_are_dropped():
    world = World(answers={"frontier": "silent", "semantic_map": "silent", "ego_vlm": "silent"})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(RequestProposals)) == 2)
    stale = world.of(RequestProposals)[0].request.epoch
    world.loop.on_answer(replace(proposal(5, 5), expert="frontier", epoch=stale))
    world.loop.on_answer(replace(proposal(5, 5), expert="stranger", epoch=stale + 1))
    world.run(seconds=3.0)
    assert not world.of(SendGoal)


def test_turning_proposals_are_driven_in_place():
    turned = []

    def ego(request):
        if turned:
            return None
        turned.append(1)
        return proposal(2.0, 2.0, 1.3, action=ActionKind.TURN_LEFT)

    world = World(answers={"ego_vlm": ego})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.of(SendGoal)[0].goal[2] == pytest.approx(1.3)
    assert world.decisions[0].chosen == "ego_vlm" and world.decisions[0].outcome is Outcome.REACHED


def test_goals_near_what_must_be_avoided_are_inadmissible():
    world = World(answers={"frontier": exploring((5.0, 5.0, 0.0)), "ego_vlm": proposal(2.0, 5.0)})
    puddle = entity(3, 5.0, 5.5, "wet floor")
    world.targets.avoid = ((puddle, 1.0),)
    world.mirror.put(puddle)
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert tuple(world.of(SendGoal)[0].goal[:2]) == (2.0, 5.0)
    arm = world.loop._context.ledger._open.decision.arms[0]
    assert not arm.admissible and "wet floor" in arm.reason


def test_missing_phrases_are_asked_for_once():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.targets.missing = ("red chair",)
    world.loop.start(find(), 0.0)
    world.run(seconds=3.0)
    assert [c.phrases for c in world.of(EmbedPhrases)] == [("red chair",)]


def test_garbage_facts_are_dropped():
    world = World(answers={"frontier": proposal(math.nan, 1.0)})
    world.loop.on_pose(np.array([math.nan, 0.0, 0.0]), 1.0)
    world.loop.on_pose(np.array([5.0, 5.0, 0.0]), -1.0)
    world.loop.start(find(), 0.0)
    world.run(seconds=1.0)
    assert not world.of(SendGoal)
    assert world.of(RequestProposals)[0].request.robot_pose == pytest.approx([2.0, 2.0, 0.0])


def test_the_same_seed_gives_the_same_run():
    def trace(seed):
        world = World(seed=seed, mixing=0.5, answers={"ego_vlm": exploring((8.0, 2.0, 0.0), (5.0, 5.0, 0.0))})
        world.answers["frontier"] = exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))
        world.loop.start(find(), 0.0)
        world.run()
        return [(d.chosen, tuple(d.context.items()), d.reward["total"]) for d in world.decisions]

    assert trace(3) == trace(3)
    assert any(trace(3) != trace(s) for s in range(4, 10))


def test_a_refused_proposal_is_not_driven_and_the_other_arm_takes_over_in_the_same_epoch():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0)), "ego_vlm": exploring((8.0, 8.0, 0.0))})
    checked = []

    class Doubter:
        """Validator that rejects every goal in the west."""

        def check(self, trace):
            checked.append(trace.proposer)
            if trace.action.goal[0] < 5.0:
                return Verdict(TraceError.INCONSISTENT, "the world model disagrees")
            return Verdict()

    world.loop._context.validator = Doubter()
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert tuple(world.of(SendGoal)[0].goal[:2]) == (8.0, 8.0) and len(world.of(RequestProposals)) == 1
    assert sorted(checked) == ["ego_vlm", "frontier"], "each proposal is checked once"
    arm = next(arm for arm in world.of(RecordDecision)[0].decision.arms if arm.expert == "frontier")
    assert not arm.admissible and "disagrees" in arm.reason


def test_the_experts_must_be_the_arms():
    world = World()
    with pytest.raises(ValueError, match="arms"):
        make_context(world.config, world.policy, None, ("frontier",), targets=world.targets)


THINKERS = ("semantic_map", "ego_vlm")


class Thinking(World):
    """World whose reasoning experts answer `think` seconds after a request."""

    think = 20.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.waiting: list = []

    def advance(self) -> None:
        super().advance()
        due = [answer for at, answer in self.waiting if at <= self.now]
        self.waiting = [item for item in self.waiting if item[0] > self.now]
        for answer in due:
            self.loop.on_answer(answer)

    def _answer(self, name, request):
        answer = super()._answer(name, request)
        if answer is None or name not in THINKERS:
            return answer
        self.waiting.append((self.now + self.think, answer))
        return None


CORNERS = [
    (2.0, 8.0, 0.0),
    (8.0, 8.0, 0.0),
    (8.0, 2.0, 0.0),
    (5.0, 2.0, 0.0),
    (2.0, 5.0, 0.0),
    (5.0, 8.0, 0.0),
]


def test_the_robot_decides_at_its_own_rate_while_a_reasoner_thinks():
    world = Thinking(answers={"frontier": exploring(*CORNERS), "semantic_map": towards_target})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(SendGoal)) == 5)
    slow = world.now
    swift = World(answers={"frontier": exploring(*CORNERS)})
    swift.loop.start(find(), 0.0)
    swift.run(until=lambda: len(swift.of(SendGoal)) == 5)
    assert slow <= swift.now + LoopConfig().expert_deadline + 1.0, "it waits for them once"
    asked = [name for command in world.of(RequestProposals) for name in command.experts]
    assert asked.count("semantic_map") <= slow / world.think + 1, "who thinks is not asked again"


def test_a_late_proposal_is_used_in_the_next_epoch():
    world = Thinking(
        answers={"frontier": exploring(*CORNERS * 3), "ego_vlm": proposal(9.0, 5.0, confidence=1.0)}
    )
    world.policy.choose = prefers(world.policy, "ego_vlm")
    world.loop.start(find(), 0.0)
    world.run(until=lambda: any(goal.expert == "ego_vlm" for goal in world.of(SendGoal)))
    assert world.now >= world.think
    (late,) = (goal for goal in world.of(SendGoal) if goal.expert == "ego_vlm")
    assert tuple(late.goal[:2]) == (9.0, 5.0)
    decision = world.of(RecordDecision)[-1].decision
    arm = next(a for a in decision.arms if a.expert == "ego_vlm")
    assert arm.proposal.epoch < decision.epoch, "it is the answer to an older question"


def prefers(policy, name):
    """Make the policy choose this arm wherever it is admissible."""
    choose = policy.choose

    def chosen(contexts, admissible):
        wanted = np.array([arm == name for arm in policy.arms])
        return choose(contexts, admissible & wanted if (admissible & wanted).any() else admissible)

    return chosen


def test_a_target_in_view_is_gone_to_while_everybody_thinks():
    world = Thinking(answers={"frontier": exploring(*CORNERS), "semantic_map": towards_target})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.pose[1] > 5.0)
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    world.run()
    assert world.result.success and world.now < world.think
    assert [goal.expert for goal in world.of(SendGoal)] == ["frontier", "known_target"]
    assert [d.outcome for d in world.decisions] == [Outcome.REACHED], (
        "the frontier's decision gets the credit"
    )


def test_something_likely_near_by_is_looked_at_while_everybody_thinks():
    world = Thinking(answers={"frontier": exploring(*CORNERS)})
    world.mirror.put(entity(8, 4.0, 2.0))
    world.targets.scores[8] = 0.59  # below the acceptance threshold
    world.config = replace(world.config, query=replace(world.config.query, promising=0.5))
    world.loop._context.config = world.config
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    first, second = world.of(SendGoal)
    assert (first.expert, first.entity_id) == ("known_target", 8) and second.expert == "frontier"


def test_a_search_does_not_end_before_who_thinks_has_spoken():
    world = Thinking(answers={"semantic_map": proposal(9.0, 5.0)})
    world.loop.start(find(), 0.0)
    world.run(seconds=10.0)
    assert "waiting for semantic_map and ego_vlm to answer" in world.loop.feedback().text
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)[0].expert == "semantic_map" and world.now >= world.think
