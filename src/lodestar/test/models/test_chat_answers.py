"""Tests that a model's texts become objects or are refused, in time linear in their length."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lodestar.models.chat_answers import MAX_CHARACTERS, BrokenAnswer, parse_answer


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n\n  {"a": 1}  \n\n```\n', {"a": 1}),
        ('```{"a": 1}```', {"a": 1}),
        ('Here:\n```json\n{"a": 1}\n```\nAnything else?', {"a": 1}),
        ('```json\n{"a": 1}', {"a": 1}),
        ('{"a": [1, 2, ], "b": {"c": 3 ,\n}\t,}', {"a": [1, 2], "b": {"c": 3}}),
        ('```json\n{"a": 1,}\n```', {"a": 1}),
        (r'{"a": ",]", "b": ",}\",}\\",}', {"a": ",]", "b": ',}",}\\'}),
        ('{"a": "```", "b": "say {x,} or [y,]",}', {"a": "```", "b": "say {x,} or [y,]"}),
        (r'{"a\\": "b\\\\", "c": "\\",}', {"a\\": "b\\\\", "c": "\\"}),
    ],
)
def test_fences_words_around_and_trailing_commas_are_taken_off(text, data):
    assert parse_answer(text, {}) == data


@pytest.mark.parametrize(
    "text",
    ["```", "`````", "``````", "```json```", "```1```", '{"a": 1,,}', '{"a": "b,}', "[1,]", '{"a": 1 "b"}'],
)
def test_nothing_is_guessed_beyond_that(text):
    with pytest.raises(BrokenAnswer):
        parse_answer(text, {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
        ('{"a": [-' + "9" * 5000 + ",],}", "too many digits"),
        ('{"a": ' + "[" * 90_000 + "]" * 90_000 + "}", "nested too deeply"),
        ('{"a": NaN}', "NaN"),
        ("x" * (MAX_CHARACTERS + 1), "longer than"),
    ],
    ids=lambda text: text[:16],
)
def test_what_cannot_be_read_is_a_broken_answer_that_says_why(text, says):
    with pytest.raises(BrokenAnswer, match=says):
        parse_answer(text, {})


_HOSTILE = """
from lodestar.models.chat_answers import BrokenAnswer, parse_answer

half = 100_000
for text in (
    "```json" + "\\n" * half + "x",
    "```" + " " * half + "x```",
    "```" + "`" * half,
    '{"' + '\\\\"' * (half - 5) + "}",
    '{"' * (half - 5) + "}",
    "{" + ", " * (half - 5) + "}",
    "{" + "," + " " * half + "x}",
    "{" * half + "}" * (half - 5),
):
    assert half < len(text) <= 2 * half
    try:
        parse_answer(text, {})
    except BrokenAnswer:
        continue
    raise AssertionError(text[:20])
"""


def test_hostile_texts_take_time_that_grows_with_their_length():
    """Runs in a separate process, as a backtracking pattern would hold the interpreter's lock for hours."""
    subprocess.run([sys.executable, "-c", _HOSTILE], check=True, timeout=60.0)
