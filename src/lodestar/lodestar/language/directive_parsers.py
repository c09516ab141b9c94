"""The port of whatever reads directives, and its first adapter: the grammar."""

from __future__ import annotations

from typing import Protocol

from lodestar.language.directive_reader import RankedDirective, read_directive

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
