"""What a language model answered, as an object of the schema or not at all."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_CHARACTERS = 200_000  # of an answer that is looked at

_FENCE = re.compile(r"^```[A-Za-z0-9_-]*\s*\n?(.*?)\n?\s*```$", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")


class BrokenAnswer(ValueError):
    """The text is no object of the schema; the message says what is wrong, without quoting the text."""


def parse_answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The object that a text holds, checked against the schema.

    Fences, words around the object and trailing commas are taken off, which small models put there; nothing is
    guessed beyond that. NaN and infinities are no JSON. Raises BrokenAnswer.
    """
    if len(text) > MAX_CHARACTERS:
        raise BrokenAnswer(f"the answer is longer than {MAX_CHARACTERS} characters")
    data = _loads(text)
    if not isinstance(data, dict):
        raise BrokenAnswer(f"the answer is a {type(data).__name__}, not an object")
    _check(data, schema)
    return data


def _loads(text: str) -> Any:
    stripped = text.strip()
    fenced = _FENCE.match(stripped)
    inner = fenced.group(1) if fenced else stripped
    first, last = inner.find("{"), inner.rfind("}")
    candidates = [stripped, inner]
    if 0 <= first < last:
        candidates += [inner[first : last + 1], _without_trailing_commas(inner[first : last + 1])]
    problem = "the answer is empty"
    for candidate in dict.fromkeys(candidates):
        if not candidate:
            continue
        try:
            return json.loads(candidate, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            problem = f"the answer is no JSON: {error.msg} at character {error.pos}"
        except RecursionError:
            raise BrokenAnswer("the answer is nested too deeply") from None
    raise BrokenAnswer(problem)


def _refuse_constant(name: str) -> Any:
    raise BrokenAnswer(f"the answer holds {name}, which is no number")


def _without_trailing_commas(text: str) -> str:
    """The text without commas before a closing bracket, strings as they are."""
    parts, end = [], 0
    for string in _STRING.finditer(text):
        parts += [_TRAILING_COMMA.sub("", text[end : string.start()]), string.group()]
        end = string.end()
    # A comma may be parted from its bracket by nothing but space: strings never stand between the two.
    return "".join([*parts, _TRAILING_COMMA.sub("", text[end:])])


def _check(data: dict[str, Any], schema: dict[str, Any]) -> None:
    if not schema:
        return
    from jsonschema import Draft202012Validator

    try:
        error = next(iter(Draft202012Validator(schema).iter_errors(data)), None)
    except RecursionError:
        raise BrokenAnswer("the answer is nested too deeply") from None
    if error is not None:
        where = "/".join(str(part)[:40] for part in error.absolute_path) or "the answer"
        raise BrokenAnswer(f"{where} breaks the schema's rule {error.validator!r}")
