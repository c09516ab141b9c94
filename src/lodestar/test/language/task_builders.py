"""Tasks and directives for tests, built from words without the grammar."""

from __future__ import annotations

from lodestar.language.directive import Constraint, ConstraintKind, Directive, Item, Step, StepKind, Task
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable


def item_of_words(words: str, *near: str, **changes) -> Item:
    """Return the item for a phrase whose last word is the category, near these anchors."""
    variables = tuple(QueryVariable(phrase, phrase.split()[-1]) for phrase in (words, *near))
    predicates = tuple(Predicate("Near", (0, i)) for i in range(1, len(variables)))
    return Item(((QueryGraph(variables, predicates),),), **changes)


def keep_away(*words: str) -> tuple[Constraint, ...]:
    """Return constraints to keep away from these objects."""
    return tuple(Constraint(ConstraintKind.KEEP_AWAY, item_of_words(one)) for one in words)


def task(words: str, near: tuple[str, ...] = (), avoid: tuple[str, ...] = ()) -> Task:
    """Return the task to find the object near these, away from those."""
    return Task(Step(StepKind.FIND, item_of_words(words, *near)), keep_away(*avoid))


def barred(directive: Directive) -> tuple[str, ...]:
    """Return the phrases of a directive's keep-away constraints."""
    return tuple(constraint.item.phrase for constraint in directive.constraints)


def distance_of(directive: Directive) -> float:
    """Return the largest distance to keep from any object, 1 m if none is stated."""
    things = [c for c in directive.constraints if c.kind is ConstraintKind.KEEP_AWAY]
    return max((1.0 if c.distance is None else c.distance for c in things), default=1.0)
