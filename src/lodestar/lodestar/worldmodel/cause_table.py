"""Table of failure causes, with the weights of evidence for each cause and its recovery (VLM-DEWM 3.3.5,
C.9).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from lodestar.worldmodel.outcomes import Cause, Look

_Member = TypeVar("_Member", bound=Enum)
FILE = Path(__file__).with_name("causes.yaml")


class Recovery(Enum):
    """Recoveries from a failure; each corrects a belief before it moves the robot."""

    TAKE_NEW_PLACE = "take_new_place"  # go to the object's new place
    SEARCH_ELSEWHERE = "search_elsewhere"  # the object is gone: search where such objects are moved to
    NEXT_CANDIDATE = "next_candidate"  # the object is not the target
    OTHER_SIDE = "other_side"  # observe or stand from another place
    TELL = "tell"  # accept the object in front as the target, and report the other one
    GO_ROUND = "go_round"  # close the way for a while
    WAIT_THEN_GO_ROUND = "wait_then_go_round"
    RELOCALISE = "relocalise"  # stand until the pose matches the map, or end
    GO_TO_CHARGER = "go_to_charger"
    WAIT_FOR_NAVIGATOR = "wait_for_navigator"
    WAIT_FOR_SENSORS = "wait_for_sensors"
    ASK_AGAIN = "ask_again"  # exclude this goal and ask the experts for another


@dataclass(frozen=True)
class CauseRow:
    """One cause of a failure in the table.

    prior: log odds. recovery: reaction to the cause. weights: fact -> (log odds if it holds, if it does not).
    """

    cause: Cause
    prior: float
    recovery: Recovery
    weights: Mapping[str, tuple[float, float]]

    def weight(self, fact: str, holds: bool) -> float:
        """Return the log odds that a fact adds to this cause; 0 if the table gives it no weight."""
        pair = self.weights.get(fact)
        return 0.0 if pair is None else pair[0 if holds else 1]


@dataclass(frozen=True)
class CauseTable:
    """Table of the causes of failures, by cause.

    facts: name -> meaning, in words. looks: diagnostic observation -> facts that it may determine.
    """

    facts: Mapping[str, str]
    looks: Mapping[Look, tuple[str, ...]]
    rows: Mapping[Cause, CauseRow]


class BadTable(ValueError):
    """Raised for an invalid table; the message names the row."""


def read_table(data: Any, name: str = "the table") -> CauseTable:
    """Return the table of parsed YAML. Raises BadTable, which names the invalid row."""
    if not isinstance(data, dict) or set(data) != {"facts", "looks", "causes"}:
        raise BadTable(f"{name}: it needs exactly facts, looks and causes")
    facts = data["facts"]
    if not isinstance(facts, dict) or not all(isinstance(text, str) and text for text in facts.values()):
        raise BadTable(f"{name}: each of facts needs a sentence")
    looks = {}
    for word, brought in _items(data["looks"], f"{name}, looks"):
        look = _member(Look, word, f"{name}, looks")
        looks[look] = tuple(_fact(fact, facts, f"{name}, looks, {word}") for fact in brought)
    rows = {}
    for word, record in _items(data["causes"], f"{name}, causes"):
        row = _row(word, record, facts, f"{name}, causes, {word}")
        rows[row.cause] = row
    missing = [cause.value for cause in Cause if cause not in rows]
    if missing:
        raise BadTable(f"{name}, causes: there is no row for {', '.join(missing)}")
    return CauseTable(facts, looks, rows)


def _row(word: str, record: Any, facts: Mapping[str, str], place: str) -> CauseRow:
    if not isinstance(record, dict) or set(record) != {"prior", "recovery", "weights"}:
        raise BadTable(f"{place}: it needs exactly prior, recovery and weights")
    weights = {}
    for fact, pair in _items(record["weights"], f"{place}, weights"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadTable(f"{place}, {fact}: it needs two numbers: if so, and if not so")
        weights[_fact(fact, facts, place)] = (
            _number(pair[0], f"{place}, {fact}"),
            _number(pair[1], f"{place}, {fact}"),
        )
    return CauseRow(
        _member(Cause, word, place),
        _number(record["prior"], f"{place}, prior"),
        _member(Recovery, record["recovery"], place),
        weights,
    )


def _items(data: Any, place: str) -> list[tuple[Any, Any]]:
    if not isinstance(data, dict):
        raise BadTable(f"{place}: names with values are needed")
    return list(data.items())


def _fact(fact: Any, facts: Mapping[str, str], place: str) -> str:
    if fact not in facts:
        raise BadTable(f"{place}: {fact!r} is none of the facts")
    return str(fact)


def _number(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadTable(f"{place}: {value!r} is no finite number")
    return float(value)


def _member(kind: type[_Member], word: Any, place: str) -> _Member:
    try:
        return kind(word)
    except ValueError as error:
        known = ", ".join(str(one.value) for one in kind if one.value)
        raise BadTable(f"{place}: {word!r} is none of {known}") from error


@lru_cache(maxsize=1)
def cause_table() -> CauseTable:
    """Return the cause table that is shipped with Lodestar."""
    return read_table(yaml.safe_load(FILE.read_text(encoding="utf-8")), FILE.name)
