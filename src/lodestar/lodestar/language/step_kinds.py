"""Table of step kinds: their properties for parsers, reports and checks.

The code that carries out each kind is listed in `agent/activities/table.py` (docs/how-to/extend.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lodestar.floors.records import level_name
from lodestar.language.directive import EVERY, ROBOT_FRAME, Item, Step, StepKind
from lodestar.language.item_words import (
    graph_words,
    item_words,
    number_words,
    pose_words,
    scope_words,
    several_words,
)
from lodestar.language.items import EVERY_LEVEL, UPSTAIRS
from lodestar.models.english import listed, with_article
from lodestar.scene.captions import clean_text


@dataclass(frozen=True)
class StepSpec:
    """Properties of one kind of step.

    sentence(step): returns an order that parses to the same step. words(step): returns the step in words for
    reports; they contain only those of the speaker's words that are safe to show.
    """

    kind: StepKind
    sentence: Callable[[Step], str]
    words: Callable[[Step], str]
    stands: bool = False  # done where the robot stands; no restart is needed after the robot was carried
    offered: bool = True  # a language model that parses directives may choose this kind


def step_spec(kind: StepKind) -> StepSpec:
    """Return the properties of a kind. Raises KeyError for a kind without an entry."""
    return _SPECS[kind]


def offered_kinds() -> tuple[str, ...]:
    """Return the names of the kinds that a language model may choose."""
    return tuple(spec.kind.name for spec in _SPECS.values() if spec.offered)


@contextmanager
def registered_step(spec: StepSpec) -> Iterator[StepSpec]:
    """Register a kind of step during a `with` block. Raises ValueError if the kind exists already."""
    if spec.kind in _SPECS:
        raise ValueError(f"there is a kind {spec.kind.name} already")
    _SPECS[spec.kind] = spec
    try:
        yield spec
    finally:
        del _SPECS[spec.kind]


def skill_words(step: Step) -> str:
    """Return a skill step in words: "do Place with the mug and the table"."""
    things = [item_words(item) for item in (step.item, *step.others) if item is not None]
    return f"do {step.skill} with {listed(things)}" if things else f"do {step.skill}"


def exact_duration(seconds: float) -> str:
    """Return a duration without rounding, so that the parser reads the same: "90 s", "5 min"."""
    whole = seconds >= 120.0 and seconds % 60.0 == 0.0
    return f"{seconds / 60.0:.0f} min" if whole else f"{seconds:g} s"


# --- orders --------------------------------------------------------------------------------------------------------


def _go(step: Step) -> str:
    where = scope_words(step.scope)
    if step.pose is not None:
        return f"go to {pose_words(step.pose)}"
    if step.is_remembered and step.item is not None:
        return f"go to where you last saw {item_words(step.item)}{where}"
    return f"go {_to(step.item)}{where}" if step.item is not None else f"go{where}"


def _explore(step: Step) -> str:
    scope = step.scope
    if (
        scope.level is not None
        and not scope.rooms
        and scope.around is None
        and abs(scope.level) < abs(UPSTAIRS)
    ):
        return f"explore the {level_name(scope.level)}"
    return f"explore{scope_words(scope, ' ', ' and ')}" if scope else "explore the building"


def _patrol(step: Step) -> str:
    if step.stops:
        return f"patrol {listed(item_words(stop) for stop in step.stops)}"
    rooms = [graph_words(room, "all the ") for room in step.scope.rooms]
    level = step.scope.level
    if not rooms and level is not None:
        if abs(level) < abs(UPSTAIRS):
            return f"patrol the {level_name(level)}"
        return "patrol all floors" if level == EVERY_LEVEL else f"patrol{scope_words(step.scope)}"
    return f"patrol {listed(rooms)}" if rooms else "patrol the building"


def _about(verb: str, words: Callable[[Item | None], str]) -> Callable[[Step], str]:
    """Return a function that words a step as the verb, its item and its scope."""
    return lambda step: f"{verb} {words(step.item)}{scope_words(step.scope)}"


def _asked(verb: str) -> Callable[[Step], str]:
    """Return a function that words a step as its question, or else as the verb and its item."""
    plain = _about(verb, several_words)
    return lambda step: f"{step.question}?" if step.question else plain(step)


def _to(item: Item) -> str:
    return f"to {item_words(item)}"


def _one(item: Item | None) -> str:
    assert item is not None
    return item_words(item)


# --- reports of the robot's activity --------------------------------------------------------------------------------


def _target(step: Step) -> str:
    return clean_text(step.target)


def _search_in_words(step: Step) -> str:
    target, count = _target(step) or "what the picture shows", step.count
    if count == EVERY:
        return f"look for every {target}"
    return f"look for {count} x {target}" if count > 1 else f"look for {with_article(target)}"


def _go_in_words(step: Step) -> str:
    if step.pose is not None and step.pose.frame == ROBOT_FRAME:
        return f"go to {pose_words(step.pose)}".replace("your", "my").replace("you", "me")
    if step.pose is not None:
        return f"go to ({step.pose.x:.1f}, {step.pose.y:.1f})"
    return f"go to {'where I last saw ' if step.is_remembered else ''}the {_target(step)}"


def _every(verb: str) -> Callable[[Step], str]:
    return lambda step: f"{verb} every {_target(step)}" if _target(step) else f"{verb} everything"


_BUILT_IN = (
    StepSpec(StepKind.FIND, _about("find", _one), _search_in_words),
    StepSpec(StepKind.EXPLORE, _explore, lambda step: "explore until nothing is left"),
    StepSpec(StepKind.LIST, _about("list", several_words), _every("list")),
    StepSpec(
        StepKind.RETURN,
        lambda step: (
            "come back" if step.item is None else f"return {_to(step.item)}{scope_words(step.scope)}"
        ),
        lambda step: "come back to the start",
    ),
    StepSpec(StepKind.GO, _go, _go_in_words),
    StepSpec(StepKind.COUNT, _about("count", several_words), _every("count")),
    StepSpec(
        StepKind.WAIT,
        lambda step: (
            "wait until cancelled" if step.seconds is None else f"wait {number_words(step.seconds)} seconds"
        ),
        lambda step: "wait" if step.seconds is None else f"wait for {exact_duration(step.seconds)}",
        stands=True,
    ),
    StepSpec(
        StepKind.CHECK, _asked("check"), lambda step: clean_text(step.question) or f"check {_target(step)}"
    ),
    StepSpec(StepKind.ASK, _asked("ask"), lambda step: clean_text(step.question) or "answer", stands=True),
    StepSpec(
        StepKind.PATROL, _patrol, lambda step: f"visit every {' and '.join(step.scope.labels) or 'room'}"
    ),
    StepSpec(StepKind.STOP, lambda step: "stop", lambda step: "stop", stands=True),
    StepSpec(
        StepKind.DO,
        lambda step: step.question or skill_words(step),
        lambda step: clean_text(step.question) or skill_words(step),
        stands=True,
        offered=False,  # a model lists impossible acts as `unable`; skills are matched to them afterwards
    ),
)
_SPECS = {spec.kind: spec for spec in _BUILT_IN}
