"""Conversion of what the robot does into news for its memory."""

from __future__ import annotations

from lodestar.agent.commands import DirectiveResult
from lodestar.agent.errors import ErrorCode
from lodestar.agent.words import directive_in_words
from lodestar.language.directive import Directive
from lodestar.memory.events import DecisionNews, DirectiveNews
from lodestar.selection.decision_log import Decision, Outcome
from lodestar_interfaces import msg
from lodestar_ros.conversions import header, stamp_from_msg, stamp_to_msg


def begun_to_msg(directive: Directive, stamp: float) -> msg.DirectiveReport:
    """stamp: when it began, seconds."""
    return msg.DirectiveReport(
        header=header(stamp, "map"),
        text=directive.text,
        understood=directive_in_words(directive),
        began=stamp_to_msg(stamp),
    )


def ended_to_msg(begun: msg.DirectiveReport, result: DirectiveResult, stamp: float) -> msg.DirectiveReport:
    """begun: what was told when it began. stamp: when it ended, seconds."""
    return msg.DirectiveReport(
        header=header(stamp, "map"),
        text=begun.text,
        understood=begun.understood,
        ended=True,
        began=begun.began,
        error_code=int(result.error_code),
        success=result.success,
        cancelled=result.error_code is ErrorCode.CANCELLED,
        report=result.report or result.error_msg,
        distance_travelled=float(result.distance_travelled),
        entity_ids=[int(identity) for identity in result.entity_ids],
    )


def directive_news_from_msg(message: msg.DirectiveReport) -> DirectiveNews:
    outcome = ""
    if message.ended:
        outcome = "cancelled" if message.cancelled else "succeeded" if message.success else "failed"
    return DirectiveNews(
        stamp_from_msg(message.header.stamp),
        message.text,
        message.understood,
        stamp_from_msg(message.began),
        outcome,
        message.error_code,
        message.report,
        message.distance_travelled,
        tuple(int(identity) for identity in message.entity_ids),
    )


def decision_news_of(decision: Decision) -> DecisionNews:
    """The decision as the memory tells it, with the chosen expert's goal."""
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
    )
