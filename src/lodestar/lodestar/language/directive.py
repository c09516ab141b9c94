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
    """One step: target phrase Q_T, neighbour phrases Q_N, constraint phrases Q_C (RoboAtlas IV-C)."""

    target: str = ""
    neighbors: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    graphs: tuple[QueryGraph, ...] = ()
    images: tuple[bytes, ...] = ()
    count: int = 1


@dataclass(frozen=True)
class Directive:
    """Ordered subtasks of one kind. `text` is as given: untrusted."""

    kind: DirectiveKind
    text: str
    subtasks: tuple[Subtask, ...]
    keep_away_distance: float = 1.0  # m


class DirectiveError(ValueError):
    """The text cannot be acted on; the message says what to write instead."""


class EmptyDirective(DirectiveError):
    """There is no text."""


class StopRequested(DirectiveError):
    """The text asks for a halt and for nothing else."""


class NotUnderstood(DirectiveError):
    """There is text, but no task in it."""
