"""What a person asked for, parsed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from lodestar.language.query_graph import QueryGraph


class DirectiveKind(IntEnum):
    """Each kind has its own test of success."""

    FIND = 0
    EXPLORE = 1
    INVENTORY = 2
    RETURN = 3


@dataclass(frozen=True)
class Subtask:
    """One step: target phrase Q_T, neighbour phrases Q_N, constraint phrases Q_C (RoboAtlas IV-C).

    kind: None = the directive's; "find the mug and come back" has a last step of another kind.
    """

    target: str = ""
    neighbors: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    graphs: tuple[QueryGraph, ...] = ()
    images: tuple[bytes, ...] = ()
    count: int = 1
    kind: DirectiveKind | None = None


@dataclass(frozen=True)
class Directive:
    """Ordered subtasks. `kind` is that of every step that names none. `text` is as given: untrusted."""

    kind: DirectiveKind
    text: str
    subtasks: tuple[Subtask, ...]
    keep_away_distance: float = 1.0  # m

    def kind_of(self, index: int) -> DirectiveKind:
        """The kind of step `index`; the directive's where there is no such step."""
        kind = self.subtasks[index].kind if 0 <= index < len(self.subtasks) else None
        return self.kind if kind is None else kind


class DirectiveError(ValueError):
    """The text cannot be acted on; the message says what to write instead."""


class EmptyDirective(DirectiveError):
    """There is no text."""


class StopRequested(DirectiveError):
    """The text asks for a halt and for nothing else."""


class NotUnderstood(DirectiveError):
    """There is text, but no task in it."""
