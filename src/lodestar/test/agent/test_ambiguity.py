"""Tests of ambiguous targets: both are looked at, nearest first, and only a clearly better one is claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from agent_fakes import ACCEPT, FakeTargets, World, entity, find, find_many, proposal

from lodestar.agent.decisions.ambiguity import NextMove, TargetAmbiguity
from lodestar.agent.errands.commands import SendGoal, State
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import Rejection, RejectionReason
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate

NEAR, FAR, FARTHEST = entity(3, 4.0, 2.0), entity(7, 8.0, 5.0), entity(9, 8.0, 8.5)


def candidate(identity, score, relation=None):
    """Return a candidate whose single predicate has the candidate's score, or `relation`."""
    return Candidate(identity, score, score, {"NextTo desk": score if relation is None else relation})


@dataclass
class Relations(FakeTargets):
    """Candidates whose scores depend on one relation, which may only be known after a close look."""

    def look(self, mirror, step):
        present = {i: s for i, s in self.scores.items() if i in mirror.entities}
        candidates = [
            candidate(i, s) for i, s in sorted(present.items(), key=lambda item: (-item[1], item[0]))
        ]
        return TargetView(tuple(candidates), tuple(c for c in candidates if c.score >= ACCEPT))


def facing(one):
    return (float(one.mean[0]) - 0.8, float(one.mean[1]), 0.0)


def semantic_map(world, unreachable=()):
    """Return a semantic map that proposes the best entity that is not excluded, faced from its left."""

    def answer(request):
        left = [
            i
            for i, _ in sorted(world.targets.scores.items(), key=lambda item: -item[1])
            if i not in request.excluded_entities and i in world.mirror.entities
        ]
        free = [i for i in left if i not in unreachable]
        if not free:
            reason = RejectionReason.NO_VIEWPOINT if left else RejectionReason.NO_PROPOSAL
            return Rejection("semantic_map", request.epoch, reason, "none")
        return proposal(*facing(world.mirror.entities[free[0]]), confidence=0.9, entity_id=free[0])

    return answer


def world_of(scores, things=(NEAR, FAR), unreachable=()):
    world = World()
    world.targets = world.loop._context.targets = Relations(scores=dict(scores))
    world.mirror.put(*things)
    world.answers["semantic_map"] = semantic_map(world, unreachable)
    return world


def visited(world):
    """Return the ids of the entities in the order of the visits."""
    ids = [g.entity_id for g in world.of(SendGoal)]
    return [i for i, before in zip(ids, [0, *ids]) if i != before]


def after_a_look_at(world, identity, scores, seconds=1.5):
    """Set these scores `seconds` after the robot reached an entity; it claims after 0.7 s."""
    one = world.mirror.entities[identity]
    away = lambda: math.dist(world.pose[:2], one.mean[:2])  # noqa: E731
    world.run(until=lambda: world.loop.state is State.VERIFYING and away() < 1.5)
    world.run(seconds)
    world.targets.scores.update(scores)
    world.mirror.revision += 1


def test_one_that_stands_out_is_claimed_without_a_look_at_the_other():
    world = world_of({3: 0.75, 7: 0.65})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.success and world.result.entity_ids == (3,)
    assert visited(world) == [3]


def test_where_all_that_was_said_surely_holds_any_will_do_and_the_claim_names_the_other():
    world = world_of({3: 0.95, 7: 0.96})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.success and len(visited(world)) == 1
    assert "As good a match" in world.result.report


def test_both_are_looked_at_and_a_tie_is_a_result_of_its_own():
    world = world_of({3: 0.70, 7: 0.71})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.AMBIGUOUS
    assert set(visited(world)) == {3, 7}
    assert set(world.result.nearest_matches[:2]) == {3, 7}
    assert "#3" in world.result.error_msg and "#7" in world.result.error_msg
    assert not world.loop.motion_allowed


def test_the_second_is_claimed_where_a_close_look_makes_it_stand_out():
    world = world_of({3: 0.72, 7: 0.70})
    world.loop.start(find(), 0.0)
    after_a_look_at(world, 3, {7: 0.90})
    assert "oo close to call" in world.loop.feedback().text or visited(world)[-1] == 7
    world.run()
    assert world.result.success and world.result.entity_ids == (7,)
    assert visited(world) == [3, 7]


def test_the_first_is_gone_back_to_where_the_look_at_the_second_rules_that_out():
    world = world_of({3: 0.72, 7: 0.70})
    world.loop.start(find(), 0.0)
    after_a_look_at(world, 3, {})
    after_a_look_at(world, 7, {3: 0.85, 7: 0.65}, 0.3)
    world.run()
    assert world.result.success and world.result.entity_ids == (3,)
    assert visited(world)[0] == 3 and visited(world)[-1] == 3


def test_of_three_the_open_ones_are_looked_at_nearest_first():
    world = world_of({3: 0.70, 9: 0.72, 7: 0.71}, (NEAR, FAR, FARTHEST))
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.AMBIGUOUS
    first, second, third = visited(world)
    assert {first, second, third} == {3, 7, 9}
    near = {3: {7: 5.0, 9: 7.6}, 7: {9: 3.5, 3: 5.0}, 9: {7: 3.5, 3: 7.6}}
    assert second == min(near[first], key=near[first].get)


def test_a_rival_without_a_viewpoint_does_not_keep_the_robot_searching():
    world = world_of({3: 0.72, 7: 0.70}, unreachable=(7,))
    world.answers["frontier"] = proposal(5.0, 9.0)
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.AMBIGUOUS
    assert set(visited(world)) == {3}


def test_a_rival_that_turns_out_to_be_the_same_thing_is_no_rival():
    world = world_of({3: 0.72, 7: 0.70})
    world.loop.start(find(), 0.0)
    after_a_look_at(world, 3, {})
    world.mirror.remove(7)
    world.mirror.merged[7] = 3
    world.run()
    assert world.result.success and world.result.entity_ids == (3,)


def test_a_directive_for_two_of_them_knows_no_doubt():
    world = world_of({3: 0.70, 7: 0.71})
    directive = find()
    both = find_many(directive, 2)
    world.loop.start(both, 0.0)
    world.run()
    assert world.result.success and set(world.result.entity_ids) == {3, 7}


def test_the_next_step_begins_without_doubt():
    doubt = TargetAmbiguity()
    pair = (candidate(1, 0.7), candidate(2, 0.7))
    assert doubt.wanted(pair, lambda i: i) == pair
    assert doubt.confirmed(1) is NextMove.NEXT
    assert [c.entity_id for c in doubt.wanted(pair, lambda i: i)] == [2]
    assert doubt.confirmed(2) is NextMove.TIED
    assert TargetAmbiguity().rivals == ()


@pytest.mark.parametrize("said", [{}, {"red": 1.0}])
def test_a_kind_alone_or_what_surely_holds_leaves_no_rivals(said):
    doubt = TargetAmbiguity()
    doubt.wanted((Candidate(1, 0.8, 0.8, dict(said)), Candidate(2, 0.8, 0.8, dict(said))), lambda i: i)
    assert doubt.rivals == ()
    assert doubt.confirmed(1) is NextMove.CLAIM
