"""Wordings of the questions, modelled on people's; a third is reserved for published tables."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import yaml

DEVELOPMENT, RESERVED, BOTH = "development", "reserved", "both"
CHOICES = (DEVELOPMENT, RESERVED, BOTH)
_FILES = {DEVELOPMENT: "wordings.yaml", RESERVED: "reserved_wordings.yaml"}
_RESERVED_SHARE = 1.0 / 3.0  # share of questions with reserved wordings, if both lists are used


@lru_cache(maxsize=2)
def wordings(which: str) -> dict[str, tuple[str, ...]]:
    """Return the wordings in list `which` (DEVELOPMENT or RESERVED), by form. Raises KeyError for another."""
    text = (Path(__file__).parent / _FILES[which]).read_text(encoding="utf-8")
    return {form: tuple(lines) for form, lines in yaml.safe_load(text).items()}


def worded(form: str, slots: dict[str, str], which: str, rng: np.random.Generator) -> tuple[str, str]:
    """Fill in a randomly chosen wording of a question; return the text, and the list that the wording is from.

    form: kind of question. slots: placeholder -> text. which: DEVELOPMENT, RESERVED or BOTH lists of wordings.
    """
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
