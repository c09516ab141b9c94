"""Tests of the loop's time against the stamps of facts, which differ after a clock has stopped for a while."""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import TARGET, World, entity, exploring, find, proposal

from lodestar.agent.errands.commands import RecordDecision, RequestProposals
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.experts.protocol import Rejection, RejectionReason

STALL = 20.0  # s by which the clocks differ
LIFT = np.array([0.0, 0.0, 0.6])  # m, places the target above the camera


@pytest.fixture
def stalled(known_target) -> World:
    """Return a room with a known red chair, in which the loop's time is ahead of the stamps by a stall."""
    known_target.stall = STALL
    return known_target


def test_a_target_is_found_after_the_clock_has_stood(stalled):
    stalled.loop.start(find(), STALL)
    stalled.run(120.0)
    assert stalled.result.success, stalled.result.error_msg


def test_a_target_that_was_hidden_on_arrival_is_judged_by_stamps(stalled):
    """Seen until just before the arrival, and high up: the second place is believed, as without a stall."""
    high = replace(TARGET, box_min=TARGET.box_min + LIFT, box_max=TARGET.box_max + LIFT)
    stalled.mirror.put(high)
    stalled.sees = False
    observe = lambda: stalled.mirror.put(replace(high, last_seen=stalled.now))  # noqa: E731
    stalled.loop.start(find(), STALL)
    while stalled.result is None and stalled.now < 120.0:
        if stalled.loop.state.name != "VERIFYING":
            observe()
        stalled.advance()
    assert stalled.result.success, stalled.result.error_msg


def test_questions_and_decisions_carry_stamps_and_the_deadline_is_on_the_same_clock(stalled):
    stalled.loop.start(find(), STALL)
    stalled.run(5.0)
    request = stalled.of(RequestProposals)[0].request
    assert request.stamp < 1.0, "experts compare it with the stamps of their images"
    assert request.deadline == pytest.approx(request.stamp + LoopConfig().expert_deadline)
    assert stalled.of(RecordDecision)[0].decision.stamp == request.stamp


def test_an_expert_has_its_time_after_a_stall_and_no_more(stalled):
    stalled.answers["frontier"] = "silent"
    stalled.answers["semantic_map"] = "silent"
    stalled.mirror.remove(7)
    stalled.loop.start(find(), STALL)
    stalled.answers["ego_vlm"] = lambda request: proposal(4.0, 2.0)
    stalled.run(3.0)
    assert not stalled.decisions and not stalled.of(RecordDecision)
    stalled.run(1.0)
    assert stalled.of(RecordDecision), "the deadline is over"


@pytest.mark.parametrize(("seen", "code"), [(True, ErrorCode.TARGET_NOT_FOUND), (False, ErrorCode.NO_EXPERT)])
def test_a_blind_search_is_told_from_one_that_saw_nothing_by_stamps(seen, code):
    explored = lambda r: Rejection("frontier", r.epoch, RejectionReason.EXPLORED, "all seen")  # noqa: E731
    goals = iter([(2.0, 8.0, 0.0), (7.0, 8.0, 0.0)] * 4)

    def answer(request):
        goal = next(goals, None)
        return explored(request) if goal is None else proposal(*goal)

    config = LoopConfig(max_retries=0, scene_patience=5.0)
    world = World(config, answers={"frontier": answer}, sees=seen, stall=STALL)
    world.mirror.put(entity(3, 4.5, 7.0))
    world.loop.start(find(), STALL)
    world.run(200.0)
    assert world.now > config.scene_patience and world.result.error_code is code, world.result.error_msg


def test_a_robot_whose_poses_stand_with_the_clock_is_not_stuck():
    world = World(answers={"frontier": exploring((8.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(2.0)
    pose, failures = world.pose.copy(), world.loop._context.run.errand.failures
    for extra in np.arange(0.0, world.config.stuck_time + 2.0, 0.5):
        world.loop.on_pose(pose, world.now)  # the newest transform is sent again and again
        world.loop.on_grid(world.loop._context.facts.grid)
        world.loop.tick(world.now + extra)
    assert world.loop._context.run.errand.failures == failures
    assert world.loop.motion_allowed


def test_a_robot_that_stands_while_its_poses_go_on_is_stuck(known_target):
    known_target.navigates, known_target.stall = True, STALL
    known_target.loop.start(find(), STALL)
    known_target.run(1.0)
    known_target.speed = 0.0
    known_target.run(known_target.config.stuck_time + 2.0)
    assert "no movement" in known_target.loop._context.run.errand.last_failure


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.sub])
def test_a_stamp_and_a_time_of_the_loop_cannot_be_mixed(compare):
    with pytest.raises((TypeError, AttributeError)):
        compare(Stamp(1.0), 1.0)
    with pytest.raises((TypeError, AttributeError)):
        compare(1.0, Stamp(1.0))
    assert Stamp(1.0) < Stamp(2.0) and Stamp(3.0) - Stamp(1.0) == 2.0
    assert Stamp(-1e9) > NEVER and Stamp(1.0).after(0.5) == Stamp(1.5)
