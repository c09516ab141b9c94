"""Recognition of a question's kind by its first words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lodestar.language.lattice import lattice_of
from lodestar.language.question_words import Opening, load_openings, load_question_words
from lodestar.language.vocabulary import load_vocabulary


def opening_of(words: Sequence[str], asks: bool) -> dict[str, Any] | None:
    """Return the meaning of the longest matching opening, with its number of words as `length`; None if
    nothing is asked.

    asks: a question mark ends the words, so an unknown opening is a question of kind "other".
    """
    best: tuple[int, Opening, dict[str, Any]] | None = None
    for opening in load_openings():
        found = _matched(opening.tables, words)
        if found is not None and (best is None or found[0] >= best[0]):
            best = (*found[:1], opening, found[1])
    if best is None:
        return {"kind": "other", "length": 0} if asks else None
    length, opening, values = best
    meaning = {
        key: values.get(said[1:]) if isinstance(said, str) and said.startswith("$") else said
        for key, said in opening.meaning.items()
    }
    return {**meaning, "length": length}


def _matched(tables: Sequence[str], words: Sequence[str]) -> tuple[int, dict[str, Any]] | None:
    """Return the number of words that the tables match from the first word on, and their values; None for no
    match.
    """
    own, function = load_question_words(), load_vocabulary()
    i, values = 0, {}
    for table in tables:
        if i >= len(words):
            return None
        match = own.match(table, words, i) or function.match(table, words, i)
        if match is None and table == "PART":
            part = lattice_of(words[i:]).options[0].get("PART")
            match = None if part is None else (part.length, part.value)
        if match is None:
            return None
        values[table] = match[1]
        i += match[0]
    return i, values
