"""Tests of the battery: the robot turns back in time, and reports the reason."""

from __future__ import annotations

import math

import pytest
from agent_fakes import FACING, World, exploring, find, proposal, room
from hypothesis import given
from hypothesis import strategies as st

from lodestar.agent.errands.commands import SendGoal
from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import Directive, Pose, Step, StepKind

FAR = ((8.0, 8.0, 0.0), (8.0, 2.0, 0.0), (2.0, 8.0, 0.0), (5.0, 5.0, 0.0))


def test_it_drives_to_the_charger_while_the_battery_still_lasts():
    world = World(answers={"frontier": exploring(*FAR)})
    budget = EnergyBudget(range_left=20.0, charger=(2.5, 2.0), reserve=2.0)
    world.loop.on_energy(budget)
    world.loop.start(find(), 0.0)
    world.run()
    result = world.result
    assert result.error_code is ErrorCode.ENERGY and not result.success
    assert math.dist(world.pose[:2], budget.charger) < 0.2
    assert result.distance_travelled <= budget.range_left - budget.reserve + 1.0
    assert result.distance_travelled > 10.0, "it did not turn back at once"
    assert "reserve" in result.error_msg and "charger" in result.error_msg and "there now" in result.error_msg
    assert [command.expert for command in world.of(SendGoal)][-1] == "charger"


def test_without_a_charger_it_comes_back_to_the_start():
    world = World(answers={"frontier": exploring(*FAR)})
    world.loop.on_energy(EnergyBudget(range_left=14.0, reserve=2.0))
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.ENERGY and "the start" in world.result.error_msg
    assert math.dist(world.pose[:2], (2.0, 2.0)) < 0.2


def test_a_battery_that_lasts_changes_nothing(known_target):
    known_target.loop.on_energy(EnergyBudget(range_left=40.0, charger=(2.0, 2.0), reserve=5.0))
    known_target.loop.start(find(), 0.0)
    known_target.run()
    assert known_target.result.success
    assert known_target.loop.energy.range_left == pytest.approx(40.0 - math.dist((2, 2), FACING[:2]), abs=0.3)


def test_an_empty_battery_ends_it_where_it_stands():
    world = World(answers={"frontier": exploring(*FAR)})
    world.loop.on_energy(EnergyBudget(range_left=1.0, charger=(2.0, 2.0), reserve=2.0))
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.ENERGY
    assert world.result.distance_travelled < 0.5


def test_a_charger_that_cannot_be_reached_is_said():
    world = World(answers={"frontier": exploring(*FAR)})
    world.loop.on_energy(EnergyBudget(range_left=14.0, charger=(2.0, 2.0), reserve=2.0))
    world.loop.start(find(), 0.0)
    world.run(until=lambda: any(command.expert == "charger" for command in world.of(SendGoal)))
    world.abort_with = (208, "no valid path")
    world.run()
    assert world.result.error_code is ErrorCode.ENERGY
    assert "Could not come back" in world.result.error_msg and "no valid path" in world.result.error_msg


def test_a_battery_that_lasts_for_no_goal_sends_it_to_the_charger():
    world = World(answers={"frontier": exploring((8.0, 8.0, 0.0))})
    world.loop.on_energy(EnergyBudget(range_left=9.0, charger=(3.0, 2.0), reserve=2.0))
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.ENERGY
    assert [command.expert for command in world.of(SendGoal)] == ["charger"]
    assert not world.decisions and world.result.distance_travelled < 2.0


@given(st.floats(0.0, 40.0), st.floats(0.0, 8.0), st.floats(1.0, 9.0), st.floats(1.0, 9.0), st.booleans())
def test_what_is_said_of_the_battery_is_true(left, reserve, x, y, walled):
    """For every charge and charger, the report says that the battery lasts if and only if it does."""
    grid = room()
    if walled:
        grid.cells[:88, 48:52] = 100
        x = x if abs(x - 5.0) > 0.8 else 8.0
    world = World(grid=grid, answers={"frontier": exploring(*FAR)}, navigates=False)
    world.loop.on_energy(EnergyBudget(left, charger=(x, y), reserve=reserve))
    world.loop.start(find(), 0.0)
    world.run(3.0)
    said = " ".join(world.loop._context.run.report if world.result is None else [world.result.report])
    back = float(path_lengths(grid, (x, y))[tuple(grid.cells_of(world.pose[:2]))])
    ahead = any(command.expert == "frontier" for command in world.of(SendGoal))
    assert ahead != ("the way back" in said)
    if math.isfinite(back):
        assert ("not enough for the way back" in said) == (not ahead and back > left)
        if "just lasts" in said:
            assert back <= left and back <= max(left - reserve, 0.0) + 1.0
        if ahead:
            goal = world.of(SendGoal)[0].goal
            there = float(path_lengths(grid, world.pose[:2])[tuple(grid.cells_of(goal[:2]))])
            from_there = float(path_lengths(grid, (x, y))[tuple(grid.cells_of(goal[:2]))])
            assert there + from_there <= left - reserve + 0.1


@pytest.mark.parametrize("expert", ["frontier", "semantic_map", "ego_vlm"])
def test_no_expert_sends_it_farther_than_there_and_back(expert):
    world = World(answers={expert: proposal(8.0, 8.0)})
    # the path there is 8.5 m
    world.loop.on_energy(EnergyBudget(range_left=16.0, charger=(2.0, 2.0), reserve=2.0))
    world.loop.start(find(), 0.0)
    world.run(20.0)
    assert [command.expert for command in world.of(SendGoal)] in ([], ["charger"])
    assert "no goal that is left leaves enough for the way back" in world.result.report


@pytest.mark.parametrize("limit", [1.0, 20.0, 40.0])
def test_the_time_limit_does_not_cut_the_way_to_the_charger(limit):
    """Once the battery demands the way back, the robot comes back, whenever the directive's time ends."""
    world = World(answers={"frontier": exploring(*FAR)})
    budget = EnergyBudget(range_left=20.0, charger=(2.5, 2.0), reserve=2.0)
    world.loop.on_energy(budget)
    world.loop.start(find(), 0.0, time_limit=600.0)
    world.run(until=lambda: world.loop._context.run.charging)
    world.loop._context.run.time_limit = world.now - world.loop._context.run.started + limit - 1.0
    world.run()
    assert world.result.error_code is ErrorCode.ENERGY and "there now" in world.result.error_msg
    assert math.dist(world.pose[:2], budget.charger) < 0.2


@pytest.mark.parametrize("limit", [1.0, 10.0])
def test_the_time_limit_does_not_cut_a_step_that_returns_when_the_battery_demands_it(limit):
    """A step that returns is not replaced by the trip to the charger, and ends there all the same."""
    world = World()
    budget = EnergyBudget(range_left=18.0, charger=(2.5, 2.0), reserve=2.0)
    world.loop.on_energy(budget)
    steps = Step(StepKind.GO, pose=Pose(7.0, 7.0)), Step(StepKind.RETURN)
    world.loop.start(Directive("", steps), 0.0, time_limit=600.0)
    run = world.loop._context.run
    world.run(until=lambda: run.step.kind is StepKind.RETURN)
    world.loop.on_energy(EnergyBudget(range_left=9.0, charger=(2.5, 2.0), reserve=2.0))
    world.run(until=lambda: run.returning)
    run.time_limit = world.now - run.started + limit - 1.0
    world.run()
    assert not run.charging and world.result.success
    assert math.dist(world.pose[:2], (2.0, 2.0)) < 0.3
