"""The port of whatever reads directives, and its adapters that need no model: the grammar, and one that asks back."""

from __future__ import annotations

from typing import Protocol

from lodestar.language.directive import AmbiguousDirective
from lodestar.language.directive_reader import RankedDirective, read_directive
from lodestar.language.sentence_tokens import shown
from lodestar.language.sentences import sentence
from lodestar.models.english import listed

MOST = 4  # readings that anyone asks about
Readings = tuple[RankedDirective, ...]


class DirectiveParser(Protocol):
    """Reads a directive in plain language."""

    def parse(self, text: str) -> Readings:
        """Readings, best first, never empty. Raises DirectiveError where the text cannot be acted on."""
        ...


class GrammarDirectives:
    """The offline grammar: deterministic, no model. most: readings that are looked for; each more costs time."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most

    def parse(self, text: str) -> Readings:
        """See `read_directive`."""
        return read_directive(text, self._most)


class AskingDirectives:
    """The grammar's best reading where it accounts for the words of the text; else the robot asks back."""

    def parse(self, text: str) -> Readings:
        """One reading. Raises DirectiveError, AmbiguousDirective where words are not accounted for."""
        readings = read_directive(text)
        if readings[0].is_doubtful:
            raise _asked_back(readings[0], text)
        return readings


def _asked_back(reading: RankedDirective, text: str) -> AmbiguousDirective:
    """The question whether a reading is meant that does not account for all words."""
    doubts = []
    if reading.unread:
        doubts.append(
            f"{_quoted(reading.unread)} {'is' if len(reading.unread) == 1 else 'are'} not understood"
        )
    doubts += [f'"{name}" is read as the name of a thing' for name in reading.odd]
    words = sentence(reading.directive)
    return AmbiguousDirective(
        f'"{shown(text)}" is doubtful: {"; ".join(doubts)}. '
        f'Do you mean "{words}"? If not, say it in other words.',
        [(words, reading.directive)],
    )


def _quoted(words: tuple[str, ...]) -> str:
    return listed([f'"{word}"' for word in words], "and")
