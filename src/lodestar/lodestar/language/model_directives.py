"""Directive parser that asks a language model and checks its answer against the grammar."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from lodestar.language.checks import check_directive
from lodestar.language.config import ParserConfig
from lodestar.language.directive import (
    AmbiguousDirective,
    CannotObey,
    Directive,
    DirectiveError,
    NotUnderstood,
    Step,
    StepKind,
)
from lodestar.language.directive_answers import SCHEMA, SYSTEM, directive_of
from lodestar.language.directive_parsers import DirectiveParser, GrammarDirectives, Readings
from lodestar.language.directive_reader import DENYING, RankedDirective, words_of_text
from lodestar.language.halts import without_stop
from lodestar.language.motion_limits import check_manners
from lodestar.language.sentences import sentence
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.chat import ChatModel, ChatUnavailable, OpenAiChat
from lodestar.models.english import listed

_log = logging.getLogger(__name__)

#: Words that may forbid something. If the grammar has no reading, an answer without constraints may have lost one.
_MAY_FORBID = DENYING | {"away", "clear", "out", "off", "beware", "careful", "stay", "keep", "skip", "leave"}
_BY_MODEL = "read by the language model"


class ModelDirectives:
    """Parser that uses a language model, and falls back to the grammar if the answer is not acceptable.

    Halts, manners and texts that are not English are recognised by rule, without the model. The answer's
    prohibitions are compared with the grammar's: an answer that drops one is rejected; if they differ
    otherwise, the robot asks the person. warn: called with the reason for a fallback. begin: called before
    every question.
    """

    def __init__(
        self,
        model: ChatModel,
        fallback: DirectiveParser | None = None,
        warn: Callable[[str], None] = _log.warning,
        begin: Callable[[], None] = lambda: None,
    ) -> None:
        self._model = model
        self._fallback = fallback or GrammarDirectives()
        self._warn = warn
        self._begin = begin

    def parse(self, text: str) -> Readings:
        """Return the model's reading, then the fallback's. Raises DirectiveError; AmbiguousDirective if they
        disagree.
        """
        text = without_stop(text)
        words = words_of_text(text)
        readings, error = self._by_grammar(text)
        if readings:
            check_manners(readings[0].directive)
        try:
            self._begin()
            directive = directive_of(self._model.complete(SYSTEM, text, SCHEMA), text)
            found = _agreed(directive, readings, words)
            check_directive(found)
        except (AmbiguousDirective, CannotObey):
            raise
        except (ChatUnavailable, ValueError) as problem:
            self._warn(f"the grammar reads the directive: {problem}")
            if error is not None:
                raise error from None
            return readings
        others = tuple(r for r in readings if r.directive != found)
        return (RankedDirective(found, why=(_BY_MODEL,)), *others)

    def _by_grammar(self, text: str) -> tuple[Readings, NotUnderstood | None]:
        """Return the fallback's readings, or the error if it has none. Raises DirectiveError for texts a
        model must not read.
        """
        try:
            return self._fallback.parse(text), None
        except NotUnderstood as error:
            if type(error) is not NotUnderstood:  # understood, but the robot cannot obey it
                raise
            return (), error


def best_directive(parser: DirectiveParser, text: str) -> Directive:
    """Return the best reading of a text. Raises the errors of `parse`, and CannotObey if the text asks for a
    manner of moving ("slowly").
    """
    directive = parser.parse(text)[0].directive
    check_manners(directive)
    return directive


def make_directive_parser(
    config: ParserConfig, warn: Callable[[str], None] = _log.warning, chat: OpenAiChat | None = None
) -> tuple[DirectiveParser, Callable[[], None]]:
    """Return the configured parser, and a function that cancels its running request to the model.

    Each directive has its own token budget. chat: the model to ask, None = create one.
    """
    if not config.asks_model:
        return GrammarDirectives(), lambda: None
    chat = chat or OpenAiChat(config.chat)
    return ModelDirectives(chat, warn=warn, begin=chat.begin_task), chat.cancel


_WAYS = (StepKind.FIND, StepKind.GO, StepKind.RETURN)


def _agreed(directive: Directive, readings: Readings, words: list[str]) -> Directive:
    """Return the model's directive if it forbids the same as the grammar's.

    Raises ValueError if a prohibition is lost, AmbiguousDirective if the prohibitions differ.
    """
    if not readings:
        if _forbidden(directive):
            raise _doubt("Some of it is read by the language model alone.", [directive])
        if not _MAY_FORBID.isdisjoint(words) or _avoids(words):
            raise ValueError("the language model forbids nothing, though the text may")
        return directive
    grammar = readings[0].directive
    mine, its = _forbidden(grammar), _forbidden(directive)
    if its == mine:
        same = len(directive.steps) == len(grammar.steps)
        kept = grammar.constraints if same else tuple(replace(c, until=None) for c in grammar.constraints)
        return replace(directive, steps=_with_asked(directive, grammar), constraints=kept)
    if its < mine:
        raise ValueError("the language model drops something that is forbidden")
    raise _doubt("What is forbidden is read in two ways.", [grammar, directive])


def _with_asked(directive: Directive, grammar: Directive) -> tuple[Step, ...]:
    """Return the model's steps; if its kinds of steps agree with the grammar's, the grammar's CHECK and ASK
    steps and steps to remembered places replace the model's.
    """
    pairs = list(zip(directive.steps, grammar.steps))
    alike = all(s.kind is r.kind or (r.is_remembered and s.kind in _WAYS) for s, r in pairs)
    if not alike or len(directive.steps) != len(grammar.steps):
        return directive.steps
    asks = (StepKind.CHECK, StepKind.ASK)
    return tuple(read if step.kind in asks or read.is_remembered else step for step, read in pairs)


def _doubt(why: str, directives: Sequence[Directive]) -> AmbiguousDirective:
    """Return the error that asks the person which directive is meant.

    Directives that the robot cannot obey are not offered. Raises DirectiveError if it can obey none.
    """
    choices: list[tuple[str, Directive]] = []
    refusal: DirectiveError | None = None
    for directive in directives:
        try:
            check_directive(directive)
        except DirectiveError as error:
            refusal = error
        else:
            choices.append((sentence(directive), directive))
    if not choices and refusal is not None:
        raise refusal
    meant = listed((f'"{words}"' for words, _ in choices), "or")
    said = "" if refusal is None else f" One of them cannot be obeyed: {refusal}."
    return AmbiguousDirective(f"{why}{said} Do you mean {meant}?", choices)


def _forbidden(directive: Directive) -> frozenset[tuple[object, ...]]:
    """Return the constraints and manners as a set, by which two directives are compared."""
    things = {(c.kind, frozenset(map(str, c.item.best)), c.distance) for c in directive.constraints}
    return frozenset(things | {("manner", manner.said) for manner in directive.manners})


def _avoids(words: list[str]) -> bool:
    vocabulary = load_vocabulary()
    return any(vocabulary.match("AVOID", words, i) is not None for i in range(len(words)))
