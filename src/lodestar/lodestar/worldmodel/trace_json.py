"""Traces as JSON, checked by `trace.schema.json`: lines of the decision log, and what a language model writes."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace
from lodestar.worldmodel.skills import SkillTable, load_skills

KIND = "trace"  # of the line in a log
_MAX_REASON = 2000  # letters; the schema's limits
_MAX_FALLBACK = 500


class BadTrace(ValueError):
    """A record is no trace; the message says where it breaks the schema."""


def trace_to_dict(trace: Trace) -> dict[str, Any]:
    """Return the trace as JSON types; `trace_from_dict` is the inverse."""
    expectation, action = trace.expectation, trace.action
    return {
        "kind": KIND,
        "id": trace.id,
        "epoch": trace.epoch,
        "stamp": trace.stamp,
        "proposer": trace.proposer,
        "action": {
            "skill": action.skill.value,
            "arguments": list(action.arguments),
            "goal": None if action.goal is None else [float(x) for x in action.goal],
        },
        "expectation": {
            "phase": expectation.phase.value,
            "about": expectation.about,
            "beliefs": [_belief_to_dict(belief) for belief in expectation.beliefs],
            "visible": list(expectation.visible),
            "by": expectation.by if math.isfinite(expectation.by) else None,
        },
        "confidence": float(np.clip(trace.confidence, 0.0, 1.0)),
        "beliefs": [_belief_to_dict(belief) for belief in trace.beliefs],
        "reason": trace.reason[:_MAX_REASON],
        "fallback": trace.fallback[:_MAX_FALLBACK],
        "evidence_entities": list(trace.evidence_entities),
        "evidence_keyframes": list(trace.evidence_keyframes),
    }


def trace_from_dict(record: Any, skills: SkillTable | None = None) -> Trace:
    """Return the trace of a record. skills: those that exist; by default the robot's own.

    Raises BadTrace for what breaks the schema, ImportError without jsonschema.
    """
    problem = next(iter(_checker().iter_errors(record)), None)
    if problem is not None:
        where = "/".join(map(str, problem.absolute_path)) or "the record"
        raise BadTrace(f"{where}: {problem.message[:200]}")
    numbers = [record["stamp"], record["confidence"], record["expectation"].get("by") or 0.0]
    if not all(map(math.isfinite, numbers)):
        raise BadTrace("a number is not finite")
    action, expected = record["action"], record["expectation"]
    if not (skills or load_skills()).knows(Skill(action["skill"])):
        raise BadTrace(f"action/skill: there is no skill {action['skill']!r}")
    goal, by = action.get("goal"), expected.get("by")
    return Trace(
        id=record["id"],
        epoch=record["epoch"],
        stamp=float(record["stamp"]),
        proposer=record["proposer"],
        action=Action(
            Skill(action["skill"]),
            tuple(action.get("arguments", ())),
            None if goal is None else np.asarray(goal, np.float64),
        ),
        expectation=Expectation(
            Phase(expected["phase"]),
            expected.get("about", ""),
            _beliefs(expected.get("beliefs", ())),
            tuple(expected.get("visible", ())),
            math.inf if by is None else float(by),
        ),
        confidence=float(record["confidence"]),
        beliefs=_beliefs(record["beliefs"]),
        reason=record.get("reason", ""),
        fallback=record.get("fallback", ""),
        evidence_entities=tuple(record.get("evidence_entities", ())),
        evidence_keyframes=tuple(record.get("evidence_keyframes", ())),
    )


def _belief_to_dict(belief: Belief) -> dict[str, Any]:
    return {"predicate": belief.predicate, "arguments": list(belief.arguments), "negated": belief.negated}


def _beliefs(records: Any) -> tuple[Belief, ...]:
    return tuple(Belief(r["predicate"], tuple(r["arguments"]), r.get("negated", False)) for r in records)


@lru_cache(maxsize=1)
def _checker() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads((Path(__file__).with_name("trace.schema.json")).read_text()))
