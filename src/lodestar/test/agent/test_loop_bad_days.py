"""Tests that the robot stands after any fault: errors in the loop, a clock that goes back, a lost pose."""

from __future__ import annotations

import numpy as np
import pytest
from agent_fakes import World, entity, find, proposal

from lodestar.agent.errands.commands import CancelGoal, Finish, SendGoal, State
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import Rejection, RejectionReason


def explorer(request):
    return proposal(2.0 + 5.0 * (request.epoch % 2), 8.0, 0.0)


@pytest.fixture
def driving():
    world = World(answers={"frontier": explorer})
    world.loop.start(find(), 0.0)
    world.run(2.0, until=lambda: world.of(SendGoal))
    assert world.loop.motion_allowed
    return world


def breaks(*_args):
    raise ZeroDivisionError("a score")


@pytest.mark.parametrize(
    "stop", [lambda loop: loop.cancel(3.0), lambda loop: loop.hold(True, 3.0), lambda loop: loop.tick(1e6)]
)
def test_a_halt_gets_through_though_nothing_can_be_scored_any_more(driving, stop):
    driving.targets.look = breaks
    commands = stop(driving.loop) or driving.loop.tick(3.0)
    assert not driving.loop.motion_allowed
    kinds = [type(command) for command in commands]
    assert kinds.index(CancelGoal) < kinds.index(Finish), "the navigator is told before anybody else"


def test_an_error_in_the_loop_ends_the_directive(driving):
    driving.targets.look = breaks
    driving.run(10.0)
    assert driving.result.error_code is ErrorCode.UNKNOWN
    assert "ZeroDivisionError: a score" in driving.result.error_msg
    assert driving.of(CancelGoal) and not driving.loop.motion_allowed
    assert driving.loop.state is State.IDLE


def test_a_clock_that_goes_back_ends_the_directive_and_the_next_one_runs(driving):
    driving.loop.restart_clock(0.0)
    commands = driving.loop.tick(0.0)
    finish = next(c for c in commands if isinstance(c, Finish))
    assert finish.result.error_code is ErrorCode.TF_ERROR and "clock" in finish.result.error_msg
    assert any(isinstance(c, CancelGoal) for c in commands) and not driving.loop.motion_allowed
    driving.commands.clear()
    driving.now = 0.0
    driving.loop.on_pose(np.array([4.0, 4.0, 0.0]), 0.0)
    driving.loop.start(find(), 0.0, time_limit=5.0)
    driving.run(20.0)
    assert driving.result.error_code is ErrorCode.TIME_LIMIT and driving.now < 6.0, "deadlines count anew"


def test_a_robot_that_no_longer_knows_where_it_is_stands(driving):
    driving.loop.on_pose = lambda pose, stamp: None
    driving.run(10.0)
    assert driving.result.error_code is ErrorCode.TF_ERROR
    assert driving.now < 6.0 and not driving.loop.motion_allowed


def explored(request):
    return Rejection("frontier", request.epoch, RejectionReason.EXPLORED, "all seen")


@pytest.mark.parametrize(("seen", "code"), [(True, ErrorCode.TARGET_NOT_FOUND), (False, ErrorCode.NO_EXPERT)])
def test_a_search_that_saw_nothing_at_all_does_not_say_that_the_thing_is_absent(seen, code):
    """Perception has died: exploring without it proves nothing."""
    goals = iter([(2.0, 8.0, 0.0), (7.0, 8.0, 0.0)] * 4)

    def answer(request):
        goal = next(goals, None)
        return explored(request) if goal is None else proposal(*goal)

    config = LoopConfig(max_retries=0, scene_patience=5.0)
    world = World(config, answers={"frontier": answer}, sees=seen)
    world.mirror.put(entity(3, 4.5, 7.0, last_seen=0.0))
    world.loop.start(find(), 0.0)
    world.run(400.0)
    assert world.now > world.config.scene_patience
    assert world.result.error_code is code, world.result.error_msg
    if not seen:
        assert "perception" in world.result.error_msg
