"""Replaces parts that belong together: all are prepared beside those in use, then taken into use, or none is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Replacement(Protocol):
    """A part that was prepared beside the one in use."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what had to be left out, as sentences."""
        ...

    def swap(self) -> None:
        """Take the prepared part into use. Any error is raised; `undo` is called then."""
        ...

    def undo(self) -> None:
        """Have the former part in use again, whether `swap` was called, has failed or not; drop the prepared one."""
        ...

    def finish(self) -> None:
        """Drop the former part; there is no way back. Raises nothing."""
        ...


class Exchange(Generic[T]):
    """A replacement in memory.

    put(part): takes a part into use, all or nothing, and returns what takes that back. kept(): makes the part in use
    outlive the process, or raises and leaves the one before to a successor.
    """

    notes: tuple[str, ...] = ()

    def __init__(
        self, put: Callable[[T], Callable[[], object]], part: T, kept: Callable[[], object] = lambda: None
    ) -> None:
        self._put, self._part, self._kept = put, part, kept
        self._back: Callable[[], object] | None = None
        self._outlives = False

    def swap(self) -> None:
        """See `Replacement.swap`."""
        self._back = self._put(self._part)
        self._kept()
        self._outlives = True

    def undo(self) -> None:
        """See `Replacement.undo`."""
        if self._back is not None:
            self._back()
            self._back = None
        if self._outlives:  # on a full disk there is nothing to take back, nor room for it
            self._kept()
            self._outlives = False

    def finish(self) -> None:
        """See `Replacement.finish`."""
        self._back = None


@dataclass(frozen=True)
class Unchanged:
    """A part that stays as it is. notes: why."""

    notes: tuple[str, ...]

    def swap(self) -> None:
        """Do nothing, as `undo` and `finish`."""

    undo = finish = swap


def replace_all(parts: Iterable[tuple[str, Callable[[], Replacement]]]) -> tuple[str, ...]:
    """Replace all parts, or none; return what had to be left out.

    parts: the name of each, and what prepares it.

    Raises the first error. The errors of further parts, and of parts that could not go back, are its notes
    (`BaseException.__notes__`).
    """
    prepared: list[tuple[str, Replacement]] = []
    failed: Exception | None = None
    try:
        for name, prepare in parts:
            try:
                prepared.append((name, prepare()))
            except Exception as error:  # the others are tried too, so that all that is wrong is told at once
                if failed is not None:
                    failed.add_note(f"{name}: {error}")
                failed = failed or error
        if failed is not None:
            raise failed
        for _, part in prepared:
            part.swap()
    except BaseException as error:
        for name, part in reversed(prepared):
            try:
                part.undo()
            except Exception as second:
                error.add_note(f"{name} could not go back to what it had: {second}")
        raise
    for _, part in prepared:
        part.finish()
    return tuple(note for _, part in prepared for note in part.notes)


def told(error: BaseException) -> str:
    """Return an error with its notes, in one line."""
    return "; ".join([str(error) or repr(error), *getattr(error, "__notes__", ())])
