"""Directives that ask to go to the very thing that they say to keep away from."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.directive import DirectiveKind, Subtask
from lodestar.language.query_graph import QueryGraph
from lodestar.models.lexicon import load_lexicon, words_of

_ARTICLES = frozenset({"a", "an", "the", "all", "any", "every"})
EVERYTHING = "everything"
_IN = ("in", "inside", "within")


def contradiction(kind: DirectiveKind, subtasks: Sequence[Subtask]) -> str:
    """The constraint that covers every reading of a target that is to be found, "" where none does; "everything" where
    all things are to be kept away from, whatever is to be done.
    """
    for subtask in subtasks:
        if any(load_lexicon().is_generic(_bare(constraint)) for constraint in subtask.constraints):
            return EVERYTHING
        own = kind if subtask.kind is None else subtask.kind
        if own is not DirectiveKind.FIND or not subtask.graphs:
            continue
        for constraint in subtask.constraints:
            if all(_covers(constraint, graph) for graph in subtask.graphs):
                return constraint
    return ""


def why_contradictory(covered: str) -> str:
    """A `contradiction` in words."""
    if covered == EVERYTHING:
        return "it asks to keep away from everything, which leaves nowhere to go"
    return f'it asks to find and to keep away from "{covered}"'


def _bare(constraint: str) -> str:
    return " ".join(word for word in words_of(constraint) if word not in _ARTICLES)


def _covers(constraint: str, graph: QueryGraph) -> bool:
    """Whether whatever fits the graph fits a constraint too, such as "blue chair", "everything" or "the kitchen"."""
    lexicon = load_lexicon()
    words = [word for word in words_of(constraint) if word not in _ARTICLES]
    for i in range(len(words)):
        room = lexicon.room(" ".join(words[i:]))
        if room is not None and (i == 0 or words[i - 1] in _IN):
            return room in _rooms_of(graph) and (i < 2 or _covers(" ".join(words[: i - 1]), graph))
    category = graph.target.category.split()
    asked = lexicon.canonical(" ".join(category[-lexicon.known_suffix(category) :])) or graph.target.category
    anything = bool(words) and lexicon.is_generic(words[-1])
    length = 1 if anything else lexicon.known_suffix(words)
    if not length:
        return " ".join(words) == asked
    noun, before = lexicon.canonical(" ".join(words[-length:])), words[: len(words) - length]
    wanted = {lexicon.attribute(word) for word in before}
    if None in wanted or not (anything or noun in (asked, *lexicon.wider(asked))):
        return False
    stated = {
        p.value for p in graph.predicates if p.name == "HasAttribute" and not p.negated and p.arguments == (0,)
    }
    return wanted <= stated


def _rooms_of(graph: QueryGraph) -> set[str]:
    """The rooms that the target is said to be in, or what it is on or in."""
    places, before = {0}, 0
    while len(places) > before:
        before = len(places)
        held = (p for p in graph.predicates if p.name in ("On", "Inside") and not p.negated)
        places |= {p.arguments[1] for p in held if len(p.arguments) == 2 and p.arguments[0] in places}
    lexicon = load_lexicon()
    named = (p for p in graph.predicates if p.name == "InRegion" and not p.negated and p.arguments[0] in places)
    return {lexicon.room(p.value) or p.value for p in named}
