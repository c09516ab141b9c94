"""A fake disk that fails at the n-th modifying operation."""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_CHANGES = (
    "open",
    "replace",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "fsync",
    "write",
    "truncate",
    "ftruncate",
    "chmod",
)
_NEEDS_ROOM = ("open", "link", "mkdir", "write")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class FailingDisk:
    """Make modifying operation number `at` (from 1) fail; with `stays_full`, later ones that need space fail too.

    done: number of operations tried so far.
    """

    def __init__(self, at: int, stays_full: bool = False) -> None:
        self.at, self.stays_full, self.done = at, stays_full, 0

    def _step(self, name: str) -> None:
        self.done += 1
        later = self.stays_full and self.done > self.at and name in _NEEDS_ROOM
        if self.done == self.at or later:
            raise OSError(errno.ENOSPC, f"No space left on device ({name}, operation {self.done})")

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return the operation `real` wrapped with counting and failing, if it modifies the disk."""

        def operation(*arguments: Any, **options: Any) -> Any:
            flags = arguments[1] if len(arguments) > 1 else options.get("flags", 0)
            if name != "open" or flags & _WRITES:
                self._step(name)
            return real(*arguments, **options)

        return operation

    def wrap_open(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return `open` wrapped so that opening for writing and writing are counted and may fail."""

        def operation(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if not set(mode) & set("wax+"):
                return real(file, mode, *arguments, **options)
            self._step("open")
            return _File(real(file, mode, *arguments, **options), self)

        return operation


class _File:
    """A file whose write operations are counted and may fail."""

    def __init__(self, file: Any, disk: FailingDisk) -> None:
        self._file, self._disk = file, disk

    def write(self, data: Any) -> int:
        self._disk._step("write")
        return int(self._file.write(data))

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def failing_disk(at: int, stays_full: bool = False) -> Iterator[FailingDisk]:
    """Make disk operations fail inside the block; see `FailingDisk`."""
    disk = FailingDisk(at, stays_full)
    kept = {name: getattr(os, name) for name in _CHANGES}
    opens = builtins.open, io.open
    try:
        for name, real in kept.items():
            setattr(os, name, disk.wrap(name, real))
        builtins.open = disk.wrap_open(opens[0])  # type: ignore[assignment]
        io.open = disk.wrap_open(opens[1])  # type: ignore[assignment]
        yield disk
    finally:
        for name, real in kept.items():
            setattr(os, name, real)
        builtins.open, io.open = opens  # type: ignore[misc]


def every_failure(
    work: Callable[[], object], most: int = 500
) -> Iterator[tuple[FailingDisk, Exception | None]]:
    """Repeat the work with each of its disk operations failing in turn; yield the disk and the error of each run.

    First only that operation fails, then also all later ones that need space. Each series ends with a run in which the
    work does not reach the failure.
    """
    for stays_full in (False, True):
        for at in range(1, most):
            error: Exception | None = None
            with failing_disk(at, stays_full) as disk:
                try:
                    work()
                except OSError as raised:
                    error = raised
            yield disk, error
            if disk.done < at:
                break
        else:
            raise AssertionError(f"the work takes more than {most} operations")
