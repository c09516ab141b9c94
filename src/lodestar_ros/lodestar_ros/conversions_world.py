"""Conversion of traces, beliefs, amendments, closed ways, outcomes and events of the world model to and from
messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import Pose

from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.events import WorldEvent
from lodestar.worldmodel.outcomes import (
    ActionOutcome,
    CauseEstimate,
    ConstraintState,
    Diagnosis,
    Discrepancy,
    Look,
)
from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace
from lodestar_interfaces import msg
from lodestar_ros.codec import BadMessage, codec, convert_values
from lodestar_ros.conversions import (
    header,
    place_from_msg,
    place_to_msg,
    planar_from_msg,
    planar_to_msg,
    until_from_msg,
    until_to_msg,
)

# --- beliefs and traces ------------------------------------------------------------------------------------

belief_to_msg, belief_from_msg = codec(Belief, msg.Belief)


def _beliefs(messages: Iterable[msg.Belief]) -> tuple[Belief, ...]:
    return tuple(map(belief_from_msg, messages))


def _action(message: msg.ReasoningTrace, _: Any) -> Action:
    goal = planar_from_msg(message.goal) if message.has_goal else None
    return Action(Skill(message.skill), tuple(message.arguments), goal)


def _expectation(message: msg.ReasoningTrace, _: Any) -> Expectation:
    return Expectation(
        Phase(message.expected_phase),
        message.expected_about,
        _beliefs(message.causal_assumptions),
        tuple(message.expected_visible),
        until_from_msg(message.expected_by),
    )


#: A zero `expected_by` means no limit. Reading raises BadMessage for an unknown phase or a goal that is not finite;
#: the skill and the names of beliefs are not checked.
trace_to_msg, trace_from_msg = codec(
    Trace,
    msg.ReasoningTrace,
    names={"beliefs": "world_beliefs"},
    to={
        "skill": lambda trace, _: trace.action.skill.value,
        "arguments": lambda trace, _: list(trace.action.arguments),
        "has_goal": lambda trace, _: trace.action.goal is not None,
        "goal": lambda trace, _: Pose() if trace.action.goal is None else planar_to_msg(trace.action.goal),
        "expected_phase": lambda trace, _: trace.expectation.phase.value,
        "expected_about": lambda trace, _: trace.expectation.about,
        "causal_assumptions": lambda trace, _: [belief_to_msg(one) for one in trace.expectation.beliefs],
        "expected_visible": lambda trace, _: list(trace.expectation.visible),
        "expected_by": lambda trace, _: until_to_msg(trace.expectation.by),
    },
    of={"action": _action, "expectation": _expectation},
    alone=("verdict",),
)

# --- amendments and ways -----------------------------------------------------------------------------------


def _change(message: msg.Amendment, _: Any) -> Change:
    try:
        return Change(message.change)
    except ValueError as error:
        raise BadMessage(f"{error}; it is one of {', '.join(c.value for c in Change)}") from error


#: A zero `expires` means that the way stays closed until it is opened. Reading raises BadMessage for an invalid
#: point.
way_to_msg, way_from_msg = codec(ClosedWay, msg.ClosedWay)
amendment_to_msg, amendment_from_msg = codec(Amendment, msg.Amendment, of={"change": _change})


def amendments_from_msg(messages: Iterable[msg.Amendment]) -> tuple[Amendment, ...]:
    """Return the amendments. Raises BadMessage as `amendment_from_msg` does."""
    return tuple(map(amendment_from_msg, messages))


def ways_to_msg(ways: Iterable[ClosedWay], stamp: float) -> msg.ClosedWayArray:
    """Return the message of closed ways, segments or areas that the robot must not enter. stamp: seconds."""
    return msg.ClosedWayArray(header=header(stamp), ways=[way_to_msg(way) for way in ways])


def ways_from_msg(message: msg.ClosedWayArray) -> tuple[ClosedWay, ...]:
    """Return the closed ways. Raises BadMessage as `way_from_msg` does."""
    return tuple(map(way_from_msg, message.ways))


# --- outcomes and events -----------------------------------------------------------------------------------


def _state(text: str) -> ConstraintState:
    """Parse a constraint state, a phase with an optional object: "AT(entity:12)" or "IDLE"."""
    name, _, about = text.partition("(")
    return ConstraintState(Phase(name), about.removesuffix(")"))


convert_values(ConstraintState, "string", str, _state)
convert_values(
    tuple[tuple[int, float], ...],
    "sequence<lodestar_interfaces/WeightedId>",
    lambda drifts: [msg.WeightedId(id=entity, weight=float(metres)) for entity, metres in drifts],
    lambda messages: tuple((drift.id, drift.weight) for drift in messages),
)
cause_to_msg, _cause_from_msg = codec(CauseEstimate, msg.CauseEstimate)
#: The codec's context is the id of the action's trace and the most probable cause.
discrepancy_to_msg, discrepancy_from_msg = codec(
    Discrepancy,
    msg.Discrepancy,
    names={"expected": "expected_state", "actual": "actual_state"},
    to={
        "trace_id": lambda _, context: context[0] if context else "",
        "likely_cause": lambda _, context: context[1] if context else "",
    },
)


def _of_diagnosis(part: Any) -> Any:
    """Return a function of (outcome, context) that applies `part` to the outcome's diagnosis; [] without
    one.
    """
    return lambda outcome, _: [] if outcome.diagnosis is None else part(outcome, outcome.diagnosis)


def _diagnosis(message: msg.TraceOutcome, _: Any) -> Diagnosis | None:
    """Return the diagnosis; its text is the outcome's text."""
    if not message.discrepancy:
        return None
    return Diagnosis(
        discrepancy_from_msg(message.discrepancy[0]),
        tuple(map(_cause_from_msg, message.causes)),
        Look(message.look),
        place_from_msg(message.look_at[0]) if message.look_at else None,
        message.text,
    )


#: Without a diagnosis a message has no discrepancy and no causes.
outcome_to_msg, outcome_from_msg = codec(
    ActionOutcome,
    msg.TraceOutcome,
    to={
        "discrepancy": _of_diagnosis(
            lambda outcome, diagnosis: [
                discrepancy_to_msg(diagnosis.discrepancy, (outcome.trace_id, diagnosis.cause.value))
            ]
        ),
        "causes": _of_diagnosis(lambda _, diagnosis: [cause_to_msg(cause) for cause in diagnosis.causes]),
        "look": lambda outcome, _: "" if outcome.diagnosis is None else outcome.diagnosis.look.value,
        "look_at": _of_diagnosis(
            lambda _, diagnosis: [] if diagnosis.look_at is None else [place_to_msg(diagnosis.look_at)]
        ),
    },
    of={"diagnosis": _diagnosis},
)
event_to_msg, event_from_msg = codec(WorldEvent, msg.WorldEvent)
