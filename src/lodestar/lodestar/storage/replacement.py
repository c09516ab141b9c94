"""All-or-none replacement of parts of the robot's state, such as the grid, the scene and the keyframes.

All new parts are prepared first; then all of them are taken into use, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

#: Generator that replaces a part. Step 1 (`next`) prepares the new part and yields sentences about data that was left
#: out; step 2 takes it into use; step 3 drops the former part. If a step fails, or the generator is closed before
#: step 3, the former part is in use again and the prepared one is dropped.
Replacement = Generator[tuple[str, ...], None, None]


def exchange(
    put: Callable[[T], Callable[[], object]], part: T, kept: Callable[[], object] = lambda: None
) -> Replacement:
    """Return a `Replacement` generator for a part in memory.

    put(part): takes a part into use, all or nothing, and returns an undo function. kept(): makes the part in
    use durable for a successor process; if it raises, the former durable part remains.
    """
    yield ()
    take_back, outlives = put(part), False

    def undo() -> None:
        take_back()
        if outlives:  # otherwise nothing durable changed, and a full disk has no room to write it again
            kept()

    with undone_by(undo):
        kept()
        outlives = True
        yield ()


@contextmanager
def undone_by(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` if the block, a step of a replacement, fails or its generator is closed.

    An error of `undo` is added to the block's error as a note.
    """
    try:
        yield
    except GeneratorExit:
        undo()
        raise
    except BaseException as error:
        try:
            undo()
        except Exception as second:
            _add_note(error, f"it could not go back to what it had: {second}")
        raise


def unchanged(*notes: str) -> Replacement:
    """Return a `Replacement` generator that leaves a part as it is. notes: sentences with the reason."""
    yield notes
    yield ()


def replace_all(parts: Iterable[tuple[str, Replacement]]) -> tuple[str, ...]:
    """Replace all parts or none; return sentences about data that was left out.

    parts: (name, generator) of each. Raises the first error. The errors of further parts, and of parts that
    could not be restored, are its notes (`BaseException.__notes__`).
    """
    prepared: list[tuple[str, Replacement]] = []
    notes: tuple[str, ...] = ()
    failed: Exception | None = None
    try:
        for name, part in parts:
            try:
                notes += next(part)
                prepared.append((name, part))
            except Exception as error:  # prepare the other parts too, so that all errors are reported at once
                if failed is not None:
                    _add_note(failed, f"{name}: {error}")
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
                _add_note(error, f"{name} could not go back to what it had: {second}")
        raise
    for name, part in prepared:
        try:
            next(part, None)
        except Exception as error:  # all parts are in use; the others still have to drop their former parts
            notes += (f"{name}: {error}",)
    return notes


def _add_note(error: BaseException, note: str) -> None:
    """Add a note as `BaseException.add_note` does, which Python 3.10 lacks."""
    error.__dict__.setdefault("__notes__", []).append(note)


def told(error: BaseException) -> str:
    """Return the message of an error with its notes, in one line."""
    return "; ".join([str(error) or repr(error), *getattr(error, "__notes__", ())])
