"""Append-only file of lines with checksums, which is read at the start; appended lines survive kill -9."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct

from lodestar.storage.checked_lines import checked_body, checked_line, format_line
from lodestar.storage.files import append, whole_file, write_all
from lodestar.storage.private import FILE_MODE, private_folder
from lodestar.storage.records import BadRecord, decode

L = TypeVar("L")


class _Head(Struct, frozen=True, tag_field="op", tag="head"):
    kind: str
    version: int


class JournalFile(Generic[L]):
    """Journal of one writer. The first line of the file names kind and version.

    lines: as a parameter the class of the lines, or a union of classes; as an attribute the lines that were
    read at construction. problems: descriptions of unreadable lines. left_out: intact lines that are no
    record of the class. A file of another kind or version is renamed, and a new one begun. Raises OSError;
    UnsafeFolder if the folder cannot be used.
    """

    def __init__(self, path: Path, kind: str, version: int, lines: Any, max_bytes: int = 8 << 20) -> None:
        self.path, self.problems = path, list[str]()
        self.left_out: list[bytes] = []
        self._head = _Head(kind, version)
        self._type = lines
        self._max_bytes = max_bytes
        private_folder(path.parent)
        self._handle = -1
        self.lines: list[L] = []
        if path.exists() and path.stat().st_size:
            self._replay(path.read_bytes())
        self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        if os.fstat(self._handle).st_size == 0:
            write_all(self._handle, format_line(self._head))

    def _replay(self, data: bytes) -> None:
        """Read all complete lines. An incomplete last line is cut off, damaged ones are added to `problems`."""
        first, *rest = data.split(b"\n")
        if not self._is_ours(first if rest else b""):
            return
        for number, raw in enumerate(rest[:-1], 2):
            body = checked_body(raw)
            try:
                if body is None:
                    raise BadRecord("damaged")
                self.lines.append(decode(body, self._type))
            except BadRecord as error:
                self.left_out += [] if body is None else [body]
                self.problems.append(f"line {number} is {error} and was left out")
        if rest[-1]:
            self.problems.append(f"line {len(rest) + 1} is cut off and was left out")
            os.truncate(self.path, len(data) - len(rest[-1]))

    def _is_ours(self, first: bytes) -> bool:
        """Return whether the first line names this kind and version; if not, rename the file."""
        body = checked_body(first)
        try:
            head = None if body is None else decode(body, _Head)
        except BadRecord:
            head = None
        if head == self._head:
            return True
        aside = self.path.with_name(f"{self.path.name}.aside")
        os.replace(self.path, aside)
        found = "damaged" if head is None else f"of {head.kind!r}, version {head.version}"
        self.problems.append(
            f"the journal is {found}, and this is version {self._head.version}: it was put aside as {aside.name}, "
            "and a new one begun"
        )
        return False

    def append(self, line: L) -> None:
        """Write one line. Raises OSError or BadRecord; then nothing is written."""
        append(self._handle, format_line(line))

    def sync(self) -> None:
        """Sync the file, so that appended lines survive a power cut. Raises OSError."""
        os.fsync(self._handle)

    @property
    def is_full(self) -> bool:
        """Return whether the file has passed its size limit; `rewrite` shortens it."""
        return os.fstat(self._handle).st_size > self._max_bytes

    def rewrite(self, lines: list[L]) -> None:
        """Replace the content by these lines and the lines in `left_out`, in one step.

        Raises OSError; then the file is unchanged.
        """
        left_out = map(checked_line, self.left_out)  # a later version may be able to read them
        handle, data = -1, b"".join([*map(format_line, (self._head, *lines)), *left_out])
        try:
            with whole_file(self.path, durable=False) as part:
                handle = os.open(part, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
                write_all(handle, data)
        except OSError:
            if handle >= 0:
                os.close(handle)
            raise
        os.close(self._handle)
        self._handle = handle

    def close(self) -> None:
        """Close the file. May be called repeatedly."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
