"""Texts of an operator who has no action client: directives, and answers to the last question by number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lodestar.scene.captions import clean_text

LONGEST = 2000  # characters of a directive
_NUMBER = re.compile(r"(?:answer|choice|number)?\s*#?(\d{1,3})\s*[.!]?", re.IGNORECASE)


class RequestRefused(ValueError):
    """The text asks for nothing that can be sent; the message says what to do."""


@dataclass(frozen=True)
class AskedBack:
    """A question that the last directive ended with. choices: in words, counted from 1."""

    question_id: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class DirectiveRequest:
    """A goal of follow_directive: a text, or an answer to a question."""

    text: str = ""
    question_id: str = ""
    choice: int = 0


def request_of(text: str, asked: AskedBack | None) -> DirectiveRequest:
    """Return what a text asks for: a number answers the question, anything else is a directive.

    asked: the question that is open, None = none. Raises RequestRefused.
    """
    said = text.strip()
    if not said:
        raise RequestRefused('the text is empty; say what to do, such as "find the red chair"')
    if len(said) > LONGEST:
        raise RequestRefused(f"the text has {len(said)} characters; say it in {LONGEST} at most")
    number = _NUMBER.fullmatch(said)
    if number is None:
        return DirectiveRequest(text=said)
    if asked is None:
        raise RequestRefused(f"no question is open that {said!r} could answer; say what to do, in words")
    choice = int(number[1])
    if not 1 <= choice <= len(asked.choices):
        raise RequestRefused(
            f"{choice} is none of the choices 1 to {len(asked.choices)}: {_listed(asked.choices)}"
        )
    return DirectiveRequest(question_id=asked.question_id, choice=choice)


def ending_in_words(
    report: str, error_code: int, error_msg: str, question: str, choices: Sequence[str]
) -> str:
    """Return how a directive ended, for a person: its report, its error, and the question with how to answer it."""
    said = [report or error_msg]
    if error_code:
        why = f": {error_msg}" if report and error_msg and error_msg not in report else ""
        said.append(f"(error {error_code}{why})")
    if question:
        said.append(f"{clean_text(question)} Click near one, or say its number: {_listed(choices)}")
    return " ".join(part for part in said if part)


def _listed(choices: Sequence[str]) -> str:
    return "; ".join(f"{number}. {clean_text(words)}" for number, words in enumerate(choices, 1))
