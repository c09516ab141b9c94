"""Directives as typed records: steps in order, and constraints that hold while they are done.

Nothing below `language/` sees a sentence. `Directive.text` is kept for logs and for people; it is untrusted.
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

#: Read from here by all who make or take directives.
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
MAX_COUNT = 100  # of one thing: more than a building holds of what is gone to one by one
MAX_SECONDS = 86400.0  # s of one wait: a day
MAX_TIMES = 1000  # rounds of one repetition
DEFAULT_KEEP_AWAY = 1.0  # m
MAX_KEEP_AWAY = 10.0  # m: a wider zone closes every building to the robot
_MOST_NOUNS = 64  # of one directive, and letters of one: more is no name of a thing
_MOST_LETTERS = 64
UNTIL_CANCELLED = 0  # of Step.times


class StepKind(IntEnum):
    """Each kind has its own test of success. The numbers are those of Subtask.msg."""

    FIND = 0  # stand where the thing is in sight and near
    EXPLORE = 1  # nothing unknown is left in the scope
    LIST = 2  # say what there is, and where
    RETURN = 3  # stand where the directive began, or at an earlier place
    GO = 4  # stand in the room, at the place or at the pose
    COUNT = 5  # say how many there are
    WAIT = 6  # stand for a time
    CHECK = 7  # say whether something is so now
    ASK = 8  # answer from memory, without motion
    PATROL = 9  # stand at each of several places, in turn
    STOP = 10  # stand still; always last
    DO = 11  # carry out a skill of a user's, where the robot stands


@dataclass(frozen=True)
class Step:
    """One thing to do.

    item: what it is about; of GO and RETURN the place. pose: of GO, instead of an item. stops: of PATROL, in order;
    none = every room. scope: where. seconds: of WAIT, None = until told otherwise. times: how often the
    step is done, UNTIL_CANCELLED = for ever. asked: of CHECK, predicates about the item's first variable whose truth
    is wanted. question: of CHECK, ASK and DO, in the speaker's words (untrusted); of GO, which place of the item is
    meant, for the memory to answer. unable: what of it the robot cannot do,
    in the speaker's words (untrusted). wanted: of CHECK, ASK, COUNT, LIST and a GO that has a question, what is to be
    answered: item, scope and `asked` once more, with kind and times. skill: of DO, its name in the table of skills.
    others: of DO, what it is about besides the item, in the order of its arguments.
    Raises OutOfBounds for numbers that cannot be met, ValueError where what its kind needs is missing.
    """

    kind: StepKind
    item: Item | None = None
    pose: Pose | None = None
    stops: tuple[Item, ...] = ()
    scope: Scope = ANYWHERE
    seconds: float | None = None  # s
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
        """Whether it goes to a place that the memory tells: "go to where you last saw the forklift"."""
        return self.kind is StepKind.GO and (bool(self.question) or self.wanted is not None)

    @property
    def item_in_scope(self) -> Item | None:
        """The item with the scope's rooms as InRegion predicates of each reading."""
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
        """The readings of `item_in_scope`: what entities are scored by."""
        item = self.item_in_scope
        return () if item is None else item.graphs

    @property
    def target(self) -> str:
        """The words for what it is about (RoboAtlas' Q_T, IV-C)."""
        return "" if self.item is None else self.item.phrase

    @property
    def neighbors(self) -> tuple[str, ...]:
        """Phrases of the things that its item is related to (RoboAtlas' Q_N, IV-C)."""
        return () if self.item is None else self.item.neighbors

    @property
    def count(self) -> int:
        """Return how many of the item are wanted, EVERY = all there are; 1 without an item."""
        return 1 if self.item is None else self.item.count


def _in_room(graph: QueryGraph, room: str, share: float) -> QueryGraph:
    return replace(
        graph,
        predicates=(*graph.predicates, Predicate("InRegion", (0,), room)),
        weight=graph.weight * share,
    )


class ConstraintKind(IntEnum):
    """Kinds of constraints. The numbers are those of Constraint.msg."""

    KEEP_AWAY = 0  # stay `distance` from the thing; of a path, do not cross it
    STAY_OUT = 1  # do not enter the room


@dataclass(frozen=True)
class Constraint:
    """A ban that holds while the steps are done (RoboAtlas' Q_C, IV-C).

    distance: metres to keep from the thing's box in plan; None = what the robot is configured with. until: index of
    the step with whose end the constraint ends; None = it holds to the end. Raises OutOfBounds for a distance that is
    not more than 0 and at most MAX_KEEP_AWAY.
    """

    kind: ConstraintKind
    item: Item
    distance: float | None = None  # m
    until: int | None = None

    def __post_init__(self) -> None:
        distance = self.distance
        if distance is not None and not (math.isfinite(distance) and 0.0 < distance <= MAX_KEEP_AWAY):
            raise OutOfBounds(
                f"{distance:g} m is no distance to keep away; say more than 0 m and at most {MAX_KEEP_AWAY:g} m"
            )


@dataclass(frozen=True)
class Manner:
    """Manner of moving, which nothing here can change: refused unless it only repeats what is so anyway.

    kind: "speed", "noise" or "stand" (not to move at all). said: in the speaker's words (untrusted).
    """

    kind: str
    said: str


@dataclass(frozen=True)
class Directive:
    """Steps in the order of doing, and what holds meanwhile. `text` is as given: untrusted.

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
        """Whether it goes on until somebody cancels it."""
        return UNTIL_CANCELLED in (self.times, *(step.times for step in self.steps)) or any(
            step.kind is StepKind.WAIT and step.seconds is None for step in self.steps
        )

    def constraints_of(self, index: int) -> tuple[Constraint, ...]:
        """The constraints that hold while step `index` is done."""
        return tuple(c for c in self.constraints if c.until is None or index <= c.until)

    def at(self, index: int) -> Directive:
        """The same directive with only those constraints that hold while step `index` is done."""
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
        """Every phrase that it speaks of, in order: their vectors are needed to follow it."""
        items = [c.item for c in self.constraints]
        for step in self.steps:
            items += [*([] if step.item is None else [step.item]), *step.stops, *step.others]
        graphs = [graph for item in items for graph in (*item.graphs, *item.excluded)]
        return tuple(sorted({v.phrase for graph in graphs for v in graph.variables}))

    @property
    def nouns(self) -> tuple[str, ...]:
        """Return the things that it speaks of, in the singular: of the steps in their order, then of the constraints.

        No rooms, ways and spots, nor "thing": nothing is seen by such a word.
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
        """The same directive with other steps."""
        return replace(self, steps=tuple(steps))


def main_kind(directive: Directive) -> StepKind:
    """The kind of the first step that is not the way back, by which the whole is judged."""
    kinds = [step.kind for step in directive.steps]
    return next((kind for kind in kinds if kind is not StepKind.RETURN), kinds[0])


@dataclass(frozen=True)
class Task:
    """One step with what holds while it is done, as reasoners are asked about it: Q_T, Q_N, Q_C (RoboAtlas IV-C)."""

    step: Step
    constraints: tuple[Constraint, ...] = ()

    @property
    def target(self) -> str:
        """The words for what it is about."""
        return self.step.target

    @property
    def neighbors(self) -> tuple[str, ...]:
        """Phrases of the things that its item is related to."""
        return self.step.neighbors

    @property
    def barred(self) -> tuple[str, ...]:
        """Phrases of what is kept away from, and of rooms that are not entered."""
        return tuple(dict.fromkeys(c.item.phrase for c in self.constraints))


class AmbiguousDirective(NotUnderstood):
    """It can be read in ways that differ in what is done or forbidden. readings: words for each, and its directive."""

    def __init__(self, question: str, readings: Sequence[tuple[str, Directive]]) -> None:
        super().__init__(question)
        self.readings = tuple(readings)
