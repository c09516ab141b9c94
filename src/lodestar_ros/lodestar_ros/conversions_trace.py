"""Reasoning traces: messages there and back."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill, Trace
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage, planar_from_msg, planar_to_msg, stamp_from_msg, stamp_to_msg


def trace_to_msg(trace: Trace) -> msg.ReasoningTrace:
    """The zero `expected_by` means no limit."""
    expected, action = trace.expectation, trace.action
    message = msg.ReasoningTrace(
        id=trace.id,
        epoch=trace.epoch,
        stamp=stamp_to_msg(trace.stamp),
        proposer=trace.proposer,
        skill=action.skill.value,
        arguments=list(action.arguments),
        has_goal=action.goal is not None,
        world_beliefs=[belief_to_msg(belief) for belief in trace.beliefs],
        expected_phase=expected.phase.value,
        expected_about=expected.about,
        causal_assumptions=[belief_to_msg(belief) for belief in expected.beliefs],
        expected_visible=list(expected.visible),
        expected_by=stamp_to_msg(expected.by if math.isfinite(expected.by) else 0.0),
        confidence=float(trace.confidence),
        reason=trace.reason,
        fallback=trace.fallback,
        evidence_entities=list(trace.evidence_entities),
        evidence_keyframes=list(trace.evidence_keyframes),
    )
    if action.goal is not None:
        message.goal = planar_to_msg(action.goal)
    return message


def trace_from_msg(message: msg.ReasoningTrace) -> Trace:
    """Raises BadMessage for a phase that does not exist and a goal that is not finite. The skill is not checked."""
    skill = Skill(message.skill)
    try:
        phase = Phase(message.expected_phase)
    except ValueError as error:
        raise BadMessage(str(error)) from error
    by = stamp_from_msg(message.expected_by)
    return Trace(
        id=message.id,
        epoch=message.epoch,
        stamp=stamp_from_msg(message.stamp),
        proposer=message.proposer,
        action=Action(
            skill, tuple(message.arguments), planar_from_msg(message.goal) if message.has_goal else None
        ),
        expectation=Expectation(
            phase,
            message.expected_about,
            beliefs_from_msg(message.causal_assumptions),
            tuple(message.expected_visible),
            by if by > 0.0 else math.inf,
        ),
        confidence=message.confidence,
        beliefs=beliefs_from_msg(message.world_beliefs),
        reason=message.reason,
        fallback=message.fallback,
        evidence_entities=tuple(message.evidence_entities),
        evidence_keyframes=tuple(message.evidence_keyframes),
    )


def belief_to_msg(belief: Belief) -> msg.Belief:
    """One belief."""
    return msg.Belief(predicate=belief.predicate, arguments=list(belief.arguments), negated=belief.negated)


def belief_from_msg(message: msg.Belief) -> Belief:
    """One belief; its names are not checked."""
    return Belief(message.predicate, tuple(message.arguments), message.negated)


def beliefs_from_msg(messages: Iterable[msg.Belief]) -> tuple[Belief, ...]:
    """Several, in their order."""
    return tuple(map(belief_from_msg, messages))
