"""Tests that the constraint state depends on events alone."""

from __future__ import annotations

import pytest
from trace_builders import trace_to

from lodestar.worldmodel.constraint_state import ConstraintTracker
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    Cause,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Discrepancy,
    Result,
)
from lodestar.worldmodel.records import Action, Expectation, Phase, Skill

STATE = ConstraintState(Phase.IDLE)
CLOSED = Diagnosis(Discrepancy(STATE, STATE), (CauseEstimate(Cause.DOOR_CLOSED, 0.9),))


def outcome(result, diagnosis=None):
    return ActionOutcome("q-t1", 1.0, result, diagnosis)


def test_a_search_for_a_thing_from_the_drive_to_the_end():
    tracker, seen = ConstraintTracker(), []
    for event in (
        lambda: None,
        lambda: tracker.begin(trace_to(2)),
        tracker.arrive,
        lambda: tracker.end(outcome(Result.COMMITTED)),
        tracker.rest,
    ):
        event()
        seen.append(str(tracker.state))
    assert seen == ["IDLE", "APPROACHING(entity:2)", "VERIFYING(entity:2)", "AT(entity:2)", "AT(entity:2)"]


@pytest.mark.parametrize(
    ("skill", "phase"),
    [
        (Skill.SEARCH, "EXPLORING"),
        (Skill.RETURN, "RETURNING"),
        (Skill.CHARGE, "RETURNING"),
        (Skill.TURN, "EXPLORING"),
    ],
)
def test_the_phase_is_that_of_the_skill(skill, phase):
    tracker = ConstraintTracker()
    tracker.begin(trace_to(2, action=Action(skill), expectation=Expectation(Phase.EXPLORING)))
    assert str(tracker.state) == phase
    tracker.end(outcome(Result.COMMITTED))
    assert str(tracker.state) == "IDLE"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (outcome(Result.ROLLED_BACK, CLOSED), "INTERRUPTED(DOOR_CLOSED)"),
        (outcome(Result.ROLLED_BACK), "INTERRUPTED(entity:2)"),
        (outcome(Result.CANCELLED), "INTERRUPTED(entity:2)"),
    ],
)
def test_a_failed_action_interrupts(end, said):
    tracker = ConstraintTracker()
    tracker.begin(trace_to(2))
    tracker.interrupt()
    tracker.end(end)
    assert str(tracker.state) == said


def test_a_hold_is_a_state_until_it_is_released():
    tracker = ConstraintTracker()
    tracker.begin(trace_to(2))
    tracker.rest()
    tracker.hold()
    assert str(tracker.state) == "HELD"
    tracker.rest()
    assert str(tracker.state) == "IDLE"
