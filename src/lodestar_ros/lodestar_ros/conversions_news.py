"""Conversion of what becomes of directives from and to messages."""

from __future__ import annotations

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.errands.words import directive_in_words
from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.memory_news import outcome_of
from lodestar.language.directive import Directive
from lodestar.memory.events import DirectiveNews
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage, header, stamp_from_msg, stamp_to_msg


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
        report=result.report or result.error_msg,
        distance_travelled=float(result.distance_travelled),
        entity_ids=[int(identity) for identity in result.entity_ids],
    )


def directive_news_from_msg(message: msg.DirectiveReport) -> DirectiveNews:
    """Raises BadMessage for an unknown error code."""
    try:
        outcome = outcome_of(ErrorCode(message.error_code), message.success) if message.ended else ""
    except ValueError as error:
        raise BadMessage(str(error)) from error
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
