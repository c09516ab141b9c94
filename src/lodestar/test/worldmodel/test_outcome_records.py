"""Tests of discrepancies (VLM-DEWM eq. C.5 to C.9), and of outcomes as JSON and text."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.scene.records import Entity
from lodestar.storage.records import BadRecord, decode, encode, of_values, to_values
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.discrepancies import discrepancy
from lodestar.worldmodel.outcome_sentences import (
    causes_in_words,
    discrepancy_in_words,
    look_in_words,
    result_in_words,
)
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    Cause,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Look,
    Result,
)
from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace

ON, BESIDE = Belief("On", ("entity:7", "entity:9")), Belief("NextTo", ("entity:7", "entity:12"))
TRACE = Trace(
    "q-t3", 3, 10.0, "semantic_map", Action(Skill.GO_TO, ("entity:7",)), Expectation(Phase.AT, "entity:7"), 0.9, (ON,)
)  # fmt: skip
AT, STOPPED = ConstraintState(Phase.AT, "entity:7"), ConstraintState(Phase.INTERRUPTED, "entity:7")


def _cup(x: float) -> Entity:
    mean = np.array([x, 0.0, 1.0])
    return Entity(7, "cup", "red cup", mean, np.eye(3) * 0.01, mean - 0.05, mean + 0.05)


def test_what_is_as_expected_differs_in_nothing():
    found = discrepancy(TRACE, AT, (ON,), {7: np.array([1.0, 0.0, 1.0])}, {7: _cup(1.0)})
    assert found.empty and discrepancy_in_words(found) == ""


def test_each_component_is_told():
    found = discrepancy(TRACE, STOPPED, (BESIDE,), {7: np.array([1.0, 0.0, 1.0])}, {7: _cup(3.0)})
    assert (found.expected, found.actual) == (AT, STOPPED)
    assert found.missing == (ON,) and found.unexpected == (BESIDE,)
    assert found.drifts == ((7, pytest.approx(2.0)),)
    said = discrepancy_in_words(found)
    assert "expected AT(entity:7), it is INTERRUPTED(entity:7)" in said and "moved by 2.0 m" in said


def test_a_relation_that_held_before_the_action_is_not_unexpected():
    where = {7: np.array([1.0, 0.0, 1.0])}
    found = discrepancy(TRACE, AT, (ON, BESIDE), where, {7: _cup(1.0)}, had=(BESIDE,))
    assert found.empty


def test_a_thing_that_is_gone_has_no_drift_and_its_relations_are_missing():
    found = discrepancy(TRACE, STOPPED, (), {7: np.zeros(3)}, {})
    assert found.missing == (ON,) and found.drifts == ()


def test_a_relation_that_must_not_hold_is_missing_where_it_does():
    never = Belief("On", ON.arguments, negated=True)
    trace = Trace("q-t4", 4, 1.0, "x", TRACE.action, Expectation(Phase.AT, "entity:7", (never,)), 0.5)
    assert discrepancy(trace, AT, (ON,), {}, {}).missing == (never,)
    assert discrepancy(trace, AT, (), {}, {}).missing == ()


def _outcome(look: Look = Look.NONE, recovery: str = "go_round") -> ActionOutcome:
    found = discrepancy(TRACE, STOPPED, (), {7: np.zeros(3)}, {7: _cup(3.0)})
    causes = (CauseEstimate(Cause.DOOR_CLOSED, 0.8), CauseEstimate(Cause.UNKNOWN, 0.2))
    way = ClosedWay((1.0, 2.0), (1.0, 3.0), 130.0, "DOOR_CLOSED")
    return ActionOutcome(
        "q-t3", 12.5, Result.ROLLED_BACK, Diagnosis(found, causes, look, (1.0, 2.5), "a door"), recovery,
        (Amendment(Change.CLOSE_WAY, "a door", "recovery", way=way, trace_id="q-t3"),), "it stopped",
    )  # fmt: skip


CLOSED = to_values(_outcome().amendments[0])


def test_an_outcome_survives_json():
    for outcome in (_outcome(), ActionOutcome("q-t1", 1.0, Result.COMMITTED)):
        assert decode(encode(outcome), ActionOutcome) == outcome


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"result": "MAYBE"}, "result"),
        ({"stamp": float("nan")}, "stamp"),
        ({"trace_id": None, "diagnosis": 3}, "trace_id"),
        ({"amendments": [{"change": "EXPLODE"}]}, r"amendments\[0\].change"),
        ({"diagnosis": {"causes": [{"cause": "DOOR_CLOSED", "probability": 7.0}]}}, "diagnosis"),
        (
            {
                "amendments": [
                    {**to_values(_outcome().amendments[0]), "way": {"start": [1.0], "end": [1.0, 2.0]}}
                ]
            },
            "way.start",
        ),
    ],
)
def test_a_bad_record_is_refused_with_its_field(change, field):
    with pytest.raises(BadRecord, match=field):
        of_values(to_values(_outcome()) | change, ActionOutcome)
    with pytest.raises(BadRecord):
        of_values([], ActionOutcome)


def test_a_look_makes_an_outcome_preliminary():
    assert _outcome().is_final
    assert not _outcome(Look.WAIT, "").is_final
    assert _outcome(Look.WAIT, "ask_again").is_final  # no looks are left


def test_the_words():
    outcome = _outcome(Look.FROM_ELSEWHERE, "")
    assert causes_in_words(outcome.diagnosis) == "DOOR_CLOSED 80%, UNKNOWN 20%"
    assert look_in_words(outcome.diagnosis) == "look at it from another place (1.0, 2.5)"
    assert result_in_words(outcome) == "failed: it stopped"
