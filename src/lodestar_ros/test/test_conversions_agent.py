"""Tests of conversions of directives, requests, answers and decisions, in both directions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.language.grammar import parse_directive
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar_interfaces.action import FollowDirective, ProposeGoal
from lodestar_ros import conversions_agent as c
from lodestar_ros.conversions import BadMessage

DIRECTIVE = parse_directive("find two red chairs next to the desk, then a cup; keep away from the wet floor")


def proposal(expert="frontier", goal=(1.0, 2.0, -0.5)):
    return Proposal(
        expert, 4, np.array(goal), 0.75, "because", 17, ActionKind.TURN_LEFT, (17, 18), (3,), 0.25, 9.5
    )


@pytest.mark.parametrize("deadline", [math.inf, 12.5])
def test_request(deadline, assert_same):
    request = ProposalRequest(
        4, 9.5, DIRECTIVE, 1, np.array([1.0, 2.0, 0.5]), frozenset({3, 8}), ((1.0, 1.0, 0.0),), deadline
    )
    assert_same(c.request_from_goal(c.request_to_goal(request)), request)


def test_request_for_a_subtask_that_does_not_exist_is_refused():
    goal = c.request_to_goal(ProposalRequest(4, 9.5, DIRECTIVE, 0, np.zeros(3)))
    goal.subtask = 5
    with pytest.raises(BadMessage, match="subtask 5"):
        c.request_from_goal(goal)
    goal.subtask, goal.robot_pose.header.frame_id = 0, "odom"
    with pytest.raises(BadMessage, match="odom"):
        c.request_from_goal(goal)


def test_answers(assert_same):
    assert_same(c.answer_from_result(c.answer_to_result(proposal()), "frontier", 4), proposal())
    rejection = Rejection("frontier", 4, RejectionReason.EXPLORED, "nothing left")
    assert_same(c.answer_from_result(c.answer_to_result(rejection), "frontier", 4), rejection)


def test_an_answer_that_makes_no_sense_is_a_rejection():
    odd = c.answer_from_result(ProposeGoal.Result(error_code=4711, error_msg="odd"), "frontier", 4)
    assert (odd.reason, odd.epoch) == (RejectionReason.UNKNOWN, 4)
    result = c.answer_to_result(proposal())
    result.proposal.goal.orientation.w = result.proposal.goal.orientation.z = 0.0
    assert c.answer_from_result(result, "frontier", 4).reason is RejectionReason.UNKNOWN
    newer = c.answer_to_result(proposal())
    newer.proposal.action = 200
    assert "200 is no ActionKind" in c.answer_from_result(newer, "frontier", 4).message


def test_chance_and_seconds_are_told_both_or_not_at_all_and_a_chance_is_a_probability():
    told = c.answer_to_result(replace(proposal(), chance=0.25, seconds=8.0))
    assert c.answer_from_result(told, "frontier", 4).value == 0.25 / 8.0
    for seconds in (0.0, -3.0):
        told.proposal.seconds = seconds
        answer = c.answer_from_result(told, "frontier", 4)
        assert answer.chance is None and answer.seconds is None
    told.proposal.seconds = 8.0
    for chance in (85.0, -0.5, math.inf):
        told.proposal.chance = chance
        assert "must lie in [0, 1]" in c.answer_from_result(told, "frontier", 4).message


def test_every_reason_is_a_code_of_the_action():
    for reason in RejectionReason:
        assert getattr(ProposeGoal.Result, reason.name) == reason.value


def test_every_error_of_the_loop_is_a_code_of_the_action():
    from lodestar.agent.facts.errors import ErrorCode

    for code in ErrorCode:
        assert getattr(FollowDirective.Result, code.name) == code.value


def test_decision(assert_same):
    decision = Decision(
        epoch=4, stamp=9.5, directive="find it", subtask=1, context={"bias": 1.0, "coverage": 0.25},
        arms=(ArmRecord("frontier", True, "", 0.5, 0.75, 0.875, proposal()),
              ArmRecord("semantic_map", False, "nothing fits", 0.0, 0.0, 0.0)),
        chosen="frontier", map_id=2, reward={"coverage": 0.5}, evidence_entities=(17,), evidence_keyframes=(3,),
        trace_id="t", outcome=Outcome.REACHED, explanation="why",
    )  # fmt: skip
    assert_same(c.decision_from_msg(c.decision_to_msg(decision)), decision)
