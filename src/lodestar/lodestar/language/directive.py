"""Directives as typed records: ordered steps, and constraints that hold while the steps are carried out.

No package below `language/` handles sentences. `Directive.text` is kept for logs and for people; it is
untrusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property

from lodestar.language.directive_errors import (
    CannotObey,
    DirectiveError,
    EmptyDirective,
    NotUnderstood,
    OutOfBounds,
    StopRequested,
)
from lodestar.language.items import ANYWHERE, EVERY, ROBOT_FRAME, Item, Pose, Scope
from lodestar.language.query_graph import PATH, SPOTS, Predicate, QueryGraph
from lodestar.language.question import Question
from lodestar.models.lexicon import load_lexicon

#: Also exports the errors and item records, so that other packages import from this module alone.
__all__ = [
    "EVERY",
    "ROBOT_FRAME",
    "AmbiguousDirective",
    "CannotObey",
    "Constraint",
    "ConstraintKind",
    "Directive",
    "DirectiveError",
    "EmptyDirective",
    "Item",
    "Manner",
    "NotUnderstood",
    "OutOfBounds",
    "Pose",
    "Scope",
    "Step",
    "StepKind",
    "StopRequested",
    "Task",
    "main_kind",
]  # fmt: skip
MAX_COUNT = 100  # most objects of one FIND step, which the robot visits one by one
MAX_SECONDS = 86400.0  # s, longest wait: a day
MAX_TIMES = 1000  # most repetitions of a step or directive
DEFAULT_KEEP_AWAY = 1.0  # m, default distance of a KEEP_AWAY constraint
MAX_KEEP_AWAY = 10.0  # m; a wider zone would close every building to the robot
_MOST_NOUNS = 64  # most nouns of one directive, and most letters of one noun; longer text is no object's name
_MOST_LETTERS = 64
UNTIL_CANCELLED = 0  # value of Step.times and Directive.times: repeat until cancelled


class StepKind(IntEnum):
    """Kinds of steps, each with its own success condition. The numbers are those of Subtask.msg."""

    FIND = 0  # stand near the object with it in sight
    EXPLORE = 1  # leave no unknown area in the scope
    LIST = 2  # report which objects there are, and where
    RETURN = 3  # stand where the directive began, or at an earlier place
    GO = 4  # stand in the room, at the place or at the pose
    COUNT = 5  # report how many objects there are
    WAIT = 6  # stand for a time
    CHECK = 7  # report whether something is true now
    ASK = 8  # answer from memory, without motion
    PATROL = 9  # stand at each of several places, in turn
    STOP = 10  # stand still; always last
    DO = 11  # carry out a user-defined skill where the robot stands


@dataclass(frozen=True)
class Step:
    """One step of a directive.

    item: the object, or the place of a GO or RETURN step. pose: GO only, in place of the item. stops: PATROL
    only, in order; empty = every room. scope: area in which the step takes place. seconds: WAIT only, None =
    until cancelled. times: how often the step is done, UNTIL_CANCELLED = for ever. asked: CHECK only,
    predicates about the item's first variable whose truth is asked for. question: in CHECK, ASK and DO, the
    speaker's words (untrusted); in GO, the question to the memory that selects the place. unable: requests of
    this step that the robot cannot fulfil, in the speaker's words (untrusted). wanted: in CHECK, ASK, COUNT,
    LIST and a GO with a question, the step as a `Question` record for the memory. skill: DO only, the skill's
    name in the table of skills. others: DO only, further items in the order of the skill's arguments.

    Raises OutOfBounds for numbers out of range, ValueError if a field that the kind needs is missing.
    """

    kind: StepKind
    item: Item | None = None
    pose: Pose | None = None
    stops: tuple[Item, ...] = ()
    scope: Scope = ANYWHERE
    seconds: float | None = None  # s, length of a wait
    times: int = 1
    asked: tuple[Predicate, ...] = ()
    question: str = ""
    unable: tuple[str, ...] = ()
    wanted: Question | None = field(default=None, compare=False)
    skill: str = ""
    others: tuple[Item, ...] = ()

    def __post_init__(self) -> None:
        if self.kind is StepKind.FIND and self.item is None:
            raise ValueError("a step that finds needs what to find")
        if (self.kind is StepKind.DO) != bool(self.skill):
            raise ValueError("a step that does something needs the skill's name, and no other step has one")
        if self.kind is StepKind.GO and self.item is None and self.pose is None and not self.scope:
            raise ValueError("a step that goes needs where to go")
        if self.kind is StepKind.FIND and self.item is not None and self.item.count > MAX_COUNT:
            raise OutOfBounds(f"it asks for more than {MAX_COUNT} of one thing; ask for {MAX_COUNT} at most")
        if self.seconds is not None and not 0.0 <= self.seconds <= MAX_SECONDS:
            raise OutOfBounds(f"a wait of {self.seconds:g} s cannot be kept; say at most a day")
        if not 0 <= self.times <= MAX_TIMES:
            raise OutOfBounds(f"{self.times} times are too many; say at most {MAX_TIMES}")

    @property
    def is_remembered(self) -> bool:
        """Return whether the step goes to a place that the memory supplies: "go to where you last saw the
        forklift".
        """
        return self.kind is StepKind.GO and (bool(self.question) or self.wanted is not None)

    @property
    def item_in_scope(self) -> Item | None:
        """Return the item with the scope's rooms as InRegion predicates of each reading."""
        rooms = self.scope.labels
        if self.item is None or not rooms:
            return self.item
        return replace(
            self.item,
            alternatives=tuple(
                tuple(_in_room(graph, room, 1.0 / len(rooms)) for graph in readings for room in rooms)
                for readings in self.item.alternatives
            ),
        )

    @cached_property
    def graphs(self) -> tuple[QueryGraph, ...]:
        """Return the readings of `item_in_scope`; entities are scored against them."""
        item = self.item_in_scope
        return () if item is None else item.graphs

    @property
    def target(self) -> str:
        """Return the words for the item (Q_T of RoboAtlas IV-C)."""
        return "" if self.item is None else self.item.phrase

    @property
    def neighbors(self) -> tuple[str, ...]:
        """Return the phrases of the objects that the item is related to (Q_N of RoboAtlas IV-C)."""
        return () if self.item is None else self.item.neighbors

    @property
    def count(self) -> int:
        """Return how many of the item are wanted, EVERY = all; 1 without an item."""
        return 1 if self.item is None else self.item.count


def _in_room(graph: QueryGraph, room: str, share: float) -> QueryGraph:
    return replace(
        graph, predicates=(*graph.predicates, Predicate("InRegion", (0,), room)), weight=graph.weight * share
    )


class ConstraintKind(IntEnum):
    """Kinds of constraints. The numbers are those of Constraint.msg."""

    KEEP_AWAY = 0  # stay `distance` from the object; of a path, do not cross it
    STAY_OUT = 1  # do not enter the room


@dataclass(frozen=True)
class Constraint:
    """A ban that holds while the steps are carried out (Q_C of RoboAtlas IV-C).

    distance: horizontal metres to keep from the object's box; None = the robot's configured distance. until:
    index of the last step for which the constraint holds; None = it holds to the end. Raises OutOfBounds
    unless the distance is more than 0 and at most MAX_KEEP_AWAY.
    """

    kind: ConstraintKind
    item: Item
    distance: float | None = None  # m, None = the configured distance
    until: int | None = None

    def __post_init__(self) -> None:
        distance = self.distance
        if distance is not None and not (math.isfinite(distance) and 0.0 < distance <= MAX_KEEP_AWAY):
            raise OutOfBounds(
                f"{distance:g} m is no distance to keep away; say more than 0 m and at most {MAX_KEEP_AWAY:g} m"
            )


@dataclass(frozen=True)
class Manner:
    """Requested manner of moving, which the robot cannot change: refused unless it only repeats the normal
    behaviour.

    kind: "speed", "noise", "stand" (not to move at all) or "other". said: the speaker's words (untrusted).
    """

    kind: str
    said: str


@dataclass(frozen=True)
class Directive:
    """Steps in execution order, with the constraints and manners that hold meanwhile. `text` is the original,
    untrusted.

    times: how often all the steps are done, UNTIL_CANCELLED = for ever.
    """

    text: str
    steps: tuple[Step, ...]
    constraints: tuple[Constraint, ...] = ()
    manners: tuple[Manner, ...] = ()
    times: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.times <= MAX_TIMES:
            raise OutOfBounds(f"{self.times} times are too many; say at most {MAX_TIMES}")

    @property
    def is_endless(self) -> bool:
        """Return whether the directive runs until it is cancelled."""
        return UNTIL_CANCELLED in (self.times, *(step.times for step in self.steps)) or any(
            step.kind is StepKind.WAIT and step.seconds is None for step in self.steps
        )

    def constraints_of(self, index: int) -> tuple[Constraint, ...]:
        """Return the constraints that hold during step `index`."""
        return tuple(c for c in self.constraints if c.until is None or index <= c.until)

    def at(self, index: int) -> Directive:
        """Return the directive with only the constraints that hold during step `index`."""
        held = self.constraints_of(index)
        return self if len(held) == len(self.constraints) else replace(self, constraints=held)

    def from_step(self, index: int) -> Directive:
        """Return the directive from step `index` on, done once."""
        left = tuple(
            c if c.until is None else replace(c, until=c.until - index) for c in self.constraints_of(index)
        )
        return replace(self, steps=self.steps[index:], constraints=left, times=1)

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return every phrase of the directive, sorted; their text embeddings are needed to carry it out."""
        items = [c.item for c in self.constraints]
        for step in self.steps:
            items += [*([] if step.item is None else [step.item]), *step.stops, *step.others]
        graphs = [graph for item in items for graph in (*item.graphs, *item.excluded)]
        return tuple(sorted({v.phrase for graph in graphs for v in graph.variables}))

    @property
    def nouns(self) -> tuple[str, ...]:
        """Return the objects that the directive names, in the singular: of the steps in their order, then of
        the constraints.

        Rooms, paths, spots and generic words such as "thing" are left out: a detector cannot search for them.
        """
        graphs: list[QueryGraph] = []
        for step in self.steps:
            wanted = () if step.wanted is None else (step.wanted.item,)
            items = (step.item, *step.stops, *step.others, *wanted)
            graphs += [
                graph for item in items if item is not None for graph in (*item.graphs, *item.excluded)
            ]
            graphs += [] if step.scope.around is None else [step.scope.around]
        graphs += [graph for constraint in self.constraints for graph in constraint.item.graphs]
        lexicon = load_lexicon()
        words = (lexicon.singular_phrase(v.category)[:_MOST_LETTERS] for g in graphs for v in g.variables)
        nameless = {"", PATH, *SPOTS}
        found = dict.fromkeys(
            word
            for word in words
            if word not in nameless and not lexicon.is_generic(word) and not lexicon.room(word)
        )
        return tuple(found)[:_MOST_NOUNS]

    def with_steps(self, steps: Iterable[Step]) -> Directive:
        """Return a copy with other steps."""
        return replace(self, steps=tuple(steps))


def main_kind(directive: Directive) -> StepKind:
    """Return the kind of the first step that is not RETURN, by which the whole directive is judged."""
    kinds = [step.kind for step in directive.steps]
    return next((kind for kind in kinds if kind is not StepKind.RETURN), kinds[0])


@dataclass(frozen=True)
class Task:
    """One step with the constraints that hold during it, as given to reasoners: Q_T, Q_N, Q_C (RoboAtlas
    IV-C).
    """

    step: Step
    constraints: tuple[Constraint, ...] = ()

    @property
    def target(self) -> str:
        """Return the words for the step's item."""
        return self.step.target

    @property
    def neighbors(self) -> tuple[str, ...]:
        """Return the phrases of the objects that the item is related to."""
        return self.step.neighbors

    @property
    def barred(self) -> tuple[str, ...]:
        """Return the phrases of the objects to keep away from and of the rooms not to enter."""
        return tuple(dict.fromkeys(c.item.phrase for c in self.constraints))


class AmbiguousDirective(NotUnderstood):
    """Error: the text has readings that differ in what the robot does or may not do.

    readings: (sentence, directive) of each.
    """

    def __init__(self, question: str, readings: Sequence[tuple[str, Directive]]) -> None:
        super().__init__(question)
        self.readings = tuple(readings)
