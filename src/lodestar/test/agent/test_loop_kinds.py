"""Tests that each kind of directive ends by its own test of success."""

from __future__ import annotations

import math

import numpy as np
from agent_fakes import FACING, World, entity, explore, exploring, find, thing

from lodestar.agent.errands.commands import RequestProposals, SendGoal
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.scene.records import Region


def test_exploring_succeeds_when_everything_is_explored():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.loop.start(explore(), 0.0)
    world.run()
    assert world.result.success and "Explored" in world.result.report


def test_an_inventory_lists_what_was_seen():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(entity(1, 5, 5), entity(2, 6, 6), entity(3, 7, 7, "green plant"))
    world.loop.start(Directive("what is here", (Step(StepKind.LIST),)), 0.0)
    world.run()
    assert world.result.success and world.result.entity_ids == (1, 2, 3)
    assert "I saw 3 things: 2 chairs, 1 plant." in world.result.report
    assert "a green plant (entity 3) at (7.0, 7.0)" in world.result.report


def test_return_goes_to_where_the_robot_was_first():
    world = World()
    world.pose = np.array([6.0, 6.0, 0.0])
    world.loop.on_pose(world.pose, 0.05)
    world.loop.start(Directive("come back", (Step(StepKind.RETURN),)), 0.1)
    world.run()
    assert world.result.success
    assert math.dist(world.pose[:2], (2.0, 2.0)) < 0.1


def test_only_the_explorer_is_asked_where_everything_is_to_be_seen(known_target):
    known_target.loop.start(explore(), 0.0)
    known_target.run()
    assert known_target.result.success
    assert {name for command in known_target.of(RequestProposals) for name in command.experts} == {"frontier"}


def test_an_inventory_of_a_kind_lists_what_meets_the_query_by_region():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.regions = {
        1: Region(1, "kitchen", 1.0, 12.0, np.zeros(2)),
        2: Region(2, "", 0.0, 9.0, np.zeros(2)),
    }
    world.mirror.put(
        entity(1, 5, 5, region_id=1), entity(2, 6, 6, region_id=2), entity(3, 7, 7, "green plant")
    )
    world.targets.scores = {1: 0.9, 2: 0.8, 3: 0.9}
    directive = Directive("list all chairs", (Step(StepKind.LIST, thing("chair")),))
    world.loop.start(directive, 0.0)
    world.run()
    assert world.result.success and set(world.result.entity_ids) == {1, 2}
    lines = world.result.report.splitlines()
    assert "I saw 2 chairs." in lines
    assert "- kitchen 1: a red chair (entity 1) at (5.0, 5.0)" in lines
    assert "- room 2: a red chair (entity 2) at (6.0, 6.0)" in lines
    assert "Drove" in lines[-1]


def test_an_inventory_that_finds_none_has_done_what_was_asked():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0))})
    directive = Directive("list them", (Step(StepKind.LIST, thing("fire extinguisher")),))
    world.loop.start(directive, 0.0)
    world.run()
    assert world.result.success and world.result.entity_ids == ()
    assert "I saw no fire extinguishers." in world.result.report


COME_BACK = Step(StepKind.RETURN)


def test_find_and_come_back_ends_where_it_began(known_target):
    known_target.pose = np.array([4.0, 4.0, 0.0])  # not at the robot's first pose
    known_target.loop.on_pose(known_target.pose, 0.01)
    directive = find()
    known_target.loop.start(directive.with_steps((*directive.steps, COME_BACK)), 0.0)
    known_target.run(until=lambda: known_target.loop.feedback().phase == "RETURNING")
    assert math.dist(known_target.pose[:2], FACING[:2]) < 0.4
    known_target.run()
    assert known_target.result.success and known_target.result.entity_ids == (7,)
    assert math.dist(known_target.pose[:2], (4.0, 4.0)) < 0.1
    assert "Found a red chair (entity 7)" in known_target.result.report
    assert "Back where I started" in known_target.result.report


def test_what_was_not_found_does_not_keep_it_from_coming_back():
    world = World(answers={"frontier": exploring((8.0, 8.0, 0.0))})
    directive = find("mug", "plant")
    world.loop.start(directive.with_steps((*directive.steps, COME_BACK)), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND and not world.result.success
    assert "'mug'" in world.result.error_msg and "Back where I started" in world.result.report
    assert math.dist(world.pose[:2], (2.0, 2.0)) < 0.1


def test_experts_are_told_the_kind_of_the_step(known_target):
    directive = find()
    steps = (*directive.steps, Step(StepKind.EXPLORE))
    known_target.loop.start(directive.with_steps(steps), 0.0)
    known_target.run()
    asked = [(c.request.step_index, c.request.step.kind) for c in known_target.of(RequestProposals)]
    assert set(asked) == {(0, StepKind.FIND), (1, StepKind.EXPLORE)}
    assert known_target.result.success


def test_what_was_seen_before_is_gone_to_at_once_by_the_next_directive(known_target):
    known_target.loop.start(explore(), 0.0)
    known_target.run()
    before = known_target.result
    known_target.commands.clear()
    known_target.loop.start(find(), known_target.now)
    known_target.run()
    assert before.success and known_target.result.success
    assert {command.entity_id for command in known_target.of(SendGoal)} == {7}
    way = math.dist((2.0, 8.0), FACING[:2])
    # it may end before it stands at the goal
    assert way - 0.9 <= known_target.result.distance_travelled <= way + 0.3


def test_the_report_tells_what_was_found_before_a_later_step_failed(known_target):
    known_target.loop.start(find("red chair", "mug"), 0.0)
    known_target.run()
    result = known_target.result
    assert result.error_code is ErrorCode.TARGET_NOT_FOUND and result.entity_ids == (7,)
    assert (
        result.report.startswith("Found a red chair (entity 7) at (8.0, 5.0)") and "no 'mug'" in result.report
    )
