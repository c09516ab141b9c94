"""Levels of the building: their numbers in text, bans on them, and messages about the robot's level."""

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
}  # with a word for stairs: "take the stairs up"


def level_of(text: str) -> int | None:
    """Return the level named in a text, ground = 0 = "first floor"; UPSTAIRS etc. if relative; None if none
    is named.
    """
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
        if word.isdecimal():
            return max(int(word) - 1, 0)
        if ordinal is not None and float(ordinal[1]) > 0:
            return int(float(ordinal[1])) - 1
    return None


def barred_levels(constraints: Iterable[Constraint]) -> frozenset[int]:
    """Return the levels that constraints forbid: "do not enter the second floor"."""
    vocabulary = load_vocabulary()
    said = (one.item.phrase for one in constraints if one.kind is ConstraintKind.STAY_OUT)
    levels = (
        level_of(phrase)
        for phrase in said
        if any(vocabulary.is_in("LEVELS", word.removesuffix("s")) for word in phrase.split())
    )
    return frozenset(level for level in levels if level is not None)


# words of messages about floors: of questions, of denials and doubts, and of the robot's own place
_ASKING = frozenset({"is", "are", "am", "do", "does", "where", "which", "what"})
_DOUBTFUL = frozenset(
    {
        "not",
        "t",
        "no",
        "never",
        "cannot",
        "if",
        "when",
        "once",
        "until",
        "unless",
        "before",
        "broken",
        "order",
    }
)
_HERE = frozenset({"you", "we", "i", "this", "here", "it", "robot"})
_WAY = frozenset({"go", "to", "from"})
_BEFORE = frozenset({"front", "ahead", "here", "facing", "face"})
_CLAUSES = re.compile(r"[.,;:!\n]|\band\b|\bbut\b")
_OPEN = re.compile(r"\bdoors?( is| are| s| re)?( now| already| wide| fully)* open\b")


@dataclass(frozen=True)
class FloorNews:
    """Facts about floors in a person's message.

    door: whether a lift's door is open; level: the robot's level (None = not said); is_lift: a lift is in
    front of the robot.
    """

    door: bool | None = None
    level: int | None = None
    is_lift: bool = False


def read_floor_news(text: str) -> FloorNews:
    """Return the facts in a message: "you are on the second floor", "the door is open", "there is a lift in
    front of you".

    Questions, orders and denials give no facts. A door counts as open only if the text plainly says so.
    """
    clauses = [re.findall(r"[a-z0-9]+", clause) for clause in _CLAUSES.split(text.casefold())]
    said = {word for clause in clauses for word in clause}
    if "?" in text or any({*clause[:1]} & _ASKING for clause in clauses):
        return FloorNews()
    told = [clause for clause in clauses if _DOUBTFUL.isdisjoint(clause)]
    is_open = any(_OPEN.search(" ".join(clause)) for clause in told)
    levels = [_level_told(clause, is_open) for clause in told]
    level = next((level for level in levels if level is not None), None)
    if {"door", "doors"} & said:
        return FloorNews(is_open, level, False)
    lift = any(_LIFTS.intersection(clause) and _BEFORE.intersection(clause) for clause in told)
    return FloorNews(None, level, lift and level is None)


def _level_told(words: list[str], is_at_door: bool) -> int | None:
    """Return the level on which a clause says the robot is, None if it says none. is_at_door: the text says a
    door is open.
    """
    if not any(load_vocabulary().is_in("LEVELS", word) for word in words):
        return None
    level = level_of(" ".join(word for word in words if word not in _LIFTS))
    is_here = is_at_door or not _HERE.isdisjoint(words)
    is_here = is_here and _WAY.isdisjoint(words)
    return level if is_here and level is not None and abs(level) < abs(UPSTAIRS) else None


def is_floor(item: Item) -> bool:
    """Return whether an item is a floor of the building, as in "go to the second floor"."""
    words = [graph.target.category.split()[-1:] for graph in item.best]
    return bool(words) and all(word and load_vocabulary().is_in("LEVELS", *word) for word in words)
