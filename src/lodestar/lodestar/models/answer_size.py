"""Estimate of the tokens that a language model needs for an answer of a JSON schema."""

from __future__ import annotations

from typing import Any

LEAST = 400  # tokens that any answer may take; chosen
TEXT = 60  # tokens of a text: a sentence or two; chosen
_VALUE, _NAME, _ITEMS = (
    8,
    6,
    20,
)  # tokens of a number or a choice; of a property's name; items assumed for an open list


def answer_tokens(schema: dict[str, Any]) -> int:
    """Return an estimate of the tokens of an answer that fills the schema's lists up to their `maxItems`."""
    return max(LEAST, _size(schema))


def _size(schema: dict[str, Any]) -> int:
    if "enum" in schema:
        return _VALUE
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return sum(_NAME + _size(part) for part in schema.get("properties", {}).values()) + 2
    if kind == "array":
        return int(schema.get("maxItems", _ITEMS)) * (_size(schema.get("items", {})) + 1) + 2
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return max(map(_size, options))
    return TEXT if kind in ("string", None) else _VALUE
