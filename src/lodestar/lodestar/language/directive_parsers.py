"""The interface of directive parsers, and two parsers that use the grammar and no model."""

from __future__ import annotations

from typing import Protocol

from lodestar.language.directive import AmbiguousDirective
from lodestar.language.directive_reader import RankedDirective, read_directive
from lodestar.language.sentence_tokens import shown
from lodestar.language.sentences import sentence
from lodestar.models.english import listed

MOST = 4  # most readings offered to a caller
Readings = tuple[RankedDirective, ...]


class DirectiveParser(Protocol):
    """Interface of parsers that read a directive in plain language."""

    def parse(self, text: str) -> Readings:
        """Return the readings, best first, never empty. Raises DirectiveError if the text cannot be acted on."""


class GrammarDirectives:
    """Parser that uses the deterministic offline grammar, without a model.

    most: maximum number of readings; each one takes more time.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most

    def parse(self, text: str) -> Readings:
        """Return the grammar's readings of a text, best first, at most `most`."""
        return read_directive(text, self._most)


class AskingDirectives:
    """Parser that returns the grammar's best reading, and asks the person about a doubtful one."""

    def parse(self, text: str) -> Readings:
        """Return one reading. Raises DirectiveError; AmbiguousDirective if the reading is doubtful."""
        readings = read_directive(text)
        if readings[0].is_doubtful:
            raise _asked_back(readings[0], text)
        return readings


def _asked_back(reading: RankedDirective, text: str) -> AmbiguousDirective:
    """Return the error that asks the person whether a doubtful reading is right."""
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
