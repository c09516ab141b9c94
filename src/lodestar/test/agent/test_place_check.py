"""Tests that a robot that was carried away notices it before it acts, and reports it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import World, exploring, find, room

from lodestar.agent.errands.commands import SendGoal
from lodestar.agent.facts.config import RECOVERY_LOCALISATION_PATIENCE, LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.directive import Directive, Step, StepKind

PATIENCE = RECOVERY_LOCALISATION_PATIENCE


def _rested(**changes) -> World:
    """Return a world whose robot has completed one directive."""
    world = World(answers={"frontier": exploring((4.0, 4.0, 0.0))}, **changes)
    world.loop.start(find(), 0.0)
    world.run()
    world.commands.clear()
    world.answers["frontier"] = exploring((6.0, 4.0, 0.0))
    return world


def _another_place(world: World) -> None:
    """Put walls around the robot where the map had none, as after a wrong pose."""
    grid = room()
    row, column = grid.cells_of(world.pose[None, :2])[0]
    for offset in (-9, 9):
        grid.cells[row - 25 : row + 25, column + offset] = 100
    world.loop.on_grid(grid)


def test_a_robot_that_was_carried_says_so_and_does_not_move():
    world = _rested()
    _another_place(world)
    world.loop.start(find(), world.now)
    began = world.now
    world.run(5.0)
    assert world.result is None and not world.of(SendGoal)
    assert "Was I carried?" in world.loop.feedback().text
    world.run()
    assert world.result.error_code is ErrorCode.TF_ERROR and "2D Pose Estimate" in world.result.error_msg
    assert PATIENCE <= world.now - began < PATIENCE + 2.0 and not world.of(SendGoal)


def test_said_again_the_directive_is_carried_out_because_the_room_may_have_changed():
    world = _rested()
    _another_place(world)
    world.loop.start(find(), world.now)
    world.run()
    world.commands.clear()
    world.loop.start(find(), world.now)
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)


def test_where_the_surroundings_fit_again_it_goes_on():
    world = _rested()
    _another_place(world)
    world.loop.start(find(), world.now)
    world.run(5.0)
    world.loop.on_grid(room())
    world.run(5.0, until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)


def test_a_pose_that_was_set_by_hand_lets_it_go_on():
    world = _rested()
    _another_place(world)
    world.loop.start(find(), world.now)
    world.run(5.0)
    world.pose = np.array([8.0, 8.0, 0.0])
    world.loop.on_grid(room())
    world.run(5.0, until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)


@pytest.mark.parametrize("carried", [True, False])
def test_a_robot_that_was_carried_during_a_pause_does_not_move(carried):
    world = _rested()
    world.loop.start(find(), world.now)
    world.run(until=lambda: bool(world.of(SendGoal)) and world.goal is not None)
    world.run(1.0)
    world.loop.pause(True, world.now)
    world.run(5.0)
    if carried:
        _another_place(world)
    world.loop.pause(False, world.now)
    before = len(world.of(SendGoal))
    world.run(5.0)
    assert (len(world.of(SendGoal)) == before) == carried
    assert ("Was I carried?" in world.loop.feedback().text) == carried


def test_a_pause_of_a_robot_that_does_not_know_where_it_is_changes_nothing():
    world = _rested()
    _another_place(world)
    world.loop.start(find(), world.now)
    world.run(5.0)
    world.loop.pause(True, world.now)
    world.run(60.0)
    world.loop.pause(False, world.now)
    world.run(5.0)
    assert not world.of(SendGoal) and "Was I carried?" in world.loop.feedback().text


@pytest.mark.parametrize("moved", ["crate", "correction", "nothing"])
def test_what_changes_in_a_room_is_no_other_place(moved):
    world = _rested()
    grid = room()
    row, column = grid.cells_of(world.pose[None, :2])[0]
    if moved == "crate":
        grid.cells[row + 8 : row + 13, column : column + 5] = 100
    elif moved == "correction":  # the mapped walls moved by 0.2 m
        grid.cells[:] = np.roll(grid.cells, 2, axis=0)
    world.loop.on_grid(grid)
    world.loop.start(find(), world.now)
    world.run(3.0, until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)


def test_a_jump_that_the_map_followed_while_the_robot_rested_is_no_other_place():
    world = _rested()
    world.pose = world.pose + np.array([1.5, 0.0, 0.0])
    world.advance()
    grid = room()
    world.loop.on_grid(replace(grid, origin=(1.5, 0.0)))
    world.loop.start(find(), world.now)
    world.answers["frontier"] = exploring((7.5, 4.0, 0.0))
    world.run(3.0, until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)


def test_a_step_that_moves_nothing_is_not_checked_and_without_recovery_none_is():
    world = _rested()
    _another_place(world)
    world.loop.start(Directive("wait", (Step(StepKind.WAIT, seconds=2.0),)), world.now)
    world.run(10.0)
    assert world.result.success
    world = _rested(config=LoopConfig(recovery=RecoveryConfig(enabled=False)))
    _another_place(world)
    world.loop.start(find(), world.now)
    world.run(5.0, until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)
