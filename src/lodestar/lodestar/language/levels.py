"""Levels of the building, as words say them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lodestar.language.directive import Constraint, ConstraintKind, Item
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.vocabulary import load_vocabulary

_RELATIVE = {
    UPSTAIRS: frozenset({"upstairs", "upper", "above", "next"}),
    DOWNSTAIRS: frozenset({"downstairs", "lower", "below"}),
    EVERY_LEVEL: frozenset({"each", "every", "any", "all", "both"}),
}
_LIFTS = frozenset({"lift", "elevator"})
_STAIRS = frozenset({"stairs", "staircase", "stairway", "steps"}) | _LIFTS
_ALONG = {
    UPSTAIRS: frozenset({"up", "climb"}),
    DOWNSTAIRS: frozenset({"down"}),
}  # stairs: "take the stairs up"


def level_of(text: str) -> int | None:
    """Return the number of a level that is said, ground = 0 = "first floor"; None where none is."""
    vocabulary = load_vocabulary()
    words = text.split()
    along = {} if _STAIRS.isdisjoint(words) else _ALONG
    for level, said in _RELATIVE.items():
        if not (said | along.get(level, frozenset())).isdisjoint(words):
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


@dataclass(frozen=True)
class FloorNews:
    """A record of what a person tells of floors: whether the door of a lift is open, on which level the robot is (None:
    not said), and that a lift is in front of it.
    """

    door: bool | None = None
    level: int | None = None
    is_lift: bool = False


def read_floor_news(text: str) -> FloorNews:
    """Return what is told: "you are on the second floor", "the door is open", "there is a lift in front of you"."""
    words = re.findall(r"[a-z0-9]+", text.casefold())
    lift = not _LIFTS.isdisjoint(words)
    if any(load_vocabulary().is_in("LEVELS", word) for word in words):
        level = level_of(" ".join(word for word in words if word not in _LIFTS))
        level = level if level is not None and abs(level) < abs(UPSTAIRS) else None
    else:
        level = None
    if {"door", "doors"} & set(words):
        is_open = "open" in words and not {"not", "t", "no"} & set(words)
        return FloorNews(is_open, level, False)
    return FloorNews(None, level, lift and level is None)


def is_floor(item: Item) -> bool:
    """Return whether an item is a floor of the building, as of "go to the second floor"."""
    words = [graph.target.category.split()[-1:] for graph in item.best]
    return bool(words) and all(word and load_vocabulary().is_in("LEVELS", *word) for word in words)
