"""Outcomes of actions as JSON: lines of the decision log."""

from __future__ import annotations

import math
from typing import Any

from lodestar.worldmodel.amendment_json import BadAmendment, amendment_from_dict, amendment_to_dict
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

KIND = "outcome"  # of the line in a log
_MAX_TEXT = 2000  # letters


class BadOutcome(ValueError):
    """A record is no outcome; the message says why."""


def outcome_to_dict(outcome: ActionOutcome) -> dict[str, Any]:
    """Return the outcome as JSON types; `outcome_from_dict` is the inverse."""
    diagnosis = outcome.diagnosis
    return {
        "kind": KIND,
        "trace_id": outcome.trace_id,
        "stamp": outcome.stamp,
        "result": outcome.result.value,
        "diagnosis": None if diagnosis is None else _diagnosis_to_dict(diagnosis),
        "recovery": outcome.recovery,
        "amendments": [amendment_to_dict(one) for one in outcome.amendments],
        "text": outcome.text[:_MAX_TEXT],
    }


def outcome_from_dict(record: Any) -> ActionOutcome:
    """Return the outcome of a record. Raises BadOutcome."""
    try:
        stamp = float(record["stamp"])
        if not math.isfinite(stamp):
            raise ValueError("its stamp is not finite")
        diagnosis = record["diagnosis"]
        return ActionOutcome(
            str(record["trace_id"]),
            stamp,
            Result(record["result"]),
            None if diagnosis is None else _diagnosis_from_dict(diagnosis),
            str(record["recovery"]),
            tuple(amendment_from_dict(one) for one in record["amendments"]),
            str(record["text"])[:_MAX_TEXT],
        )
    except (BadAmendment, AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise BadOutcome(f"{error.__class__.__name__}: {error}") from error


def _diagnosis_to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    found = diagnosis.discrepancy
    return {
        "expected": [found.expected.phase.value, found.expected.about],
        "actual": [found.actual.phase.value, found.actual.about],
        "missing": [_belief_to_list(belief) for belief in found.missing],
        "unexpected": [_belief_to_list(belief) for belief in found.unexpected],
        "drifts": [[identity, metres] for identity, metres in found.drifts],
        "causes": {one.cause.value: one.probability for one in diagnosis.causes},
        "look": diagnosis.look.value,
        "look_at": None if diagnosis.look_at is None else list(diagnosis.look_at),
        "text": diagnosis.text[:_MAX_TEXT],
    }


def _diagnosis_from_dict(record: Any) -> Diagnosis:
    causes = [CauseEstimate(Cause(name), float(p)) for name, p in record["causes"].items()]
    if not all(0.0 <= one.probability <= 1.0 for one in causes):
        raise ValueError("a probability does not lie in [0, 1]")
    place = record["look_at"]
    return Diagnosis(
        Discrepancy(
            _state(record["expected"]),
            _state(record["actual"]),
            tuple(_belief(one) for one in record["missing"]),
            tuple(_belief(one) for one in record["unexpected"]),
            tuple((int(identity), float(metres)) for identity, metres in record["drifts"]),
        ),
        tuple(sorted(causes, key=lambda one: -one.probability)),
        Look(record["look"]),
        None if place is None else (float(place[0]), float(place[1])),
        str(record["text"]),
    )


def _state(record: Any) -> ConstraintState:
    return ConstraintState(Phase(record[0]), str(record[1]))


def _belief_to_list(belief: Belief) -> list[Any]:
    return [belief.predicate, list(belief.arguments), belief.negated]


def _belief(record: Any) -> Belief:
    return Belief(str(record[0]), tuple(map(str, record[1])), bool(record[2]))
