"""Parser without a model: converts directives and referring expressions in plain English into typed records."""

from __future__ import annotations

from lodestar.language.directive import Directive, NotUnderstood
from lodestar.language.directive_reader import EXAMPLE, MAX_CHARACTERS, read_directive, words_of_text
from lodestar.language.halts import heard_stop
from lodestar.language.motion_limits import check_manners, without_limits
from lodestar.language.query_graph import QueryGraph
from lodestar.language.question_reader import load_questions
from lodestar.language.reference_reader import read_reference
from lodestar.language.sentence_tokens import shown, tokens_of
from lodestar.language.spelling import is_known

_MOST_OF_A_NAME = 3  # words of an unknown name, such as "the old frobnicator"

__all__ = ["MAX_CHARACTERS", "load_grammar", "parse_directive", "parse_query"]


def load_grammar() -> None:
    """Build or load the parser's tables and the word lists now: it takes seconds, once per process."""
    read_directive("find the mug on the table and come back")
    parse_query("the mug")
    load_questions()


def parse_directive(text: str) -> Directive:
    """Return the best reading of a text. Raises the errors of `read_directive`, and CannotObey if it asks for
    a manner of moving ("slowly").
    """
    directive = read_directive(text)[0].directive
    check_manners(directive)
    return directive


def parse_query(text: str) -> tuple[QueryGraph, ...]:
    """Return the readings of a referring expression, with or without a verb, best first. Raises
    DirectiveError.
    """
    try:
        words = without_limits(words_of_text(text))[0]
    except NotUnderstood:
        if not _is_name(text):
            raise
        words = tokens_of(text)
    graphs = () if heard_stop(text) else read_reference(words)
    if not graphs:
        raise NotUnderstood(f'"{shown(text)}" names nothing to look up; {EXAMPLE}')
    return graphs


def _is_name(text: str) -> bool:
    """Return whether a text is a short unknown name, which embeddings may still find."""
    tokens = tokens_of(text) if len(text) <= MAX_CHARACTERS else []
    return 0 < len(tokens) <= _MOST_OF_A_NAME and tokens[-1].isalpha() and not is_known(tokens[-1])
