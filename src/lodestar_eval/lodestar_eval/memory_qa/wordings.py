"""Wordings of the questions, taken after human ones; a third of them is reserved for reported tables."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import yaml

DEVELOPMENT, RESERVED, BOTH = "development", "reserved", "both"
CHOICES = (DEVELOPMENT, RESERVED, BOTH)
_FILES = {DEVELOPMENT: "wordings.yaml", RESERVED: "reserved_wordings.yaml"}
_RESERVED_SHARE = 1.0 / 3.0  # of the questions, where both are used


@lru_cache(maxsize=2)
def wordings(which: str) -> dict[str, tuple[str, ...]]:
    """Return the wordings of one of the two lists by form. Raises KeyError for another name."""
    text = (Path(__file__).parent / _FILES[which]).read_text(encoding="utf-8")
    return {form: tuple(lines) for form, lines in yaml.safe_load(text).items()}


def worded(form: str, slots: dict[str, str], which: str, rng: np.random.Generator) -> tuple[str, str]:
    """Return a question's text, and which list its wording is from."""
    share, index = rng.random(), rng.random()
    chosen = which
    if which == BOTH:
        chosen = RESERVED if share < _RESERVED_SHARE else DEVELOPMENT
    lines = wordings(chosen)[form]
    return lines[int(index * len(lines))].format(**slots), chosen


def plural(noun: str) -> str:
    """Return the plural of a category of the catalogue."""
    if noun.endswith("shelf"):
        return f"{noun[:-1]}ves"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"
