"""Parsing of an operator's texts: directives, and answers to the last question by number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lodestar.scene.captions import clean_text

_NUMBER = re.compile(r"(?:answer|choice|number)?\s*#?(\d{1,3})\s*[.!]?", re.IGNORECASE)


class RequestRefused(ValueError):
    """Raised for a text that is no valid request; the message says what to do."""


@dataclass(frozen=True)
class AskedBack:
    """A question that ended the last directive. choices: in words, numbered from 1."""

    question_id: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class DirectiveRequest:
    """A goal of follow_directive: a text, or an answer to a question."""

    text: str = ""
    question_id: str = ""
    choice: int = 0


def request_of(text: str, asked: AskedBack | None) -> DirectiveRequest:
    """Return the request in a text: a number answers the open question, any other text is a directive.

    asked: the open question, None = none. Raises RequestRefused.
    """
    said = text.strip()
    if not said:
        raise RequestRefused('the text is empty; say what to do, such as "find the red chair"')
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
    """Return the end of a directive in words: its report, its error, and its question with instructions to
    answer it.
    """
    said = [report or error_msg]
    if error_code:
        why = f": {error_msg}" if report and error_msg and error_msg not in report else ""
        said.append(f"(error {error_code}{why})")
    if question:
        said.append(f"{clean_text(question)} Click near one, or say its number: {_listed(choices)}")
    return " ".join(part for part in said if part)


def _listed(choices: Sequence[str]) -> str:
    return "; ".join(f"{number}. {clean_text(words)}" for number, words in enumerate(choices, 1))
