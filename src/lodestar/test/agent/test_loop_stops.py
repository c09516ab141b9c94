"""Tests of directives that are refused, cancelled, held or out of time, after which the robot stands."""

from __future__ import annotations

import numpy as np
import pytest
from agent_fakes import World, find, room

from lodestar.agent.errands.commands import CancelGoal, Finish, LookFor, RequestProposals, SendGoal, State
from lodestar.agent.errands.context import make_context
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import Busy, ErrorCode, Held
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.selection.linucb import LinUcb, LinUcbConfig


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
    assert world.loop.directive is not None


def test_no_directive_begins_while_paused_and_the_refusal_says_who_paused():
    loop = World().loop
    loop.pause(True, 0.0, "paused by agent (number 7)")
    with pytest.raises(Held, match=r"paused by agent \(number 7\)"):
        loop.start(find(), 0.0)


def test_the_robot_may_move_only_while_a_goal_of_its_own_is_under_way(known_target):
    """In no state without a goal; while the next one is decided, the goal of before counts."""
    world, loop = known_target, known_target.loop
    loop.start(find(), 0.0)
    states = {}
    for _ in range(4000):
        world.advance()
        if world.result is not None:
            break
        states.setdefault(loop.state, set()).add(loop.motion_allowed)
        assert (
            loop.motion_allowed == loop.goal_under_way == (loop._context.run.under_way.navigation is not None)
        )
    assert states[State.NAVIGATING] == {True} and states[State.VERIFYING] == {False}
    assert False in states[State.DECIDING]


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


def fresh_loop(world):
    """Return a loop that has received no facts."""
    policy = LinUcb(LinUcbConfig(), world.experts, world.policy.names, np.random.default_rng(0))
    return DecisionLoop(make_context(world.config, policy, None, world.experts, targets=world.targets))


def test_no_grid_ends_as_no_map():
    world = World()
    loop = fresh_loop(world)
    loop.on_pose(world.pose, 0.0)
    loop.start(find(), 0.0)
    assert [type(command) for command in loop.tick(1.0)] == [LookFor]
    commands = []
    for second in range(2, 17):
        assert commands == []
        loop.on_pose(world.pose, float(second - 1))
        commands = loop.tick(float(second))
    assert commands[-1].result.error_code is ErrorCode.NO_MAP


def test_no_pose_ends_as_tf_error():
    world = World()
    loop = fresh_loop(world)
    loop.on_grid(room())
    loop.start(find(), 0.0)
    loop.tick(LoopConfig().no_map_timeout - 0.1)
    loop.on_grid(room())
    finish = loop.tick(LoopConfig().no_map_timeout + 0.1)[-1]
    assert finish.result.error_code is ErrorCode.TF_ERROR


@pytest.mark.parametrize("advanced", [True, False])
def test_a_pose_that_comes_after_a_long_tick_is_not_old(advanced):
    world = World()
    loop = fresh_loop(world)
    loop.on_grid(room())
    loop.on_pose(world.pose, 0.0)
    loop.start(find(), 0.0)
    loop.tick(0.0)  # keeps working until `late`
    late = LoopConfig().pose_patience + 1.0
    if advanced:
        loop.advance(late)
    loop.on_grid(room())
    loop.on_pose(world.pose, late)
    ended = [command for command in loop.tick(late) if hasattr(command, "result")]
    assert bool(ended) != advanced


@pytest.mark.parametrize("phase", ["deciding", "driving", "verifying"])
def test_a_paused_robot_stands_and_goes_on_to_the_same_end(known_target, phase):
    world, loop = known_target, known_target.loop
    loop.start(find(), 0.0, time_limit=200.0)
    reached = {
        "deciding": lambda: True,
        "driving": lambda: world.pose[0] > 4.0,
        "verifying": lambda: loop.state is State.VERIFYING,
    }
    world.run(until=reached[phase])
    loop.pause(True, world.now)
    assert not loop.motion_allowed and loop.directive is not None
    place, goals = world.pose.copy(), len(world.of(SendGoal))
    world.run(seconds=250.0)  # beyond the time limit
    assert world.result is None and len(world.of(SendGoal)) == goals
    assert np.allclose(world.pose[:2], place[:2], atol=0.2) and "Paused" in loop.feedback().text
    loop.pause(True, world.now)  # a second pause changes nothing
    loop.pause(False, world.now)
    world.run()
    assert world.result.success


@pytest.mark.parametrize("how", ["cancel", "hold"])
def test_a_paused_directive_can_be_ended(known_target, how):
    world, loop = known_target, known_target.loop
    loop.start(find(), 0.0)
    world.run(until=lambda: world.pose[0] > 4.0)
    loop.pause(True, world.now)
    loop.cancel(world.now) if how == "cancel" else loop.hold(True, world.now)
    world.advance()
    assert world.result.error_code is (ErrorCode.CANCELLED if how == "cancel" else ErrorCode.HELD)


def test_a_pause_without_a_directive_changes_nothing():
    loop = World().loop
    loop.pause(True, 1.0)
    loop.pause(False, 2.0)
    loop.start(find(), 3.0)
    assert loop.directive is not None
