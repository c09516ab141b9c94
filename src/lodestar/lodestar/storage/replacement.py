"""Replaces parts that belong together: all are prepared beside those in use, then taken into use, or none is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

#: A part that is being replaced. The first step (`next`) prepares it beside the one in use and yields what had to be
#: left out, as sentences; the second takes it into use, the third drops the former part. Where a step fails, or the
#: generator is closed before the third, the former part is in use again and the prepared one is dropped.
Replacement = Generator[tuple[str, ...], None, None]


def exchange(
    put: Callable[[T], Callable[[], object]], part: T, kept: Callable[[], object] = lambda: None
) -> Replacement:
    """Replace a part in memory.

    put(part): takes a part into use, all or nothing, and returns what takes that back. kept(): makes the part in use
    outlive the process, or raises and leaves the one before to a successor.
    """
    yield ()
    take_back, outlives = put(part), False

    def undo() -> None:
        take_back()
        if outlives:  # on a full disk there is nothing to take back, nor room for it
            kept()

    with undone_by(undo):
        kept()
        outlives = True
        yield ()


@contextmanager
def undone_by(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` where the block of a replacement fails or is closed; its error is a note of the block's."""
    try:
        yield
    except GeneratorExit:
        undo()
        raise
    except BaseException as error:
        try:
            undo()
        except Exception as second:
            error.add_note(f"it could not go back to what it had: {second}")
        raise


def unchanged(*notes: str) -> Replacement:
    """Leave a part as it is. notes: why."""
    yield notes
    yield ()


def replace_all(parts: Iterable[tuple[str, Replacement]]) -> tuple[str, ...]:
    """Replace all parts, by their names, or none; return what had to be left out.

    Raises the first error. The errors of further parts, and of parts that could not go back, are its notes
    (`BaseException.__notes__`).
    """
    prepared: list[tuple[str, Replacement]] = []
    notes: tuple[str, ...] = ()
    failed: Exception | None = None
    try:
        for name, part in parts:
            try:
                notes += next(part)
                prepared.append((name, part))
            except Exception as error:  # the others are tried too, so that all that is wrong is told at once
                if failed is not None:
                    failed.add_note(f"{name}: {error}")
                failed = failed or error
        if failed is not None:
            raise failed
        for _, part in prepared:
            next(part)
    except BaseException as error:
        for name, part in reversed(prepared):
            try:
                part.close()
            except Exception as second:
                error.add_note(f"{name} could not go back to what it had: {second}")
        raise
    for name, part in prepared:
        try:
            next(part, None)
        except Exception as error:  # there is no way back, and the others have theirs to drop
            notes += (f"{name}: {error}",)
    return notes


def told(error: BaseException) -> str:
    """Return an error with its notes, in one line."""
    return "; ".join([str(error) or repr(error), *getattr(error, "__notes__", ())])
