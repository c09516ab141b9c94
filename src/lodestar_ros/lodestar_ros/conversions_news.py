"""Conversion of reports about the begin and end of directives to and from messages."""

from __future__ import annotations

from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.memory_news import outcome_of
from lodestar.memory.events import DirectiveNews
from lodestar_interfaces import msg
from lodestar_ros.codec import codec
from lodestar_ros.conversions import stamp_from_msg, stamp_to_msg

#: Reading raises BadMessage for an unknown error code.
directive_news_to_msg, directive_news_from_msg = codec(
    DirectiveNews,
    msg.DirectiveReport,
    names={"code": "error_code", "reason": "report", "driven": "distance_travelled", "found": "entity_ids"},
    to={
        "ended": lambda news, _: bool(news.outcome),
        "success": lambda news, _: news.outcome == outcome_of(ErrorCode.NONE, True),
        "began": lambda news, _: stamp_to_msg(news.began or 0.0),
    },
    of={
        "outcome": lambda message, _: (
            outcome_of(ErrorCode(message.error_code), message.success) if message.ended else ""
        ),
        "began": lambda message, _: stamp_from_msg(message.began),
    },
)
