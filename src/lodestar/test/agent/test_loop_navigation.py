"""Tests of a navigator that fails, stands or is silent, after which the loop goes on."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FACING, World, entity, explore, exploring, find, proposal, room

from lodestar.agent.errands.commands import (
    CancelGoal,
    NavigationEvent,
    NavigationKind,
    RequestProposals,
    SendGoal,
)
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.loop.navigating import (
    LOOP_MAX_NAVIGATION_FAILURES,
    LOOP_MAX_RETREATS,
    LOOP_RETREAT_DISTANCE,
)
from lodestar.selection.decisions import Outcome


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
    assert len(world.decisions) == LOOP_MAX_NAVIGATION_FAILURES


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


def test_a_goal_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr("lodestar.agent.errands.context.LOOP_SLOWEST_SPEED", 10.0)
    world = World(
        answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))},
        config=LoopConfig(goal_time_base=2.0, stuck_time=1e6),
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
    assert len(world.of(RequestProposals)) >= 2  # the goal was reviewed during the drive
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    assert world.pose[1] < 9.0 and tuple(world.of(SendGoal)[1].goal[:2]) == (9.0, 9.0)


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
    assert "a red chair (entity 7)" in feedback.text and "may be it" in feedback.text
    assert feedback.distance_remaining > 0.0 and feedback.distance_travelled > 1.0
    assert feedback.coverage == pytest.approx(96.04, abs=0.1)


def test_a_robot_that_cannot_move_steps_aside_and_goes_on():
    goals = [(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)]
    world = World(answers={"frontier": exploring(*goals)})
    world.mirror.put(entity(3, 4.5, 7.0))
    world.abort_with = (105, "moved 0.00 m in 8 s")
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)) and world.of(SendGoal)[-1].expert == "retreat")
    aside = world.of(SendGoal)[-1].goal
    assert math.dist(aside[:2], world.pose[:2]) == pytest.approx(LOOP_RETREAT_DISTANCE)
    assert aside[2] == world.pose[2]
    world.abort_with = None
    world.run(until=lambda: world.of(SendGoal)[-1].expert == "frontier")
    assert np.allclose(world.pose, aside)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND


@pytest.mark.parametrize(
    ("code", "second"), [(106, "retreat"), (107, "frontier"), (206, "frontier"), (0, "frontier")]
)
def test_a_robot_that_cannot_turn_where_it_stands_does_not_try_another_turn(code, second):
    def turning(asked):
        yaw = 1.0 + len(asked.excluded_goals)
        return proposal(2.0, 2.1, yaw) if yaw < 4.0 else None

    world = World(answers={"frontier": turning})
    world.abort_with = (code, "every motion would touch an obstacle")
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(SendGoal)) == 2)
    assert [goal.expert for goal in world.of(SendGoal)] == ["frontier", second]


def test_stepping_aside_tries_every_direction_once():
    goals = [(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)]
    world = World(answers={"frontier": exploring(*goals)})
    world.abort_with = (105, "moved 0.00 m in 8 s")
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.NAVIGATION_FAILED
    asides = [tuple(np.round(c.goal, 3)) for c in world.of(SendGoal) if c.expert == "retreat"]
    assert len(asides) == len(set(asides)) == LOOP_MAX_RETREATS
    assert len(world.decisions) == LOOP_MAX_NAVIGATION_FAILURES


@pytest.mark.parametrize("seed", range(5))
def test_between_goals_that_only_show_something_it_does_not_stand(seed):
    angles = 2.4 * np.arange(6) + np.random.default_rng(seed).uniform(0.0, math.tau)
    goals = [(5.0 + 3.0 * math.cos(a), 5.0 + 3.0 * math.sin(a), 0.0) for a in angles]
    world = World(answers={"frontier": exploring(*goals)})
    world.loop.start(explore(), 0.0)
    stood, before = 0, world.pose.copy()
    while world.result is None and world.now < 120.0:
        world.advance()
        stood += len(world.of(SendGoal)) in range(1, 6) and np.allclose(world.pose, before)
        before = world.pose.copy()
    assert world.result is not None
    assert stood * 0.1 <= 0.1 * world.now


def test_an_explorer_that_goes_back_and_forth_is_not_followed_for_ever():
    goals, turn = [(2.0, 8.0), (8.0, 8.0)], [0]

    def torn(request):
        turn[0] += math.dist(goals[turn[0] % 2], request.robot_pose[:2]) < 0.6
        goal = goals[turn[0] % 2]
        return None if any(math.dist(goal, e[:2]) < 0.3 for e in request.excluded_goals) else proposal(*goal)

    world = World(answers={"frontier": torn})
    world.loop.start(explore(), 0.0)
    world.run(120.0)
    assert world.result is not None


@pytest.mark.parametrize("late", [0.3, 0.8, 1.2])
def test_what_the_last_view_shows_is_waited_for_before_a_search_ends(late):
    """The detections of the last view arrive `late` seconds after the goal, when nothing else is left to explore."""
    world = World(answers={"frontier": exploring((5.0, 5.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.loop._context.run.errand.passed != [])
    world.run(late)
    assert world.result is None
    world.mirror.put(entity(7, 8.0, 5.0))
    world.targets.scores[7] = 0.9
    world.answers["semantic_map"] = lambda request: proposal(7.2, 5.0, 0.0, 0.9, 7)
    world.run(60.0)
    assert world.result is not None and world.result.success


def test_a_goal_behind_a_wall_is_not_passed():
    grid = room()
    cells = grid.cells.copy()
    cells[:, 48:50] = 100
    cells[5:15, 48:50] = 0  # a door at the far end
    world = World(answers={"frontier": exploring((5.2, 8.0, 0.0))})
    world.loop.on_grid(replace(grid, cells=cells))
    world.pose = np.array([4.5, 8.0, 0.0])
    world.loop.on_pose(world.pose, 0.01)
    world.loop.start(explore(), 0.0)
    world.advance()
    world.advance()
    world.advance()
    run = world.loop._context.run
    assert run is not None and run.errand.passed == []
