"""Tests that a spoken halt is a halt, and not an object called "stop"."""

from __future__ import annotations

import pytest

from lodestar.language.directive import NotUnderstood, StopRequested
from lodestar.language.grammar import parse_directive, parse_query


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "Stop!",
        "halt",
        "stop, stop, stop",
        "please stop",
        "stop now please",
        "don't move",
        "cancel it",
        "st\u00adop",  # a soft hyphen
        "s\u200bt\u200bo\u200bp",  # spaces without a width
    ],
)
def test_a_halt(text):
    with pytest.raises(StopRequested):
        parse_directive(text)


@pytest.mark.parametrize("text", ["find the red chair, stop there", "find the red chair and then stop"])
def test_after_a_task_it_is_how_the_task_ends_anyway(text):
    assert [step.target for step in parse_directive(text).steps] == ["red chair"]


@pytest.mark.parametrize(
    ("text", "target"), [("find the stop sign", "stop sign"), ("go to the bus stop", "bus stop")]
)
def test_a_thing_that_is_called_so_is_a_thing(text, target):
    assert parse_directive(text).steps[0].target == target


def test_a_task_that_begins_with_stop_at_is_a_task():
    assert parse_directive("stop at the desk").steps[0].target == "desk"


def test_a_query_that_asks_for_a_halt_is_refused_as_one_that_names_nothing():
    with pytest.raises(NotUnderstood, match="nothing to look up"):
        parse_query("please stop")
