"""Directives that ask to go to the very thing that they say to keep away from."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.directive import DirectiveKind, Subtask
from lodestar.language.query_graph import QueryGraph
from lodestar.models.lexicon import load_lexicon, words_of

_ARTICLES = frozenset({"a", "an", "the", "all", "any", "every"})


def contradiction(kind: DirectiveKind, subtasks: Sequence[Subtask]) -> str:
    """The constraint that covers every reading of a target that is to be found, "" where none does."""
    for subtask in subtasks:
        if (subtask.kind or kind) is not DirectiveKind.FIND or not subtask.graphs:
            continue
        for constraint in subtask.constraints:
            if all(_covers(constraint, graph) for graph in subtask.graphs):
                return constraint
    return ""


def _covers(constraint: str, graph: QueryGraph) -> bool:
    """Whether whatever fits the graph fits a bare constraint such as "blue chair" too."""
    lexicon = load_lexicon()
    words = [word for word in words_of(constraint) if word not in _ARTICLES]
    length = lexicon.known_suffix(words)
    noun = lexicon.canonical(" ".join(words[-length:])) if length else None
    before = words[: len(words) - length]
    asked = lexicon.canonical(graph.target.category) or graph.target.category
    if noun is None:
        return " ".join(words) == asked
    wanted = {lexicon.attribute(word) for word in before}
    if None in wanted or noun not in (asked, *lexicon.wider(asked)):
        return False
    stated = {
        p.value for p in graph.predicates if p.name == "HasAttribute" and not p.negated and p.arguments == (0,)
    }
    return wanted <= stated
