"""Tests of conversions of traces, in both directions."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace
from lodestar_ros import conversions_world as c
from lodestar_ros.conversions import BadMessage


@pytest.mark.parametrize("goal", [None, np.array([1.0, 2.0, 0.5])])
@pytest.mark.parametrize("by", [math.inf, 12.5])
def test_trace(goal, by, assert_same):
    beliefs = (Belief("On", ("entity:1", "entity:2")), Belief("InRegion", ("entity:1", "region:3"), True))
    trace = Trace(
        "q-t4", 4, 9.5, "frontier", Action(Skill.SEARCH, ("region:3",), goal),
        Expectation(Phase.EXPLORING, "region:3", beliefs[:1], (1, 2), by), 0.75, beliefs, "because", "ask again",
        (1,), (31, 32),
    )  # fmt: skip
    assert_same(c.trace_from_msg(c.trace_to_msg(trace)), trace)


def test_an_unknown_phase_is_refused():
    trace = Trace("q", 1, 1.0, "x", Action(Skill.TURN), Expectation(Phase.EXPLORING), 0.5)
    message = c.trace_to_msg(trace)
    message.expected_phase = "Dance"
    with pytest.raises(BadMessage, match="Dance"):
        c.trace_from_msg(message)
