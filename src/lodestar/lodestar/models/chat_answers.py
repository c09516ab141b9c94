"""JSON schemas for a language model's answers, and the parser of these answers."""

from __future__ import annotations

import json
import string
from typing import Any

MAX_CHARACTERS = 200_000  # longer answers are rejected

_FENCE = "```"
_LANGUAGE = string.ascii_letters + string.digits + "_-"  # characters of a fence's language, as in "```json"


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of these properties, and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def list_of(items: dict[str, Any], **limits: int) -> dict[str, Any]:
    """Return the schema of a list. limits: maxItems, minItems."""
    return {"type": "array", **limits, "items": items}


class BrokenAnswer(ValueError):
    """Error: the text is not an object of the schema.

    The message states the problem without quoting the text.
    """


def parse_answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the object in a text, checked against the schema.

    Removes code fences, text around the object and trailing commas, which small models produce; nothing else is
    repaired. NaN and infinities are not JSON. Raises BrokenAnswer.
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
    inner = _without_fence(stripped)
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
            problem = f"the answer is not JSON: {error.msg} at character {error.pos}"
        except BrokenAnswer:
            raise
        except ValueError:  # Python refuses integers with more digits than sys.get_int_max_str_digits()
            raise BrokenAnswer("the answer contains a number with too many digits") from None
        except RecursionError:
            raise BrokenAnswer("the answer is nested too deeply") from None
    raise BrokenAnswer(problem)


def _refuse_constant(name: str) -> Any:
    raise BrokenAnswer(f"the answer contains {name}, which is not a JSON number")


def _without_fence(text: str) -> str:
    """Return the text between code fences, without the language name; text without fences unchanged. O(n)."""
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text[len(_FENCE) : -len(_FENCE)].lstrip(_LANGUAGE).strip()


def _without_trailing_commas(text: str) -> str:
    """Return the text without commas before a closing bracket; strings are unchanged. O(n)."""
    kept: list[str] = []
    comma = -1  # position of a comma followed only by white space so far
    quoted = escaped = False
    for character in text:
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif not character.isspace():
            if character in "}]" and comma >= 0:
                kept[comma] = ""
            comma = len(kept) if character == "," else -1
            quoted = character == '"'
        kept.append(character)
    return "".join(kept)


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
