"""What a person asked for, parsed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

from lodestar.language.query_graph import QueryGraph

_MAX_NUMBER = 2**32 - 1  # of a message
MAX_COUNT = 100  # of one thing: more than a building holds of what is gone to one by one
DEFAULT_KEEP_AWAY = 1.0  # m
MAX_KEEP_AWAY = 10.0  # m: a wider zone closes every building to the robot


class DirectiveKind(IntEnum):
    """Each kind has its own test of success."""

    FIND = 0
    EXPLORE = 1
    INVENTORY = 2
    RETURN = 3


@dataclass(frozen=True)
class Subtask:
    """One step: target phrase Q_T, neighbour phrases Q_N, constraint phrases Q_C (RoboAtlas IV-C).

    kind: None = the directive's; "find the mug and come back" has a last step of another kind. Raises OutOfBounds for
    a count that is no number from 1 to that of a message.
    """

    target: str = ""
    neighbors: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    graphs: tuple[QueryGraph, ...] = ()
    images: tuple[bytes, ...] = ()
    count: int = 1
    kind: DirectiveKind | None = None

    def __post_init__(self) -> None:
        if self.count < 1:
            raise OutOfBounds("it asks for none of a thing; ask for one at least")
        if self.count > _MAX_NUMBER:
            raise OutOfBounds("it asks for more of one thing than can be counted")


@dataclass(frozen=True)
class Directive:
    """Ordered subtasks. `kind` is that of every step that names none. `text` is as given: untrusted.

    Raises OutOfBounds for a distance that is not more than 0 and at most MAX_KEEP_AWAY, and for a search for more than
    MAX_COUNT of one thing.
    """

    kind: DirectiveKind
    text: str
    subtasks: tuple[Subtask, ...]
    keep_away_distance: float = DEFAULT_KEEP_AWAY  # m

    def __post_init__(self) -> None:
        distance = self.keep_away_distance
        if not (math.isfinite(distance) and 0.0 < distance <= MAX_KEEP_AWAY):
            raise OutOfBounds(
                f"{distance:g} m is no distance to keep away; say more than 0 m and at most {MAX_KEEP_AWAY:g} m"
            )
        found = (task for i, task in enumerate(self.subtasks) if self.kind_of(i) is DirectiveKind.FIND)
        if any(task.count > MAX_COUNT for task in found):
            raise OutOfBounds(f"it asks for more than {MAX_COUNT} of one thing; ask for {MAX_COUNT} at most")

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


class CannotObey(NotUnderstood):
    """It forbids what its task needs, or asks for a manner that nothing here obeys."""


class OutOfBounds(NotUnderstood):
    """It asks for more, or less, than can be done."""
