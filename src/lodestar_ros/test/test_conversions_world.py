"""Tests of conversions of the world model's amendments, closed ways, outcomes and events, in both directions."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.events import WorldEvent
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    Cause,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Discrepancy,
    Look,
    Result,
)
from lodestar.worldmodel.records import Belief, Phase
from lodestar_interfaces import msg
from lodestar_ros import conversions_world as c
from lodestar_ros.conversions import BadMessage

DOOR = ClosedWay((1.0, 2.0), (1.5, 2.5), 40.5, "DOOR_CLOSED", False)
NEAR = Belief("Near", ("entity:1", "entity:2"), True)
RELATED = Amendment(Change.RELATE, "seen", "operator", belief=NEAR, trace_id="q-t4")
GONE = Amendment(Change.ARCHIVE, "depth passes", "recovery", 12, "chair")


@pytest.mark.parametrize("amendment", [GONE, RELATED, Amendment(Change.CLOSE_WAY, "", "x", way=DOOR)])
def test_amendment(amendment, assert_same):
    assert_same(c.amendment_from_msg(c.amendment_to_msg(amendment)), amendment)


@pytest.mark.parametrize("way", [DOOR, ClosedWay((0.0, 0.0), (1.0, 0.0))])
def test_closed_ways(way, assert_same):
    message = c.ways_to_msg([way], 3.5)
    assert_same(c.ways_from_msg(message), (way,))
    assert message.header.frame_id == "map" and message.header.stamp.sec == 3


def outcome(diagnosis):
    return ActionOutcome(
        "q-t4", 9.5, Result.ROLLED_BACK, diagnosis, "look_again", (GONE, RELATED), "It is gone."
    )


@pytest.mark.parametrize("look_at", [None, (1.0, 2.0)])
def test_outcome_with_a_diagnosis(look_at, assert_same):
    discrepancy = Discrepancy(
        ConstraintState(Phase.AT, "entity:12"),
        ConstraintState(Phase.INTERRUPTED),
        (NEAR,),
        (NEAR,),
        ((12, 0.5),),
    )
    causes = (CauseEstimate(Cause.TARGET_REMOVED, 0.75), CauseEstimate(Cause.TARGET_OCCLUDED, 0.25))
    found = outcome(Diagnosis(discrepancy, causes, Look.TURN, look_at, "It is gone."))
    message = c.outcome_to_msg(found)
    assert_same(c.outcome_from_msg(message), found)
    assert message.discrepancy[0].likely_cause == "TARGET_REMOVED"


def test_outcome_without_a_diagnosis(assert_same):
    assert_same(c.outcome_from_msg(c.outcome_to_msg(outcome(None))), outcome(None))


@pytest.mark.parametrize("place", [None, (1.0, 2.0)])
def test_event(place, assert_same):
    event = WorldEvent(9.5, "ARCHIVE", "The chair is gone.", (12,), "q-t4", 7, place)
    assert_same(c.event_from_msg(c.event_to_msg(event)), event)


def bad_way(x):
    message = c.way_to_msg(DOOR)
    message.end.x = x
    return message


def bad_outcome(**changes):
    state = ConstraintState(Phase.IDLE)
    message = c.outcome_to_msg(outcome(Diagnosis(Discrepancy(state, state), ())))
    for name, value in changes.items():
        setattr(message, name, value)
    return message


@pytest.mark.parametrize(
    ("convert", "message", "why"),
    [
        (c.amendment_from_msg, msg.Amendment(change="PAINT"), "PAINT.*ARCHIVE"),
        (c.way_from_msg, bad_way(math.nan), "no place"),
        (c.way_from_msg, bad_way(1e9), "no place"),
        (c.outcome_from_msg, bad_outcome(result="DONE"), "DONE"),
        (c.outcome_from_msg, bad_outcome(look="BLINK"), "BLINK"),
        (c.outcome_from_msg, bad_outcome(causes=[msg.CauseEstimate(cause="GHOST")]), "GHOST"),
        (c.outcome_from_msg, bad_outcome(discrepancy=[msg.Discrepancy(expected_state="FLYING")]), "FLYING"),
    ],
)
def test_what_does_not_exist_is_refused(convert, message, why):
    with pytest.raises(BadMessage, match=why):
        convert(message)
