"""Tests of the interface of directive parsers, and of halts, which are recognised before any parser."""

from __future__ import annotations

import pytest

from lodestar.language.directive_parsers import GrammarDirectives
from lodestar.language.halts import Stop, heard_stop


def test_readings_are_ranked_and_have_their_reasons():
    best, *others = GrammarDirectives().parse("find the bowl on the table next to the window")
    assert [len(best.directive.steps), best.cost, best.why] == [1, 0.0, ()]
    assert others and all(other.cost > best.cost for other in others)
    assert any("not of what is named before it" in reason for other in others for reason in other.why)


def test_no_reading_is_given_twice():
    readings = GrammarDirectives().parse("find the chair next to the desk and the lamp")
    assert len({reading.directive for reading in readings}) == len(readings)


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "Stop!",
        "please stop now",
        "hold",
        "halt",
        "cancel it",
        "don't move",
        "stop, stop, stop",
        "Stop bitte!",
        "Arrêtez, s'il vous plaît",
        "¡alto!",
        "停止",
        "STOP THE ROBOT",
    ],
)
def test_a_halt(text):
    assert heard_stop(text) == Stop()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "find the stop sign",
        "bitte",
        "go to para",
        "stop at the desk",
        "go to the bus stop",
        "find the mug and stop",
        "x" * 20_000,
    ],
)
def test_no_halt(text):
    assert heard_stop(text) is None
