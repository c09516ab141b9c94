"""Tests of failed actions in the loop: diagnosed, beliefs corrected, and never repeated on equal beliefs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from agent_fakes import TARGET, World, entity, exploring, find, proposal, room, towards_target
from recovery_world import (
    NEVER_SEEN,
    NO_PATH,
    abort,
    archive,
    block,
    every_action_has_one_end,
    known_chair_world,
    outcomes_of,
    turning,
)

from lodestar.agent.errands.commands import NavigationEvent, NavigationKind, SendGoal, State
from lodestar.agent.facts.config import LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.loop.diagnosing import RECOVERY_PERSON_PATIENCE, RECOVERY_WAIT
from lodestar.worldmodel.amendments import Change
from lodestar.worldmodel.outcomes import Cause, Look, Result
from lodestar.worldmodel.records import Belief


@pytest.mark.parametrize(
    ("how", "result"),
    [("arrives", Result.COMMITTED), ("fails", Result.ROLLED_BACK), ("paused", Result.CANCELLED),
     ("cancelled", Result.CANCELLED), ("no navigator", Result.CANCELLED)],
)  # fmt: skip
def test_a_look_is_an_action_that_ends_once(how, result):
    world = known_chair_world()
    look = turning(world)
    assert world.loop.feedback().constraint.startswith("INTERRUPTED(")
    if how == "fails":
        world.targets.scores = {}  # so that no target is faced
        abort(world, 105)
    elif how == "paused":
        world.loop.pause(True, world.now)
        world.advance()
        world.loop.pause(False, world.now)
    elif how == "cancelled":
        world.loop.cancel(world.now)
    elif how == "no navigator":
        world.goal = None
        world.loop.on_navigation(NavigationEvent(NavigationKind.UNAVAILABLE))
    world.run(5.0, until=lambda: any(one.trace_id == look.id for one in outcomes_of(world)))
    assert [one.result for one in outcomes_of(world) if one.trace_id == look.id] == [result]
    if how == "arrives":
        assert world.loop.feedback().constraint == "INTERRUPTED(entity:8)"
    world.sees = True
    world.run()
    every_action_has_one_end(world)


def test_every_action_ends_once_and_a_found_target_commits_it():
    world = known_chair_world()
    world.run()
    assert world.result.success
    every_action_has_one_end(world)
    assert outcomes_of(world)[-1].result is Result.COMMITTED


def test_a_person_in_the_way_is_waited_for_and_the_same_goal_goes_on():
    world = known_chair_world()
    before = world.goal.copy()
    world.run(until=lambda: world.pose[0] > 3.0)
    block(world, 5.0, 5.4, 3.0, 5.8)
    world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
    abort(world, *NO_PATH)
    world.run(3.0)
    assert world.loop.state is State.DIAGNOSING and world.goal is None
    diagnosis = outcomes_of(world, Result.ROLLED_BACK)[-1]
    assert diagnosis.diagnosis.cause is Cause.WAY_BLOCKED_MOVING
    assert diagnosis.recovery == "wait_then_go_round"
    assert [one.change for one in diagnosis.amendments] == [Change.CLOSE_WAY]
    world.loop.on_grid(room())
    world.mirror.remove(30)
    world.run(until=lambda: world.goal is not None)
    assert world.goal == pytest.approx(before)
    world.run()
    assert world.result.success


def test_whoever_stands_there_for_too_long_is_gone_round():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 3.0)
    block(world, 5.0, 5.4, 3.0, 5.8)
    world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
    first = world.goal.copy()
    abort(world, *NO_PATH)
    stopped = world.now
    world.run(60.0, until=lambda: world.goal is not None)
    waited = world.now - stopped
    assert RECOVERY_PERSON_PATIENCE <= waited < RECOVERY_PERSON_PATIENCE + 5.0
    assert world.goal != pytest.approx(first)


def test_what_cannot_be_told_apart_is_looked_at_first():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 3.0)
    block(world, 5.0, 5.4, 3.0, 5.8)
    abort(world, *NO_PATH)
    stopped = world.now
    world.run(1.0)
    first = outcomes_of(world, Result.ROLLED_BACK)[-1]
    assert first.diagnosis.look is Look.WAIT and first.recovery == "" and not first.amendments
    assert world.loop.state is State.DIAGNOSING
    world.mirror.put(entity(31, 5.2, 4.8, "brown box", first_seen=world.now))
    world.run(20.0, until=lambda: outcomes_of(world)[-1].is_final)
    assert world.now - stopped >= RECOVERY_WAIT
    last = outcomes_of(world, Result.ROLLED_BACK)[-1]
    assert last.trace_id == first.trace_id and last.diagnosis.cause is Cause.WAY_BLOCKED_STATIC


def test_a_goal_that_the_planner_finds_occupied_is_left_out_without_a_look():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 3.0)
    first = world.goal.copy()
    abort(world, 206, "goal occupied")
    stopped = world.now
    world.run(10.0, until=lambda: world.goal is not None)
    assert world.now - stopped < 1.0 and world.goal != pytest.approx(first)
    assert outcomes_of(world, Result.ROLLED_BACK)[-1].diagnosis.cause is Cause.GOAL_OCCUPIED


def test_a_thing_that_is_gone_ends_the_search_with_where_it_was():
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=20.0)))
    world.run(until=lambda: world.pose[0] > 4.0)
    archive(world, 7)
    world.run(120.0)
    assert world.result.error_code is ErrorCode.TARGET_GONE
    found = outcomes_of(world, Result.ROLLED_BACK)[0]
    assert found.diagnosis.cause is Cause.TARGET_REMOVED
    assert [(one.change, one.entity_id) for one in found.amendments] == [(Change.ARCHIVE, 7)]
    assert "is gone: it was last seen at (8.0, 5.0)" in world.result.error_msg
    assert "% of the floor" in world.result.error_msg
    assert 0.0 < world.result.searched_share <= 1.0


def test_a_pause_does_not_count_against_the_search():
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=60.0)))
    world.answers["frontier"] = exploring(*((2.0 + i % 7, 8.0 - i % 3, 0.0) for i in range(90)))
    world.run(until=lambda: world.pose[0] > 4.0)
    archive(world, 7)
    world.run(10.0)
    assert world.result is None and world.loop._context.run.errand.gone
    world.loop.pause(True, world.now)
    world.run(90.0)
    world.loop.pause(False, world.now)
    resumed = world.now
    world.run(200.0)
    assert world.result.error_code is ErrorCode.TARGET_GONE
    assert world.now - resumed > 40.0


def test_a_paused_robot_is_about_nothing():
    world = known_chair_world()
    assert world.loop.feedback().constraint == "APPROACHING(entity:7)"
    world.loop.pause(True, world.now)
    assert world.loop.feedback().constraint == "HELD"
    world.loop.pause(False, world.now)
    assert world.loop.feedback().constraint == "IDLE"
    world.run(until=lambda: world.loop.state is State.NAVIGATING)
    assert world.loop.feedback().constraint == "APPROACHING(entity:7)"
    world.loop.pause(True, world.now)
    world.loop.cancel(world.now)
    assert world.loop.feedback().constraint == "IDLE"


def test_a_thing_that_was_never_known_is_not_found_and_not_gone():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND
    assert "% of the floor" in world.result.error_msg
    assert 0.0 < world.result.searched_share <= 1.0


def test_a_thing_first_seen_since_the_directive_that_vanishes_is_not_gone_either():
    """A false detection must not end a search of an unknown building early."""
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(1.0)
    world.mirror.put(replace(TARGET, first_seen=world.now, last_seen=world.now))
    world.targets.scores[7] = 0.9
    world.run(until=lambda: any(goal.entity_id == 7 for goal in world.of(SendGoal)))
    archive(world, 7)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND


def test_a_thing_that_moved_is_found_in_its_new_place():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 4.0)
    archive(world, 7)
    world.mirror.put(entity(8, 5.0, 8.0, first_seen=world.now, last_seen=world.now))
    world.targets.scores[8] = 0.9
    world.answers["semantic_map"] = lambda request: proposal(5.0, 7.2, math.pi / 2, 0.9, 8)
    world.run()
    assert world.result.success and world.result.entity_ids == (8,)
    assert outcomes_of(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.TARGET_MOVED


@pytest.mark.parametrize("comes", [True, False])
def test_what_has_come_beside_the_target_since_is_unexpected(comes):
    """The crate (9) stood there before; the bin (10) appears during the drive, and the target is not seen again."""
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(replace(TARGET, first_seen=NEVER_SEEN, last_seen=NEVER_SEEN))
    world.mirror.put(entity(9, 9.0, 5.0, "brown crate"))
    world.targets.scores[7] = 0.9
    world.sees = False
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.pose[0] > 4.0)
    if comes:
        world.mirror.put(entity(10, 8.0, 6.0, "blue bin"))
    world.run(30.0, until=lambda: bool(outcomes_of(world, Result.ROLLED_BACK)))
    found = outcomes_of(world, Result.ROLLED_BACK)[0].diagnosis.discrepancy
    assert found.unexpected == ((Belief("NextTo", ("entity:7", "entity:10")),) if comes else ())


def test_a_thing_that_is_found_elsewhere_after_it_was_missed_has_moved():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 4.0)
    archive(world, 7)
    world.run(5.0)
    assert outcomes_of(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.TARGET_REMOVED
    world.mirror.put(entity(8, 5.0, 8.0, first_seen=world.now, last_seen=world.now))
    world.targets.scores[8] = 0.9
    world.answers["semantic_map"] = lambda request: proposal(5.0, 7.2, math.pi / 2, 0.9, 8)
    world.run()
    assert world.result.success and "is no longer at (8.0, 5.0)" in world.result.report
    assert outcomes_of(world)[-1].diagnosis.cause is Cause.TARGET_MOVED


def test_something_else_than_it_was_taken_for_gives_way_to_the_next():
    world = known_chair_world()
    world.mirror.put(entity(8, 2.0, 8.0, first_seen=NEVER_SEEN, last_seen=NEVER_SEEN))
    world.targets.scores[8] = 0.7
    world.run(until=lambda: world.loop.state is State.VERIFYING)
    world.targets.scores[7] = 0.1
    world.mirror.put(replace(world.mirror.entities[7], caption="red bin"))
    world.answers["semantic_map"] = lambda request: (
        proposal(2.0, 7.2, math.pi / 2, 0.9, 8) if 7 in request.excluded_entities else towards_target(request)
    )
    world.run()
    assert world.result.success and world.result.entity_ids == (8,)
    causes = [one.diagnosis.cause for one in outcomes_of(world, Result.ROLLED_BACK) if one.diagnosis]
    assert causes == [Cause.TARGET_MISLABELLED]


def test_a_second_one_is_told_of():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 5.0)
    world.mirror.put(entity(8, 8.0, 7.0, first_seen=world.now, last_seen=world.now))
    world.targets.scores[8] = 0.9
    world.run()
    assert world.result.success
    last = outcomes_of(world)[-1]
    assert last.result is Result.COMMITTED and last.diagnosis.cause is Cause.DUPLICATE_APPEARED
    assert "Another one that fits has appeared" in world.result.report
