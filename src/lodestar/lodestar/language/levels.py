"""Levels of the building, as words say them."""

from __future__ import annotations

from collections.abc import Iterable

from lodestar.language.directive import Constraint, ConstraintKind, Item
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.vocabulary import load_vocabulary

_RELATIVE = {
    UPSTAIRS: frozenset({"upstairs", "upper", "above", "next"}),
    DOWNSTAIRS: frozenset({"downstairs", "lower", "below"}),
    EVERY_LEVEL: frozenset({"each", "every", "any", "all"}),
}


def level_of(text: str) -> int | None:
    """Return the number of a level that is said, ground = 0 = "first floor"; None where none is."""
    vocabulary = load_vocabulary()
    words = text.split()
    for level, said in _RELATIVE.items():
        if not said.isdisjoint(words):
            return level
    for i, word in enumerate(words):
        ordinal = vocabulary.match("ORDINAL", words, i) or vocabulary.match("NUMBER", words, i)
        if word == "ground":
            return 0
        if word.isdigit():
            return max(int(word) - 1, 0)
        if ordinal is not None and float(ordinal[1]) > 0:
            return int(float(ordinal[1])) - 1
    return None


def barred_levels(constraints: Iterable[Constraint]) -> frozenset[int]:
    """Return the levels that constraints forbid to enter: "do not enter the second floor"."""
    vocabulary = load_vocabulary()
    said = (one.item.phrase for one in constraints if one.kind is ConstraintKind.STAY_OUT)
    levels = (
        level_of(phrase)
        for phrase in said
        if any(vocabulary.is_in("LEVELS", word.removesuffix("s")) for word in phrase.split())
    )
    return frozenset(level for level in levels if level is not None)


def is_floor(item: Item) -> bool:
    """Return whether an item is a floor of the building, as of "go to the second floor"."""
    words = [graph.target.category.split()[-1:] for graph in item.best]
    return bool(words) and all(word and load_vocabulary().is_in("LEVELS", *word) for word in words)
