"""Tests of conversions of questions, in both directions."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.experts.protocol import ProposalRequest
from lodestar.language.grammar import parse_directive
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_agent import question_from_msg, question_to_msg

DIRECTIVE = parse_directive("find the red chair next to the desk")
QUESTION = ProposalRequest(
    7, 12.5, DIRECTIVE, 0, np.array([1.0, 2.0, -0.5]), frozenset({3, 4}), ((5.0, 6.0, 0.25),), 14.5
)


def test_a_question_and_who_is_asked(assert_same):
    message = question_to_msg(QUESTION, ("frontier", "ego_vlm"))
    assert message.header.frame_id == "map"
    request, experts = question_from_msg(message)
    assert_same(request, QUESTION)
    assert experts == ("frontier", "ego_vlm")


def test_no_deadline_stays_none():
    open_end = ProposalRequest(7, 12.5, DIRECTIVE, 0, np.zeros(3))
    assert question_from_msg(question_to_msg(open_end, ()))[0].deadline == math.inf


def test_a_step_that_the_directive_does_not_have_is_refused():
    message = question_to_msg(QUESTION, ("frontier",))
    message.subtask = 3
    with pytest.raises(BadMessage, match="subtask 3 does not exist"):
        question_from_msg(message)
