"""Tests of experts that fail or give malformed answers: no crash, no wrong goal and no silence, but an error code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from agent_fakes import FACING, TARGET, World, exploring, find, proposal

from lodestar.agent.errands.commands import SendGoal
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import Proposal, Rejection, RejectionReason

RUBBISH = {
    "nan": proposal(math.nan, 1.0),
    "infinite": proposal(math.inf, 1.0),
    "flat": Proposal("", 0, np.zeros(2), 0.5, "two numbers"),
    "wall": proposal(0.02, 5.0, confidence=1.0),
    "unknown entity": proposal(5.0, 5.0, confidence=1.0, entity_id=999),
    "nan score": proposal(5.0, 5.0, confidence=math.nan),
    "huge score": proposal(5.0, 5.0, confidence=1e9),
}


def fails(reason: RejectionReason):
    return lambda request: Rejection("", request.epoch, reason, "it broke")


def world_of(**answers) -> World:
    return World(answers=answers)


@pytest.mark.parametrize("kind", RUBBISH)
def test_rubbish_is_never_driven_to(kind):
    world = world_of(ego_vlm=RUBBISH[kind], semantic_map=RUBBISH[kind], frontier=exploring((2.0, 8.0, 0.0)))
    world.mirror.put(TARGET)
    world.loop.start(find(), 0.0)
    world.run()
    goals = [tuple(command.goal) for command in world.of(SendGoal)]
    assert goals and set(goals) <= {(2.0, 8.0, 0.0)}
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND
    arms = {arm.expert: arm for arm in world.decisions[0].arms}
    assert not arms["ego_vlm"].admissible and arms["ego_vlm"].reason


@pytest.mark.parametrize("kind", RUBBISH)
def test_when_all_answer_rubbish_the_robot_stands_and_says_so(kind):
    world = world_of(**dict.fromkeys(("frontier", "semantic_map", "ego_vlm"), RUBBISH[kind]))
    world.loop.start(find(), 0.0)
    world.run()
    assert not world.of(SendGoal)
    assert world.result.error_code is ErrorCode.NO_EXPERT and "frontier" in world.result.error_msg
    assert world.now < world.config.no_expert_timeout + 3.0, "no silent hang"


def test_one_answer_without_use_after_a_long_drive_does_not_end_the_search():
    """A goal may become invalid between answer and decision, if the map has changed."""
    unlucky: list[float] = []

    def frontier(request):
        if math.dist(request.robot_pose[:2], (2.0, 8.0)) > 0.3:
            return proposal(2.0, 8.0)
        unlucky.append(world.now)
        return RUBBISH["wall"] if len(unlucky) == 1 else proposal(8.0, 2.0)

    world = world_of(frontier=frontier)
    world.speed = 6.0 / (2.0 * world.config.no_expert_timeout)  # the drive lasts twice the timeout
    world.loop.start(find(), 0.0)
    world.run(until=lambda: len(world.of(SendGoal)) > 1)
    assert len(unlucky) >= 2 and unlucky[0] > world.config.no_expert_timeout
    assert world.result is None and world.of(SendGoal)[-1].goal[0] == 8.0


BROKEN = [
    RejectionReason.MODEL_ERROR, RejectionReason.MODEL_UNAVAILABLE, RejectionReason.UNKNOWN, RejectionReason.NO_DATA,
    RejectionReason.DEADLINE,
]  # fmt: skip


@pytest.mark.parametrize("reason", BROKEN)
def test_all_three_experts_failing_at_once_is_an_error_code(reason):
    world = world_of(**dict.fromkeys(("frontier", "semantic_map", "ego_vlm"), fails(reason)))
    world.loop.start(find(), 0.0)
    world.run()
    assert not world.of(SendGoal) and not world.loop.motion_allowed
    assert world.result.error_code is ErrorCode.NO_EXPERT and "it broke" in world.result.error_msg
    assert world.now < world.config.no_expert_timeout + 3.0


@pytest.mark.parametrize("reason", BROKEN)
def test_a_known_target_is_reached_though_all_three_experts_fail(reason):
    world = world_of(**dict.fromkeys(("frontier", "semantic_map", "ego_vlm"), fails(reason)))
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.success and world.result.entity_ids == (7,)
    assert world.of(SendGoal)[0].expert == "known_target"
    assert math.dist(world.pose[:2], FACING[:2]) < 1.5


def test_a_map_that_knows_of_no_viewpoint_is_believed():
    world = world_of(semantic_map=fails(RejectionReason.NO_VIEWPOINT), frontier=exploring((2.0, 8.0, 0.0)))
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert world.of(SendGoal)[0].expert == "frontier"


def test_experts_that_come_back_are_listened_to_again():
    world = world_of(frontier=fails(RejectionReason.UNKNOWN), semantic_map=fails(RejectionReason.MODEL_ERROR))
    world.loop.start(find(), 0.0)
    world.run(seconds=8.0)
    assert world.result is None and not world.of(SendGoal)
    world.answers["frontier"] = exploring((2.0, 8.0, 0.0))
    world.run(until=lambda: bool(world.of(SendGoal)))
    assert world.now < 10.0


def test_what_an_expert_writes_cannot_break_a_line():
    world = world_of(
        frontier=Proposal("", 0, np.array([2.0, 8.0, 0.0]), 0.5, "look\x1b[31m\nERROR: stop\x07" * 40)
    )
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    text = world.loop.feedback().text
    assert all(c.isprintable() for c in text) and len(text) < 300
