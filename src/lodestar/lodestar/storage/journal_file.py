"""One append-only file of checked lines, replayed at the start: what was appended survives kill -9."""

from __future__ import annotations

import os
from pathlib import Path

from lodestar.storage.checked_lines import Line, format_line, parse_line, write_all
from lodestar.storage.files import whole_file
from lodestar.storage.private import FILE_MODE, private_folder

_HEAD = "head"


class JournalFile:
    """The journal of one writer. The first line names kind and version.

    problems: what could not be read, by line. A file of another kind or version is put aside under another name, and
    a new one begun. Raises OSError, UnsafeFolder where the folder cannot be used.
    """

    def __init__(self, path: Path, kind: str, version: int, max_bytes: int = 8 << 20) -> None:
        self.path, self.problems = path, list[str]()
        self._head: Line = {"op": _HEAD, "kind": kind, "version": version}
        self._max_bytes = max_bytes
        private_folder(path.parent)
        self._handle = -1
        self.lines = self._replay()
        self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        if os.fstat(self._handle).st_size == 0:
            write_all(self._handle, format_line(self._head))

    def _replay(self) -> list[Line]:
        """Return the whole lines without the head. A torn last line is cut off, others that are damaged are named."""
        data = self.path.read_bytes() if self.path.exists() else b""
        if not data:
            return []
        lines, good, offset, number = list[Line](), 0, 0, 0
        while offset < len(data):
            number += 1
            end = data.find(b"\n", offset)
            line = parse_line(data[offset:end]) if end >= 0 else None
            if number == 1 and line != self._head:
                return self._put_aside(line)
            if line is not None:
                good = end + 1
                lines.append(line)
            else:
                torn = end < 0
                self.problems.append(f"line {number} is {'cut off' if torn else 'damaged'} and was left out")
            offset = end + 1 if end >= 0 else len(data)
        if good < len(data) and b"\n" not in data[good:]:
            os.truncate(self.path, good)
        return lines[1:]

    def _put_aside(self, head: Line | None) -> list[Line]:
        aside = self.path.with_name(f"{self.path.name}.aside")
        os.replace(self.path, aside)
        found = "damaged" if head is None else f"of {head.get('kind')!r}, version {head.get('version')}"
        self.problems.append(
            f"the journal is {found}, and this is version {self._head['version']}: it was put aside as {aside.name}, "
            "and a new one begun"
        )
        return []

    def append(self, line: Line) -> None:
        """Write one line. Raises OSError, and then nothing of it is kept."""
        size = os.fstat(self._handle).st_size
        try:
            write_all(self._handle, format_line(line))
        except OSError:
            os.ftruncate(self._handle, size)
            raise

    def sync(self) -> None:
        """Have the disk keep what was appended, also where the power fails. Raises OSError."""
        os.fsync(self._handle)

    @property
    def is_full(self) -> bool:
        """Return whether the file has passed its size; `rewrite` makes it small."""
        return os.fstat(self._handle).st_size > self._max_bytes

    def rewrite(self, lines: list[Line]) -> None:
        """Replace the content by these lines, in one step. Raises OSError, and then it is as it was."""
        handle = -1
        try:
            with whole_file(self.path, durable=False) as part:
                handle = os.open(part, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
                write_all(handle, b"".join(map(format_line, (self._head, *lines))))
        except OSError:
            if handle >= 0:
                os.close(handle)
            raise
        os.close(self._handle)
        self._handle = handle

    def close(self) -> None:
        """Close the file. Safe to repeat."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
