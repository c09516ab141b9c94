"""Tests of operator texts: directives, answers by number, and texts that cannot be sent."""

from __future__ import annotations

import pytest

from lodestar_ros.operator_requests import (
    AskedBack,
    DirectiveRequest,
    RequestRefused,
    ending_in_words,
    request_of,
)

ASKED = AskedBack("ab-1", ("the chair by the desk", "the chair in the hall"))


@pytest.mark.parametrize("text", ["find the red chair", "stop", "find 2 chairs", "go to x=1 y=2"])
def test_words_are_a_directive_whether_a_question_is_open_or_not(text):
    for asked in (None, ASKED):
        assert request_of(f"  {text}\n", asked) == DirectiveRequest(text=text)


@pytest.mark.parametrize("text", ["2", " 2. ", "answer 2", "choice 2", "#2"])
def test_a_number_answers_the_open_question(text):
    assert request_of(text, ASKED) == DirectiveRequest(question_id="ab-1", choice=2)


@pytest.mark.parametrize(
    ("text", "asked", "why"),
    [
        ("", None, "the text is empty"),
        ("  \n", ASKED, "the text is empty"),
        ("2", None, "no question is open"),
        ("3", ASKED, "none of the choices 1 to 2: 1. the chair by the desk; 2."),
        ("0", ASKED, "none of the choices"),
    ],
)
def test_what_cannot_be_sent_says_what_to_do(text, asked, why):
    with pytest.raises(RequestRefused, match=why):
        request_of(text, asked)


def test_an_ending_tells_the_report_the_error_and_how_to_answer():
    assert ending_in_words("Found it.", 0, "", "", ()) == "Found it."
    assert (
        ending_in_words("", 11007, "another directive runs", "", ()) == "another directive runs (error 11007)"
    )
    told = ending_in_words("I looked.", 11015, "too close", "Which chair: a or b?", ("a", "b\x1b[2J"))
    assert told.startswith("I looked. (error 11015: too close) Which chair: a or b? Click near one")
    assert "1. a; 2. b" in told and "\x1b" not in told
