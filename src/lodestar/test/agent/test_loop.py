"""The decision loop follows directives in a fake world and always ends in a stated way."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import World, entity, find, proposal, room

from lodestar.agent.commands import (
    CancelGoal,
    EmbedPhrases,
    Finish,
    NavigationEvent,
    NavigationKind,
    RequestProposals,
    SendGoal,
    State,
)
from lodestar.agent.config import LoopConfig
from lodestar.agent.errors import Busy, ErrorCode, Held
from lodestar.agent.loop import DecisionLoop
from lodestar.experts.protocol import ActionKind, Rejection, RejectionReason
from lodestar.language.directive import Directive, DirectiveKind, Subtask
from lodestar.selection.decision_log import Outcome
from lodestar.selection.linucb import LinUcb, LinUcbConfig

TARGET = entity(7, 8.0, 5.0)  # faced from (7.2, 5.0) heading 0
FACING = (7.2, 5.0, 0.0)


def towards_target(request):
    goals = [FACING, (8.0, 4.2, math.pi / 2), (8.0, 5.8, -math.pi / 2), (8.8, 5.0, math.pi)]
    taken = [g for g in goals if not any(math.dist(g[:2], e[:2]) < 0.3 for e in request.excluded_goals)]
    if 7 in request.excluded_entities or not taken:
        return Rejection("semantic_map", request.epoch, RejectionReason.NO_VIEWPOINT, "none is free")
    return proposal(*taken[0], confidence=0.9, entity_id=7)


def exploring(*goals):
    """A frontier that offers these goals in order, each until it is excluded."""

    def answer(request):
        left = [g for g in goals if not any(math.dist(g[:2], e[:2]) < 0.3 for e in request.excluded_goals)]
        return proposal(*left[0]) if left else None

    return answer


@pytest.fixture
def known_target():
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    return world


def test_a_known_target_is_approached_and_confirmed(known_target):
    known_target.loop.start(find(), 0.0)
    known_target.run()
    result = known_target.result
    assert result.success and result.error_code is ErrorCode.NONE
    assert result.entity_ids == (7,)
    assert result.epochs == 1
    assert result.distance_travelled == pytest.approx(math.dist((2, 2), FACING[:2]), abs=0.3)
    assert [g.entity_id for g in known_target.of(SendGoal)] == [7]
    assert "entity 7, a red chair" in result.report
    assert not known_target.loop.motion_allowed


def test_with_a_known_target_only_goals_that_head_for_it_are_admissible(known_target):
    known_target.answers["ego_vlm"] = proposal(1.0, 1.0, confidence=1.0)
    known_target.loop.start(find(), 0.0)
    known_target.run()
    arms = {arm.expert: arm for arm in known_target.decisions[0].arms}
    assert arms["semantic_map"].propensity == 1.0
    assert not arms["frontier"].admissible and "does not head for it" in arms["frontier"].reason
    assert arms["frontier"].proposal is not None
    assert "known target" in known_target.decisions[0].explanation


def test_success_is_not_claimed_unless_the_target_is_seen_again(known_target):
    known_target.sees = False
    known_target.loop.start(find(), 0.0)
    known_target.run()
    assert known_target.result.error_code is ErrorCode.TARGET_NOT_CONFIRMED
    assert not known_target.result.success
    towards = [g for g in known_target.of(SendGoal) if g.entity_id == 7]
    assert len(towards) == known_target.config.max_viewpoints
    assert len({tuple(g.goal) for g in towards}) == len(towards)


def test_success_is_not_claimed_where_the_robot_does_not_face_the_target(known_target):
    known_target.answers["semantic_map"] = lambda r: (
        proposal(7.2, 5.0, math.pi, 0.9, 7) if not r.excluded_goals else towards_target(r)
    )
    known_target.loop.start(find(), 0.0)
    known_target.run()
    assert known_target.result.success
    assert len([g for g in known_target.of(SendGoal) if g.entity_id == 7]) == 2


def test_a_merged_target_is_confirmed_under_its_new_id(known_target):
    def merge_on_the_way():
        known_target.mirror.remove(7)
        known_target.mirror.merged[7] = 9
        known_target.mirror.put(replace(TARGET, id=9))
        known_target.targets.scores[9] = 0.9

    known_target.loop.start(find(), 0.0)
    known_target.run(until=lambda: known_target.pose[0] > 5.0)
    merge_on_the_way()
    known_target.run()
    assert known_target.result.success and known_target.result.entity_ids == (9,)


def test_a_target_that_appears_while_exploring_is_gone_for_at_once():
    world = World(answers={"semantic_map": None, "frontier": exploring((2.0, 9.0, 0.0), (9.0, 9.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.pose[1] > 4.0)
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    world.answers["semantic_map"] = towards_target
    world.run()
    assert world.result.success
    assert [d.outcome for d in world.decisions] == [Outcome.PREEMPTED, Outcome.REACHED]
    assert world.pose[1] < 9.0


def test_a_candidate_below_accept_is_looked_at_once_and_excluded():
    world = World(answers={"semantic_map": towards_target})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.4
    world.loop.start(find(), 0.0)
    world.run()
    assert [g.entity_id for g in world.of(SendGoal)] == [7]
    result = world.result
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND
    assert result.nearest_matches == (7,)
    assert "red chair" in result.error_msg and "0.40" in result.error_msg


def test_a_candidate_that_turns_out_right_from_near_is_a_success():
    world = World(answers={"semantic_map": towards_target})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.4
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.loop.state is State.VERIFYING)
    world.targets.scores[7] = 0.8
    world.run()
    assert world.result.success and world.result.epochs == 1


def test_an_excluded_candidate_is_reconsidered_when_it_meets_the_query_later():
    world = World(answers={"semantic_map": towards_target})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.4
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.loop.state is State.VERIFYING)
    world.answers["frontier"] = exploring((2.0, 8.0, 0.0))
    world.run(until=lambda: len(world.of(SendGoal)) == 2)  # the chair was looked at, now it explores
    assert 7 in world.of(RequestProposals)[-1].request.excluded_entities
    assert world.of(SendGoal)[-1].entity_id == 0
    world.targets.scores[7] = 0.9
    world.answers["semantic_map"] = lambda r: proposal(8.0, 4.2, math.pi / 2, 0.9, 7)
    world.run()
    assert world.result.success


def test_every_target_of_a_sequence_is_found_in_order(known_target):
    known_target.mirror.put(entity(8, 3.0, 8.0, "green plant"))
    known_target.targets.scores[8] = 0.9

    def semantic(request):
        if request.subtask.target == "green plant":
            return proposal(3.0, 7.2, math.pi / 2, 0.9, 8)
        return towards_target(request)

    known_target.answers["semantic_map"] = semantic
    known_target.loop.start(find("red chair", "green plant"), 0.0)
    known_target.run()
    assert known_target.result.entity_ids == (7, 8)
    assert [d.reward["success"] for d in known_target.decisions] == [10.0, 10.0]


def test_two_of_a_kind_are_two_different_things(known_target):
    known_target.mirror.put(entity(8, 3.0, 8.0))
    known_target.targets.scores[8] = 0.8
    known_target.answers["semantic_map"] = lambda r: (
        proposal(3.0, 7.2, math.pi / 2, 0.9, 8) if 7 in r.excluded_entities else towards_target(r)
    )
    directive = find()
    directive = replace(directive, subtasks=(replace(directive.subtasks[0], count=2),))
    known_target.loop.start(directive, 0.0)
    known_target.run()
    assert known_target.result.success and known_target.result.entity_ids == (7, 8)


def test_a_known_target_without_viewpoint_is_unreachable_after_exploration():
    reject = lambda r: Rejection("semantic_map", r.epoch, RejectionReason.NO_VIEWPOINT, "behind glass")  # noqa: E731
    world = World(answers={"semantic_map": reject, "frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert len(world.of(SendGoal)) >= 1  # it explored first


def test_nothing_found_anywhere_says_so():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND
    assert "Nothing like it was seen" in world.result.error_msg
    assert world.result.epochs >= 2


def test_exploring_succeeds_when_everything_is_explored():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.loop.start(Directive(DirectiveKind.EXPLORE, "explore", ()), 0.0)
    world.run()
    assert world.result.success and "Explored" in world.result.report


def test_an_inventory_lists_what_was_seen():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(entity(1, 5, 5), entity(2, 6, 6), entity(3, 7, 7, "green plant"))
    world.loop.start(Directive(DirectiveKind.INVENTORY, "what is here", (Subtask(),)), 0.0)
    world.run()
    assert world.result.success and world.result.entity_ids == (1, 2, 3)
    assert "2 x chair (1, 2)" in world.result.report and "1 x plant (3)" in world.result.report


def test_return_goes_to_where_the_robot_was_first():
    world = World()
    world.pose = np.array([6.0, 6.0, 0.0])
    world.loop.on_pose(world.pose, 0.05)
    world.loop.start(Directive(DirectiveKind.RETURN, "come back", ()), 0.1)
    world.run()
    assert world.result.success
    assert math.dist(world.pose[:2], (2.0, 2.0)) < 0.1


@pytest.mark.parametrize("phase", ["deciding", "driving", "verifying", "idle"])
@pytest.mark.parametrize("how", ["cancel", "hold"])
def test_cancel_and_hold_get_through_in_every_state(known_target, phase, how):
    world, loop = known_target, known_target.loop
    if phase != "idle":
        world.sees = False
        loop.start(find(), 0.0)
    if phase == "driving":
        world.run(until=lambda: world.pose[0] > 4.0)
        assert loop.state is State.NAVIGATING
    elif phase == "verifying":
        world.run(until=lambda: loop.state is State.VERIFYING)
    world.commands.clear()
    loop.cancel(world.now) if how == "cancel" else loop.hold(True, world.now)
    assert not loop.motion_allowed
    commands = loop.tick(world.now)
    assert any(isinstance(c, CancelGoal) for c in commands)
    assert not any(isinstance(c, SendGoal | RequestProposals) for c in commands)
    finished = [c.result for c in commands if isinstance(c, Finish)]
    if phase == "idle":
        assert finished == []
    else:
        assert finished[0].error_code is (ErrorCode.CANCELLED if how == "cancel" else ErrorCode.HELD)
    assert loop.state is (State.IDLE if how == "cancel" else State.HELD)
    assert loop.tick(world.now + 1.0) == []


def test_a_held_robot_takes_no_directive_until_released():
    world = World()
    world.loop.hold(True, 0.0)
    with pytest.raises(Held):
        world.loop.start(find(), 0.0)
    world.loop.hold(False, 1.0)
    assert world.loop.state is State.IDLE and not world.loop.motion_allowed
    world.loop.start(find(), 1.0)
    assert world.loop.motion_allowed


def test_a_second_directive_is_refused_and_does_not_disturb(known_target):
    known_target.loop.start(find(), 0.0)
    known_target.run(seconds=1.0)
    with pytest.raises(Busy):
        known_target.loop.start(find("plant"), known_target.now)
    known_target.run()
    assert known_target.result.success


def test_the_time_limit_ends_it(known_target):
    known_target.loop.start(find(), 0.0, time_limit=2.0)
    known_target.run()
    assert known_target.result.error_code is ErrorCode.TIME_LIMIT
    assert known_target.now == pytest.approx(2.1, abs=0.15)
    assert known_target.of(CancelGoal)


def test_no_grid_ends_as_no_map():
    world = World()
    loop = DecisionLoop(
        world.config, LinUcb(LinUcbConfig(), world.experts, world.policy.names, np.random.default_rng(0)),
        None, world.experts, targets=world.targets,
    )  # fmt: skip
    loop.on_pose(world.pose, 0.0)
    loop.start(find(), 0.0)
    assert loop.tick(1.0) == []
    commands = []
    for second in range(2, 17):
        assert commands == []
        loop.on_pose(world.pose, float(second - 1))
        commands = loop.tick(float(second))
    assert commands[-1].result.error_code is ErrorCode.NO_MAP


def test_no_pose_ends_as_tf_error():
    world = World()
    loop = DecisionLoop(
        world.config, LinUcb(LinUcbConfig(), world.experts, world.policy.names, np.random.default_rng(0)),
        None, world.experts, targets=world.targets,
    )  # fmt: skip
    loop.on_grid(room())
    loop.start(find(), 0.0)
    loop.tick(world.config.no_map_timeout - 0.1)
    loop.on_grid(room())
    finish = loop.tick(world.config.no_map_timeout + 0.1)[-1]
    assert finish.result.error_code is ErrorCode.TF_ERROR


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
    assert world.now == pytest.approx(world.config.expert_deadline, abs=0.35)


def test_answers_to_old_questions_are_dropped():
    world = World(answers={"frontier": "silent", "semantic_map": "silent", "ego_vlm": "silent"})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(RequestProposals)) == 2)
    stale = world.of(RequestProposals)[0].request.epoch
    world.loop.on_answer(replace(proposal(5, 5), expert="frontier", epoch=stale))
    world.loop.on_answer(replace(proposal(5, 5), expert="stranger", epoch=stale + 1))
    world.run(seconds=3.0)
    assert not world.of(SendGoal)


def test_aborted_goals_are_excluded_with_the_reason_and_another_is_tried():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    world.abort_with = (208, "no valid path")
    world.run(until=lambda: world.goal is None)
    world.abort_with = None
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    assert tuple(world.of(SendGoal)[1].goal) == (8.0, 8.0, 0.0)
    request = world.of(RequestProposals)[-1].request
    assert request.excluded_goals == ((2.0, 8.0, 0.0),)
    assert world.decisions[0].outcome is Outcome.ABORTED
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND


def test_a_navigator_that_always_aborts_ends_as_navigation_failed():
    goals = [(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)]
    world = World(answers={"frontier": exploring(*goals)})
    world.abort_with = (105, "failed to make progress")
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.NAVIGATION_FAILED
    assert "failed to make progress" in world.result.error_msg
    assert len(world.decisions) == world.config.max_navigation_failures


def test_a_navigator_that_is_silent_is_unavailable():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))}, navigates=False)
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.NAVIGATOR_UNAVAILABLE


def test_a_navigator_that_is_not_up_is_waited_for():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))}, accepts=False)
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    world.loop.on_navigation(NavigationEvent(NavigationKind.UNAVAILABLE))
    world.goal = None
    world.accepts = True
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND


def test_a_robot_that_does_not_move_is_stuck_and_chooses_another_goal():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))}, speed=0.0)
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    assert world.now == pytest.approx(world.config.stuck_time, abs=2.0)
    assert any("stuck" in c.reason for c in world.of(CancelGoal))


def test_a_goal_that_takes_too_long_is_given_up():
    world = World(
        answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))},
        config=LoopConfig(goal_time_base=2.0, slowest_speed=10.0, stuck_time=1e6),
        speed=0.1,
    )
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    assert any("too long" in c.reason for c in world.of(CancelGoal))


def test_on_the_way_the_goal_changes_only_when_it_lost_its_worth():
    world = World()
    world.answers["frontier"] = lambda r: proposal(2.0, 9.0) if world.pose[1] < 5.0 else proposal(9.0, 9.0)
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.pose[1] > 4.5)
    assert len(world.of(SendGoal)) == 1
    assert len(world.of(RequestProposals)) >= 2  # it was reviewed meanwhile
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    assert world.pose[1] < 9.0 and tuple(world.of(SendGoal)[1].goal[:2]) == (9.0, 9.0)


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
    world.targets.avoid = (entity(3, 5.0, 5.5, "wet floor"),)
    world.mirror.put(*world.targets.avoid)
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert tuple(world.of(SendGoal)[0].goal[:2]) == (2.0, 5.0)
    arm = world.loop._ledger._open.arms[0]
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


def test_a_jump_of_the_map_is_no_travel(known_target):
    known_target.loop.start(find(), 0.0)
    known_target.run(until=lambda: known_target.pose[0] > 4.0)
    known_target.pose = known_target.pose + np.array([1.0, 0.0, 0.0])
    known_target.run()
    straight = math.dist((2, 2), FACING[:2])
    assert known_target.result.distance_travelled < straight - 0.4


def test_feedback_says_what_it_does(known_target):
    loop = known_target.loop
    assert loop.feedback().phase == "IDLE"
    loop.start(find(), 0.0)
    known_target.run(until=lambda: known_target.pose[0] > 4.0)
    feedback = loop.feedback()
    assert feedback.phase == "APPROACHING" and feedback.expert == "semantic_map"
    assert "entity 7, a red chair" in feedback.text and "going to look" in feedback.text
    assert feedback.distance_remaining > 0.0 and feedback.distance_travelled > 1.0
    assert feedback.coverage == pytest.approx(96.04, abs=0.1)


def test_the_same_seed_gives_the_same_run():
    def trace(seed):
        world = World(seed=seed, mixing=0.5, answers={"ego_vlm": exploring((8.0, 2.0, 0.0), (5.0, 5.0, 0.0))})
        world.answers["frontier"] = exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))
        world.loop.start(find(), 0.0)
        world.run()
        return [(d.chosen, tuple(d.context.items()), d.reward["total"]) for d in world.decisions]

    assert trace(3) == trace(3)
    assert any(trace(3) != trace(s) for s in range(4, 10))


def test_a_refused_decision_is_not_driven():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    refusals = []

    def validator(decision, chosen):
        if chosen.goal[0] < 5.0:
            refusals.append(decision.epoch)
            return "the world model disagrees"
        return ""

    world.loop._validator = validator
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert refusals and tuple(world.of(SendGoal)[0].goal[:2]) == (8.0, 8.0)


def test_the_experts_must_be_the_arms():
    world = World()
    with pytest.raises(ValueError, match="arms"):
        DecisionLoop(world.config, world.policy, None, ("frontier",), targets=world.targets)


def test_a_robot_that_cannot_move_steps_aside_and_goes_on():
    goals = [(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)]
    world = World(answers={"frontier": exploring(*goals)})
    world.mirror.put(entity(3, 4.5, 7.0))
    world.abort_with = (105, "moved 0.00 m in 8 s")
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)) and world.of(SendGoal)[-1].expert == "retreat")
    aside = world.of(SendGoal)[-1].goal
    assert math.dist(aside[:2], world.pose[:2]) == pytest.approx(world.config.retreat_distance)
    assert aside[2] == world.pose[2]
    world.abort_with = None
    world.run(until=lambda: world.of(SendGoal)[-1].expert == "frontier")
    assert np.allclose(world.pose, aside)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND


def test_stepping_aside_tries_every_direction_once():
    goals = [(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)]
    world = World(answers={"frontier": exploring(*goals)})
    world.abort_with = (105, "moved 0.00 m in 8 s")
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.NAVIGATION_FAILED
    asides = [tuple(np.round(c.goal, 3)) for c in world.of(SendGoal) if c.expert == "retreat"]
    assert len(asides) == len(set(asides)) == world.config.max_retreats
    assert len(world.decisions) == world.config.max_navigation_failures
