"""Reports of directives, as they begin and end: messages there and back."""

from __future__ import annotations

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.errands.words import directive_in_words
from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.memory_news import outcome_of
from lodestar.language.directive import Directive
from lodestar.memory.events import DirectiveNews
from lodestar_interfaces import msg
from lodestar_ros.codec import codec
from lodestar_ros.conversions import header, stamp_from_msg, stamp_to_msg


def begun_to_msg(directive: Directive, stamp: float) -> msg.DirectiveReport:
    """stamp: when it began, seconds."""
    return msg.DirectiveReport(
        header=header(stamp),
        text=directive.text,
        understood=directive_in_words(directive),
        began=stamp_to_msg(stamp),
    )


def ended_to_msg(begun: msg.DirectiveReport, result: DirectiveResult, stamp: float) -> msg.DirectiveReport:
    """begun: what was told when it began. stamp: when it ended, seconds."""
    return msg.DirectiveReport(
        header=header(stamp),
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


#: Reading raises BadMessage for an unknown error code.
_, directive_news_from_msg = codec(
    DirectiveNews,
    msg.DirectiveReport,
    names={"code": "error_code", "reason": "report", "driven": "distance_travelled", "found": "entity_ids"},
    of={
        "outcome": lambda message, _: (
            outcome_of(ErrorCode(message.error_code), message.success) if message.ended else ""
        ),
        "began": lambda message, _: stamp_from_msg(message.began),
    },
)
