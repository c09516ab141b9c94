"""Detection of directives whose goal lies in their own keep-out zone, directly or through the goal's support
or neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.directive import Constraint, ConstraintKind, Step, StepKind
from lodestar.language.query_graph import QueryGraph
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

EVERYTHING = "everything"
_HELD = ("On", "Inside", "NextTo")


def contradiction(steps: Sequence[Step], constraints: Sequence[Constraint]) -> str:
    """Return the phrase of the first constraint that forbids a step's goal, "" if there is none.

    The goal of a FIND step is its target, or an object that the target is on, in or next to, in every
    reading; the goal of a RETURN step is the start. EVERYTHING is returned if a constraint covers all objects
    or the whole place.
    """
    if any(_is_everything(constraint) for constraint in constraints):
        return EVERYTHING
    for index, step in enumerate(steps):
        for constraint in constraints:
            if constraint.until is not None and constraint.until < index:
                continue
            if step.kind is StepKind.RETURN and _is_home(constraint.item.phrase):
                return constraint.item.phrase
            if step.kind is StepKind.FIND and step.graphs and _bars(constraint, step):
                return constraint.item.phrase
    return ""


def why_contradictory(covered: str) -> str:
    """Return a `contradiction` as a clause for the error message."""
    if covered == EVERYTHING:
        return "it asks to keep away from everything, which leaves nowhere to go"
    if _is_home(covered):
        return f'it asks to come back to and to keep away from "{covered}"'
    return f'it asks to find and to keep away from "{covered}"'


def _is_everything(constraint: Constraint) -> bool:
    lexicon = load_lexicon()
    return any(
        _is_plain(graph)
        and (
            lexicon.is_generic(graph.target.category)
            or (
                load_vocabulary().is_in("WHOLE", *graph.target.category.split())
                and lexicon.room(graph.target.category) is None
                and graph.target.category != "home"
            )
        )
        for graph in constraint.item.best
    )


def _is_plain(graph: QueryGraph) -> bool:
    return all(p.name == "IsCategory" for p in graph.predicates)


def _is_home(phrase: str) -> bool:
    return load_vocabulary().is_in("HOME", *phrase.split())


def _bars(constraint: Constraint, step: Step) -> bool:
    """Return whether the constraint covers the step's goal (see `contradiction`) in every reading."""
    barred = constraint.item.best
    rooms = constraint.kind is ConstraintKind.STAY_OUT
    return all(
        any(_covers(one, graph, i, rooms) for one in barred for i in (0, *_supports(graph)))
        for graph in step.graphs
    )


def _supports(graph: QueryGraph) -> tuple[int, ...]:
    """Return the variables of the objects that the target is said to be on, in or next to."""
    held = (p for p in graph.predicates if p.name in _HELD and not p.negated and len(p.arguments) == 2)
    return tuple(p.arguments[1] for p in held if p.arguments[0] == 0)


def _covers(barred: QueryGraph, graph: QueryGraph, index: int, is_room: bool) -> bool:
    """Return whether a constraint forbids every object that fits variable `index` of a step's graph.

    barred: graph of the constraint. is_room: the constraint forbids a room; return whether the variable is
    said to be in that room.
    """
    lexicon = load_lexicon()
    if is_room:
        return _room(barred.target.category) in _rooms_of(graph, index)
    said = [p for p in barred.predicates if p.name != "IsCategory"]
    if any(len(p.arguments) > 1 or p.negated for p in said):
        return False  # it forbids only some of these objects
    if any(_room(p.value) not in _rooms_of(graph, index) for p in said if p.name == "InRegion"):
        return False
    category, asked = barred.target.category, graph.variables[index].category
    if not lexicon.is_generic(category) and _noun(category) not in (
        _noun(asked),
        *lexicon.wider(_noun(asked)),
    ):
        return False
    own = (p for p in graph.predicates if p.arguments == (index,) and not p.negated)
    stated = {p.value for p in own if p.name == "HasAttribute"}
    return {p.value for p in said if p.name == "HasAttribute"} <= stated


def _noun(category: str) -> str:
    lexicon, words = load_lexicon(), category.split()
    known = lexicon.known_suffix(words)
    return lexicon.canonical(" ".join(words[-known:])) or category if known else category


def _room(name: str) -> str:
    return load_lexicon().room(name) or name


def _rooms_of(graph: QueryGraph, index: int) -> set[str]:
    """Return the rooms that a variable, or an object that it is on or in, is said to be in."""
    places, before = {index}, 0
    while len(places) > before:
        before = len(places)
        held = (p for p in graph.predicates if p.name in ("On", "Inside") and not p.negated)
        places |= {p.arguments[1] for p in held if len(p.arguments) == 2 and p.arguments[0] in places}
    named = (
        p for p in graph.predicates if p.name == "InRegion" and not p.negated and p.arguments[0] in places
    )
    return {_room(p.value) for p in named}
