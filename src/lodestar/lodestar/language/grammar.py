"""Directives and referring expressions in plain English to typed tasks, without a model."""

from __future__ import annotations

from lodestar.language.directive import Directive, DirectiveError, NotUnderstood
from lodestar.language.directive_reader import EXAMPLE, MAX_CHARACTERS, read_directive, words_of_text
from lodestar.language.halts import is_halt
from lodestar.language.motion_limits import check_manners, without_limits
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.language.question_reader import load_questions
from lodestar.language.reference_reader import read_reference
from lodestar.language.sentence_tokens import shown, tokens_of
from lodestar.language.spelling import is_known

_MOST_OF_A_NAME = 3  # words: "the old frobnicator"

__all__ = ["MAX_CHARACTERS", "load_grammar", "parse_directive", "parse_query", "phrase_graphs"]


def load_grammar() -> None:
    """Build or load the parser's tables and load its words now: it takes seconds, once per process."""
    read_directive("find the mug on the table and come back")
    parse_query("the mug")
    load_questions()


def parse_directive(text: str) -> Directive:
    """The best reading of a text. Raises as `read_directive`, and CannotObey for a manner."""
    directive = read_directive(text)[0].directive
    check_manners(directive)
    return directive


def parse_query(text: str) -> tuple[QueryGraph, ...]:
    """Readings of a referring expression, with or without a verb, best first. Raises as `parse_directive`."""
    try:
        words = without_limits(words_of_text(text))[0]
    except NotUnderstood:
        if not _is_name(text):
            raise
        words = tokens_of(text)
    graphs = () if is_halt(text) else read_reference(words)
    if not graphs:
        raise NotUnderstood(f'"{shown(text)}" names nothing to look up; {EXAMPLE}')
    return graphs


def _is_name(text: str) -> bool:
    """Whether a text is a word or a few that no table has: the name of a thing, which embeddings can find."""
    tokens = tokens_of(text) if len(text) <= MAX_CHARACTERS else []
    return 0 < len(tokens) <= _MOST_OF_A_NAME and tokens[-1].isalpha() and not is_known(tokens[-1])


def phrase_graphs(text: str) -> tuple[QueryGraph, ...]:
    """Readings of a noun phrase; where the grammar knows none, its last word is the category."""
    try:
        return parse_query(text)
    except DirectiveError:
        words = text.split()
        return (QueryGraph((QueryVariable(text, words[-1]),)),) if words else ()
