"""The format of world files, `world.schema.json`; every file is checked against it before use."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from lodestar_sim.worlds.palette import COLORS

SCHEMA_FILE = Path(__file__).parent / "world.schema.json"
_TYPES = {
    "number": "a number", "integer": "a whole number", "string": "text", "boolean": "true or false",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip
_SHOWN = 60  # largest number of characters of a value quoted in a message


@lru_cache(maxsize=1)
def load_schema() -> dict[str, Any]:
    """Return the schema of world files (JSON Schema, draft 2020-12)."""
    return json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))


def schema_problems(data: Any) -> list[str]:
    """Return one sentence, with the place in the file, for each schema violation in parsed JSON."""
    from jsonschema import Draft202012Validator

    if not isinstance(data, dict):
        return ["the file must hold one JSON object with bounds, start, walls and objects"]
    problems = [f"{_place(data, path)} must be finite" for path in _not_finite(data, ())]
    found = sorted(
        Draft202012Validator(load_schema()).iter_errors(data), key=lambda e: [str(p) for p in e.path]
    )
    for error in found:
        problems += _sentences(data, error)
    return list(dict.fromkeys(problems))


def _not_finite(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of NaN and infinite values, which Python's JSON reader and the schema accept."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _not_finite(inner, (*path, key))


def _place(data: Any, path: tuple[Any, ...]) -> str:
    """Return a path in readable form: objects[3] (id 7, chair).pose[0]."""
    words, value = "", data
    for key in path:
        value = value[key]
        words += f"[{key}]" if isinstance(key, int) else f".{key}" if words else str(key)
        if isinstance(value, dict) and "id" in value and "category" in value:
            words += f" (id {_short(value['id'])}, {str(value['category'])[:_SHOWN]})"
    return words or "the file"


def _sentences(data: Any, error: Any) -> list[str]:
    """Return sentences that explain one violation of the schema to the file's author."""
    place, value, bound = _place(data, tuple(error.absolute_path)), error.instance, error.validator_value
    if error.schema.get("title") in ("colour", "material") and isinstance(value, str):
        known = [*COLORS, "#rrggbb"] if error.schema["title"] == "colour" else bound
        return [f"{place}: unknown {error.schema['title']} {_short(value)}; use one of {', '.join(known)}"]
    if error.validator == "required":
        return [f"{place}: {name} is missing" for name in bound if name not in value]
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        return [
            f"{place}: unknown field {_short(name)}; there are {', '.join(known)}"
            for name in value
            if name not in known
        ]
    if error.validator == "anyOf":  # optional value: report the branch that matches best
        inner = max(error.context, key=lambda e: len(e.absolute_path), default=None)
        real = [e for e in error.context if e.validator != "type" or e.validator_value != "null"]
        return [s for e in real or [inner] if e is not None for s in _sentences(data, e)]
    return [f"{place} {_rule(error.validator, bound, value, error.schema)}"]


def _rule(validator: str, bound: Any, value: Any, schema: dict[str, Any]) -> str:
    """Return the violated rule in words."""
    if validator == "type":
        return f"must be {_TYPES[bound]}, not {_short(value)}"
    if validator in ("minItems", "maxItems"):
        if schema.get("minItems") == schema.get("maxItems"):
            return f"must hold {bound} values, not {len(value)}"
        return (
            f"must hold at {'least' if validator == 'minItems' else 'most'} {bound} values, not {len(value)}"
        )
    if validator in ("minimum", "maximum") and "minimum" in schema and "maximum" in schema:
        return f"must lie in {schema['minimum']}..{schema['maximum']}, not {_short(value)}"
    if validator in ("const", "enum"):
        choices = ", ".join(map(str, [bound] if validator == "const" else bound))
        return f"must be {'one of ' if validator == 'enum' else ''}{choices}, not {_short(value)}"
    words = {
        "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "exclusiveMaximum": "below",
    }  # fmt: skip
    if validator in words:
        return f"must be {words[validator]} {bound}, not {_short(value)}"
    return (
        "must not be empty" if validator in ("minLength", "pattern") else f"is too long: {validator} {bound}"
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
