"""Tests that known targets are approached, verified and counted."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import (
    EXPERTS,
    FACING,
    TARGET,
    World,
    entity,
    exploring,
    find,
    find_many,
    proposal,
    towards_target,
)

from lodestar.agent.errands.commands import (
    NavigationEvent,
    NavigationKind,
    RecordDecision,
    RequestProposals,
    SendGoal,
    State,
)
from lodestar.agent.errands.errand import LOOP_MAX_VIEWPOINTS, LOOP_SECOND_VIEWPOINTS, LOOP_UNSURE_VIEWPOINTS
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import Rejection, RejectionReason
from lodestar.geometry.poses import planar_transform
from lodestar.grid.config import LookConfig
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import View
from lodestar.selection.baselines import SingleExpert
from lodestar.selection.context import FEATURES
from lodestar.selection.decisions import Outcome


def test_a_known_target_is_approached_and_confirmed(known_target):
    known_target.loop.start(find(), 0.0)
    known_target.run()
    result = known_target.result
    assert result.success and result.error_code is ErrorCode.NONE
    assert result.entity_ids == (7,)
    assert result.epochs == 1
    assert result.distance_travelled == pytest.approx(math.dist((2, 2), FACING[:2]), abs=0.3)
    assert [g.entity_id for g in known_target.of(SendGoal)] == [7]
    assert "a red chair (entity 7)" in result.report
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


def test_without_the_rule_a_known_target_is_one_goal_among_others(known_target):
    known_target.answers["ego_vlm"] = proposal(1.0, 1.0, confidence=1.0)
    known_target.loop._context.config = replace(known_target.config, known_first=False)
    known_target.loop.start(find(), 0.0)
    known_target.run(until=lambda: bool(known_target.of(SendGoal)))
    first = known_target.of(RecordDecision)[0].decision
    assert {arm.expert for arm in first.arms if arm.admissible} == {"frontier", "semantic_map", "ego_vlm"}
    assert "known target" not in first.explanation


def test_success_is_not_claimed_unless_the_target_is_seen_again(known_target, monkeypatch):
    known_target.sees = False
    monkeypatch.setattr("lodestar.agent.errands.errand.LOOP_MAX_VIEWPOINTS", 3)
    known_target.loop.start(find(), 0.0)
    known_target.run()
    assert known_target.result.error_code is ErrorCode.TARGET_NOT_CONFIRMED
    assert not known_target.result.success
    towards = [g for g in known_target.of(SendGoal) if g.entity_id == 7]
    tries = [decision for decision in known_target.decisions if decision.chosen == "semantic_map"]
    assert len(tries) == 3 + LOOP_SECOND_VIEWPOINTS
    assert len({tuple(g.goal) for g in towards[:3]}) == 3


def test_the_constraint_state_follows_the_search(known_target):
    seen = []
    known_target.loop.start(find(), 0.0)
    known_target.run(until=lambda: seen.append(known_target.loop.feedback().constraint))
    seen.append(known_target.loop.feedback().constraint)
    assert [state for n, state in enumerate(seen) if n == 0 or state != seen[n - 1]] == [
        "IDLE",
        "APPROACHING(entity:7)",
        "VERIFYING(entity:7)",
        "AT(entity:7)",
    ]


def test_success_is_not_claimed_where_the_robot_does_not_face_the_target(known_target):
    known_target.answers["semantic_map"] = lambda r: (
        proposal(7.2, 5.0, 1.0, 0.9, 7) if not r.excluded_goals else towards_target(r)
    )
    known_target.loop.start(find(), 0.0)
    while known_target.result is None and known_target.now < 60.0:
        known_target.sees = not _driving(known_target)
        known_target.advance()
    assert known_target.result.success
    assert len([g for g in known_target.of(SendGoal) if g.entity_id == 7]) == 2


def _seen_from(metres: float):
    return lambda world: math.dist(world.pose[:2], (TARGET.mean[0], TARGET.mean[1])) > metres


def _driving(world) -> bool:
    return world.loop.state is not State.VERIFYING


def test_what_is_seen_for_long_enough_on_the_way_is_claimed_without_another_look(known_target):
    known_target.answers["semantic_map"] = towards_target
    known_target.loop.start(find(), 0.0)
    while known_target.result is None and known_target.now < 60.0:
        known_target.sees = _driving(known_target)
        known_target.advance()
    assert known_target.result.success and len(known_target.decisions) == 1


@pytest.mark.parametrize(
    ("height", "sees", "is_found"),
    [
        (0.7, _seen_from(1.3), True),  # the table's edge hides the object from all nearer places
        (0.7, _seen_from(3.0), False),
        (0.0, _seen_from(1.3), False),
    ],
)
def test_what_stands_above_the_camera_may_be_hidden_from_two_places(
    known_target, height, sees, is_found, monkeypatch
):
    raised = np.array([0.0, 0.0, height])
    known_target.mirror.put(replace(TARGET, box_min=TARGET.box_min + raised, box_max=TARGET.box_max + raised))
    # without an early stop, so that the robot drives to every goal
    monkeypatch.setattr("lodestar.agent.decisions.approach.LOOP_WORTH_STOPPING", 99.0)
    known_target.answers["semantic_map"] = towards_target
    known_target.loop.start(find(), 0.0)
    arrivals: list[tuple[float, float]] = []
    while known_target.result is None and known_target.now < 300.0:
        known_target.sees = sees(known_target)
        known_target.advance()
        place = (float(known_target.pose[0]), float(known_target.pose[1]))
        if not _driving(known_target) and place not in arrivals:
            arrivals.append(place)
    assert known_target.result.success == is_found
    assert len(arrivals) == 2 if is_found else len(arrivals) > 2  # the first arrival does not decide


def test_a_phantom_before_the_robot_is_given_up_though_its_goals_fail():
    world = World(
        sees=False, answers={"semantic_map": None, "frontier": exploring(*[(k, 9.0, 0.0) for k in range(9)])}
    )
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    world.pose = np.array(FACING)
    world.loop.on_pose(world.pose, 0.0)
    world.abort_with = (1, "no way")
    world.loop.start(find(), 0.0)
    world.run(120.0)
    assert world.result is not None and not world.result.success
    assert len(world.of(SendGoal)) < 30


def behind_a_closed_way(score: float) -> World:
    """Return a world with a red chair (entity 7) of this score, no allowed path to it, and two corners to explore."""
    on_the_way = [(2.0 + 0.5 * k, 5.0, 0.0) for k in range(9)]

    def towards(asked):
        left = [g for g in on_the_way if not any(math.dist(g[:2], e[:2]) < 0.3 for e in asked.excluded_goals)]
        return proposal(*left[0], 0.9, 7) if left and 7 not in asked.excluded_entities else None

    world = World(answers={"semantic_map": towards, "frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    world.mirror.put(TARGET)
    world.targets.scores[7] = score
    drive = world._drive

    def refuse_the_way():
        if world.goal is not None and abs(world.goal[1] - 5.0) < 1e-6:
            world.goal = None
            world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, 1, "no way"))
        else:
            drive()

    world._drive = refuse_the_way
    return world


def test_a_target_that_nobody_can_drive_to_leaves_the_search_to_others():
    world = behind_a_closed_way(0.9)
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert world.result.distance_travelled > 9.0, "it explored"


def test_what_does_not_meet_the_query_is_not_tried_as_often_as_a_target():
    world = behind_a_closed_way(0.55)
    world.loop._context.ledger._policy.choose = SingleExpert(EXPERTS, FEATURES, "semantic_map").choose
    world.loop.start(find(), 0.0)
    world.run()
    goals = [goal.expert for goal in world.of(SendGoal)]
    before = goals[: goals.index("frontier")]
    assert before.count("semantic_map") == LOOP_UNSURE_VIEWPOINTS
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND, "it is not known to be the target"


def test_what_turns_out_to_be_the_target_is_tried_again():
    world = behind_a_closed_way(0.55)
    world.loop._context.ledger._policy.choose = SingleExpert(EXPERTS, FEATURES, "semantic_map").choose
    world.loop.start(find(), 0.0)
    world.run(until=lambda: 7 in world.loop._context.run.errand.excluded)
    world.answers["semantic_map"] = towards_target
    world._drive = World._drive.__get__(world)
    world.targets.scores[7] = 0.9
    world.mirror.put(TARGET)
    world.run()
    assert world.result.success


def test_a_place_on_the_way_to_a_target_uses_up_no_viewpoint(known_target):
    on_the_way = [proposal(2.0 + 0.5 * k, 5.0, 0.0, 0.9, 7) for k in range(2 * LOOP_MAX_VIEWPOINTS)]
    known_target.answers["semantic_map"] = lambda r: (
        on_the_way[len(r.excluded_goals)] if len(r.excluded_goals) < len(on_the_way) else towards_target(r)
    )
    known_target.loop.start(find(), 0.0)
    known_target.run()
    assert known_target.result.success


def test_what_was_given_up_is_tried_again_when_all_is_explored(known_target):
    known_target.sees = False
    known_target.loop.start(find(), 0.0)
    known_target.run(until=lambda: 7 in known_target.loop._context.run.errand.excluded)
    known_target.sees = True
    known_target.run()
    assert known_target.result.success


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
    # the second goal comes after the chair was looked at, from exploration
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
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
        if request.step.target == "green plant":
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
    directive = find_many(directive, 2)
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
    assert len(world.of(SendGoal)) >= 1  # it explored before


REMEMBERED = "the person was last seen here 40 seconds ago, 5.0 m away"


def remembering() -> World:
    """Return a world with a memory that has a person at (7, 8), once, and a corner to explore."""
    places = iter([(7.0, 8.0, 0.0)])

    def remembered(request):
        goal = next(places, None)
        if goal is None:
            return Rejection("semantic_map", request.epoch, RejectionReason.NO_PROPOSAL, "none")
        return replace(proposal(*goal), rationale=REMEMBERED)

    return World(answers={"semantic_map": remembered, "frontier": exploring((2.0, 8.0, 0.0))})


def test_what_was_last_seen_at_a_place_and_is_not_found_there_is_told_as_seen_then():
    """A person has left: the robot drove to the remembered place, and reports the earlier observation."""
    world = remembering()
    world.loop.start(find(), 0.0)
    world.run()
    assert (7.0, 8.0) in [tuple(goal.goal[:2]) for goal in world.of(SendGoal)]
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND
    assert "last seen here 40 seconds ago" in world.result.error_msg
    assert "Nothing like it was seen" not in world.result.error_msg


def test_a_place_that_the_robot_did_not_come_to_is_not_told_as_one_where_it_has_been():
    world = remembering()
    drive = world._drive

    def refuse_the_way():
        if world.goal is not None and tuple(world.goal[:2]) == (7.0, 8.0):
            world.goal = None
            world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, 1, "no way"))
        else:
            drive()

    world._drive = refuse_the_way
    world.loop.start(find(), 0.0)
    world.run()
    assert (7.0, 8.0) in [tuple(goal.goal[:2]) for goal in world.of(SendGoal)]
    assert not world.result.success and "last seen here" not in world.result.error_msg


def test_what_came_nearest_is_told_beside_where_the_robot_has_been():
    world = remembering()
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.3
    world.loop.start(find(), 0.0)
    world.run()
    assert "What came nearest" in world.result.error_msg and "last seen here" in world.result.error_msg


def test_nothing_found_anywhere_says_so():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND
    assert "Nothing like it was seen" in world.result.error_msg
    assert world.result.epochs >= 2


@pytest.mark.parametrize("arrives", [True, False])
def test_a_search_that_runs_out_of_time_tells_where_one_was_last_seen_if_the_robot_was_there(arrives: bool):
    world = remembering()
    world.loop.start(find(), 0.0)
    run = world.loop._context.run
    while arrives and not run.errand.looked_at and world.now < 100.0:
        world.advance()
    run.time_limit = world.now - run.started + 0.2
    world.run(20.0)
    assert world.result.error_code is ErrorCode.TIME_LIMIT
    assert ("last seen here 40 seconds ago" in world.result.error_msg) == arrives
    assert "The time limit of" in world.result.error_msg


def viewed_from(*places: tuple[float, float], stamp: float = 1.0) -> tuple[View, ...]:
    """Return views from these places, metres."""
    return tuple(View(stamp, planar_transform(x, y, 0.0), ImageBox(0, 0, 9, 9)) for x, y in places)


@pytest.mark.parametrize(
    "eyes, views, success",
    [
        ("nanodet", viewed_from((7.0, 3.0), (6.0, 5.0)), True),  # from two sides, long ago
        ("nanodet", viewed_from((6.0, 5.0), (6.1, 5.1)), False),  # from one, where a false detection stays
        ("nanodet", viewed_from((7.0, 3.0), (6.0, 5.0), stamp=-60.0), False),  # before it was asked
        ("", viewed_from((7.0, 3.0), (6.0, 5.0)), False),  # a detector that misses nothing
    ],
)
def test_a_thing_that_is_seldom_seen_from_near_is_claimed_if_it_was_seen_from_two_sides(eyes, views, success):
    """Face its place, which is not seen to be empty; the detector shows nothing there."""
    world = World(sees=False, config=replace(World().config, look_limits=LookConfig(eyes=eyes)))
    world.mirror.put(entity(7, *TARGET.mean[:2], "white sink", last_seen=1.0, views=views))
    world.targets.scores[7] = 0.9
    world.answers["semantic_map"] = towards_target
    world.step = 0.5
    world.speed = 0.2  # it arrives longer after the last sight than a sight on the way counts
    world.loop.start(find("white sink"), 0.0)
    world.run(400.0)
    assert world.result.success is success, world.result.report
