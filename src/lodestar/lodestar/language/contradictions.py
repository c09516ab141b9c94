"""Directives that ask to go to what they say to keep away from, to the thing itself or to what it is on or next to."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.directive import DirectiveKind, Subtask
from lodestar.language.query_graph import QueryGraph
from lodestar.language.words import load_words
from lodestar.models.lexicon import load_lexicon, words_of

_ARTICLES = frozenset({"a", "an", "the", "all", "any", "every"})
EVERYTHING = "everything"
_HELD = ("On", "Inside", "NextTo")
_IN = ("in", "inside", "within")


def contradiction(kind: DirectiveKind, subtasks: Sequence[Subtask]) -> str:
    """The constraint that covers every reading of a target that is to be found, what it is on, in or next to, or where
    the way back ends; "" where none does. "everything" where all things, or the whole place, are to be kept away from,
    whatever is to be done.
    """
    for subtask in subtasks:
        if any(_is_everything(_bare(constraint)) for constraint in subtask.constraints):
            return EVERYTHING
        own = kind if subtask.kind is None else subtask.kind
        for constraint in subtask.constraints:
            if own is DirectiveKind.RETURN and _is_home(_bare(constraint)):
                return constraint
            if own is DirectiveKind.FIND and subtask.graphs and _bars(constraint, subtask):
                return constraint
    return ""


def _is_everything(text: str) -> bool:
    lexicon = load_lexicon()
    return lexicon.is_generic(text) or (
        text in load_words().places and lexicon.room(text) is None and text != "home"
    )


def _is_home(text: str) -> bool:
    words = text.split()
    return load_words().home.match(words, 0) == (len(words), text)


def _bars(constraint: str, subtask: Subtask) -> bool:
    """Whether every reading has its target, or what the target is at, covered by the constraint."""
    return all(any(_covers(constraint, graph, i) for i in (0, *_supports(graph))) for graph in subtask.graphs)


def _supports(graph: QueryGraph) -> tuple[int, ...]:
    """What the target is said to be on, in or next to."""
    held = (p for p in graph.predicates if p.name in _HELD and not p.negated and len(p.arguments) == 2)
    return tuple(p.arguments[1] for p in held if p.arguments[0] == 0)


def why_contradictory(covered: str) -> str:
    """A `contradiction` in words."""
    if covered == EVERYTHING:
        return "it asks to keep away from everything, which leaves nowhere to go"
    if _is_home(_bare(covered)):
        return f'it asks to come back to and to keep away from "{covered}"'
    return f'it asks to find and to keep away from "{covered}"'


def _bare(constraint: str) -> str:
    return " ".join(word for word in words_of(constraint) if word not in _ARTICLES)


def _covers(constraint: str, graph: QueryGraph, index: int) -> bool:
    """Whether whatever fits a variable fits a constraint too, such as "blue chair", "everything" or "the kitchen"."""
    lexicon = load_lexicon()
    words = [word for word in words_of(constraint) if word not in _ARTICLES]
    for i in range(len(words)):
        room = lexicon.room(" ".join(words[i:]))
        if room is not None and (i == 0 or words[i - 1] in _IN):
            return room in _rooms_of(graph, index) and (
                i < 2 or _covers(" ".join(words[: i - 1]), graph, index)
            )
    named = graph.variables[index].category
    category = named.split()
    asked = lexicon.canonical(" ".join(category[-lexicon.known_suffix(category) :])) or named
    anything = bool(words) and lexicon.is_generic(words[-1])
    length = 1 if anything else lexicon.known_suffix(words)
    if not length:
        return " ".join(words) == asked
    noun, before = lexicon.canonical(" ".join(words[-length:])), words[: len(words) - length]
    wanted = {lexicon.attribute(word) for word in before}
    if None in wanted or not (anything or noun in (asked, *lexicon.wider(asked))):
        return False
    stated = {
        p.value
        for p in graph.predicates
        if p.name == "HasAttribute" and not p.negated and p.arguments == (index,)
    }
    return wanted <= stated


def _rooms_of(graph: QueryGraph, index: int) -> set[str]:
    """The rooms that a variable is said to be in, or what it is on or in."""
    places, before = {index}, 0
    while len(places) > before:
        before = len(places)
        held = (p for p in graph.predicates if p.name in ("On", "Inside") and not p.negated)
        places |= {p.arguments[1] for p in held if len(p.arguments) == 2 and p.arguments[0] in places}
    lexicon = load_lexicon()
    named = (
        p for p in graph.predicates if p.name == "InRegion" and not p.negated and p.arguments[0] in places
    )
    return {lexicon.room(p.value) or p.value for p in named}
