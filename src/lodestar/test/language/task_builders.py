"""Tasks and directives for tests, built from words without the grammar."""

from __future__ import annotations

from lodestar.language.directive import Constraint, ConstraintKind, Directive, Item, Step, StepKind, Task
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable


def item_of_words(words: str, *near: str, **changes) -> Item:
    """What the words say, whose last one is the kind, near these."""
    variables = tuple(QueryVariable(phrase, phrase.split()[-1]) for phrase in (words, *near))
    predicates = tuple(Predicate("Near", (0, i)) for i in range(1, len(variables)))
    return Item(((QueryGraph(variables, predicates),),), **changes)


def keep_away(*words: str) -> tuple[Constraint, ...]:
    """Constraints of things."""
    return tuple(Constraint(ConstraintKind.KEEP_AWAY, item_of_words(one)) for one in words)


def task(words: str, near: tuple[str, ...] = (), avoid: tuple[str, ...] = ()) -> Task:
    """Find the thing near these, away from those."""
    return Task(Step(StepKind.FIND, item_of_words(words, *near)), keep_away(*avoid))


def barred(directive: Directive) -> tuple[str, ...]:
    """Return the words for what a directive says to keep away from."""
    return tuple(constraint.item.phrase for constraint in directive.constraints)


def distance_of(directive: Directive) -> float:
    """The largest distance that is kept to anything, 1 m where none is said."""
    things = [c for c in directive.constraints if c.kind is ConstraintKind.KEEP_AWAY]
    return max((1.0 if c.distance is None else c.distance for c in things), default=1.0)
