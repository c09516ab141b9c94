"""One append-only file of checked lines, replayed at the start: what was appended survives kill -9."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct

from lodestar.storage.checked_lines import checked_body, checked_line, format_line
from lodestar.storage.files import append, link_file, whole_file, write_all
from lodestar.storage.private import FILE_MODE, private_folder
from lodestar.storage.records import BadRecord, decode, of_values

L = TypeVar("L")
#: Makes the JSON values of a line from those of an older version.
Conversion = Callable[[dict[str, Any]], dict[str, Any]]


class _Head(Struct, frozen=True, tag_field="op", tag="head"):
    kind: str
    version: int


class JournalFile(Generic[L]):
    """The journal of one writer. The first line names kind and version.

    lines: class of its lines, or a union of classes; then, the lines that were there. older: the conversion of a line
    of each older version that is read; the file becomes one of this version, and the older one stays beside it.
    problems: what could not be read, by line. left_out: whole lines that are no record of their kind. A file of
    another kind or version is put aside under another name, and a new one begun. Raises OSError, UnsafeFolder where
    the folder cannot be used.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        version: int,
        lines: Any,
        older: Mapping[int, Conversion] | None = None,
        max_bytes: int = 8 << 20,
    ) -> None:
        self.path, self.problems = path, list[str]()
        self.left_out: list[bytes] = []
        self._head = _Head(kind, version)
        self._type, self._older = lines, older or {}
        self._max_bytes = max_bytes
        private_folder(path.parent)
        self._handle = -1
        found = self._head
        self.lines: list[L] = []
        if path.exists() and path.stat().st_size:
            found = self._replay(path.read_bytes())
        self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        if os.fstat(self._handle).st_size == 0:
            write_all(self._handle, format_line(self._head))
        elif found != self._head:
            aside = path.with_name(f"{path.name}.version-{found.version}")
            aside.unlink(missing_ok=True)
            link_file(path, aside)
            self.rewrite(self.lines)

    def _replay(self, data: bytes) -> _Head:
        """Take the whole lines; return the head. A torn last line is cut off, others that are damaged are named."""
        first, *rest = data.split(b"\n")
        head = self._head_of(first if rest else b"")
        if head is None:
            return self._head
        convert = self._older.get(head.version)
        for number, raw in enumerate(rest[:-1], 2):
            body = checked_body(raw)
            try:
                if body is None:
                    raise BadRecord("damaged")
                values = convert and convert(decode(body, dict[str, Any]))
                self.lines.append(of_values(values, self._type) if values else decode(body, self._type))
            except (BadRecord, LookupError, TypeError, ValueError, AttributeError) as error:
                self.left_out += [] if body is None else [body]
                said = error if isinstance(error, BadRecord) else f"{type(error).__name__}: {error}"
                self.problems.append(f"line {number} is {said} and was left out")
        if rest[-1]:
            self.problems.append(f"line {len(rest) + 1} is cut off and was left out")
            os.truncate(self.path, len(data) - len(rest[-1]))
        return head

    def _head_of(self, first: bytes) -> _Head | None:
        """Return a head that is read; else put the file aside."""
        body = checked_body(first)
        try:
            head = None if body is None else decode(body, _Head)
        except BadRecord:
            head = None
        if (
            head is None
            or head.kind != self._head.kind
            or head.version not in {self._head.version, *self._older}
        ):
            self._put_aside(head)
            return None
        return head

    def _put_aside(self, head: _Head | None) -> None:
        aside = self.path.with_name(f"{self.path.name}.aside")
        os.replace(self.path, aside)
        found = "damaged" if head is None else f"of {head.kind!r}, version {head.version}"
        self.problems.append(
            f"the journal is {found}, and this is version {self._head.version}: it was put aside as {aside.name}, "
            "and a new one begun"
        )

    def append(self, line: L) -> None:
        """Write one line. Raises OSError, or BadRecord, and then nothing of it is kept."""
        append(self._handle, format_line(line))

    def sync(self) -> None:
        """Have the disk keep what was appended, also where the power fails. Raises OSError."""
        os.fsync(self._handle)

    @property
    def is_full(self) -> bool:
        """Return whether the file has passed its size; `rewrite` makes it small."""
        return os.fstat(self._handle).st_size > self._max_bytes

    def rewrite(self, lines: list[L]) -> None:
        """Replace the content by these lines, and those that were left out, in one step.

        Raises OSError, and then it is as it was.
        """
        left_out = map(checked_line, self.left_out)  # a later version may read them
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
        """Close the file. Safe to repeat."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
