"""Tests of conversions of news about directives, in both directions."""

from __future__ import annotations

import pytest

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.facts.errors import ErrorCode
from lodestar.assembly.memory_news import directive_begun, directive_outcome
from lodestar.language.grammar import parse_directive
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_news import directive_news_from_msg, directive_news_to_msg

BEGUN = directive_begun(parse_directive("find the red chair"), 5.0)


def test_a_directive_that_began():
    news = directive_news_from_msg(directive_news_to_msg(BEGUN))
    assert (news.stamp, news.text, news.understood, news.outcome) == (
        5.0, "find the red chair", "Find the red chair.", "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "success", "outcome"),
    [
        (ErrorCode.NONE, True, "succeeded"),
        (ErrorCode.TARGET_NOT_FOUND, False, "failed"),
        (ErrorCode.CANCELLED, False, "cancelled"),
    ],
)
def test_one_that_ended(code, success, outcome):
    result = DirectiveResult(code, "why", success, (7,), distance_travelled=2.5)
    news = directive_news_from_msg(directive_news_to_msg(directive_outcome(BEGUN, result, 9.0)))
    assert (news.stamp, news.began, news.outcome, news.code) == (9.0, 5.0, outcome, int(code))
    assert (news.reason, news.driven, news.found) == ("why", 2.5, (7,))


def test_an_unknown_code_is_malformed():
    message = directive_news_to_msg(BEGUN)
    message.ended, message.error_code = True, 65000
    with pytest.raises(BadMessage):
        directive_news_from_msg(message)
