"""Levels of the building that a directive bars."""

from __future__ import annotations

from collections.abc import Iterable

from lodestar.language.directive import Constraint, ConstraintKind, Item
from lodestar.language.phrase_items import level_of
from lodestar.language.vocabulary import load_vocabulary


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
