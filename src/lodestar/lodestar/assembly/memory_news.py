"""Conversion of decisions, directives and world-model events to records for the memory."""

from __future__ import annotations

from dataclasses import replace

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.errands.words import directive_in_words
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import ActionKind
from lodestar.language.directive import Directive
from lodestar.memory.events import BeliefNews, DecisionNews, DirectiveNews
from lodestar.selection.decisions import Decision, Outcome
from lodestar.worldmodel.events import WorldEvent


def decision_news(decision: Decision) -> DecisionNews:
    """Return the record of a decision, with the chosen expert's goal."""
    chosen = next((arm.proposal for arm in decision.arms if arm.expert == decision.chosen), None)
    return DecisionNews(
        decision.stamp,
        decision.epoch,
        decision.directive,
        decision.chosen,
        decision.explanation,
        None if chosen is None else chosen.goal,
        decision.evidence_entities,
        decision.evidence_keyframes,
        "" if decision.outcome is Outcome.PENDING else decision.outcome.name.lower(),
        0 if chosen is None else chosen.entity_id,
        chosen is not None and chosen.action is not ActionKind.GO,
    )


def belief_news(event: WorldEvent) -> BeliefNews:
    """Return the record of an event of the world model."""
    return BeliefNews(event.stamp, event.kind, event.text, event.entity_ids, event.entry, event.place)


def outcome_of(code: ErrorCode, success: bool) -> str:
    """Return a directive's outcome for the memory: "cancelled", "succeeded" or "failed"."""
    return "cancelled" if code is ErrorCode.CANCELLED else "succeeded" if success else "failed"


def directive_begun(directive: Directive, now: float) -> DirectiveNews:
    """Return the record of a directive that begins at `now`, seconds."""
    return DirectiveNews(now, directive.text, directive_in_words(directive), now)


def directive_outcome(begun: DirectiveNews, result: DirectiveResult, now: float) -> DirectiveNews:
    """Return the record of a directive that ends at `now`, seconds. begun: record of its begin."""
    return replace(
        begun,
        stamp=now,
        outcome=outcome_of(result.error_code, result.success),
        code=int(result.error_code),
        reason=result.report or result.error_msg,
        driven=result.distance_travelled,
        found=tuple(int(identity) for identity in result.entity_ids),
    )
