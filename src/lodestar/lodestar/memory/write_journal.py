"""Append-only journal of the memory in segments: everything that was acknowledged, one checked line per change.

A line is `CRC-32 of the JSON in 8 hex digits`, a space, the JSON, a newline. The first line of every segment names
format, version, store and robot. A line is acknowledged once `write` has taken it: it survives the process (kill -9) at
once and a power cut after `sync`.
"""

from __future__ import annotations

import errno
import os
import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lodestar.memory.errors import ForeignStore, OtherStoreVersion, StoreError, StoreFull, StoreUnwritable
from lodestar.storage.checked_lines import Line, format_line, parse_line, write_all
from lodestar.storage.files import sync_path
from lodestar.storage.private import FILE_MODE

FORMAT = "lodestar-memory"
VERSION = 1
_NAME = re.compile(r"^journal-(\d{8})\.log$")
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)

_TORN_HEAD = 512  # bytes, above the length of a head


@dataclass(frozen=True)
class Place:
    """A line's place: number of its segment, offset and length in bytes without the newline."""

    segment: int
    offset: int
    length: int


class Segment:
    """An open file of the journal. Its descriptor is closed with the last reference to it, so that a reader that
    has one may finish while the file is replaced."""

    def __init__(self, path: Path, flags: int) -> None:
        self.path = path
        self.handle = os.open(path, flags | os.O_CLOEXEC, FILE_MODE)
        self._close = weakref.finalize(self, os.close, self.handle)
        self.size = os.fstat(self.handle).st_size

    def read(self, place: Place) -> Line:
        """Return the line. Raises StoreError where it is damaged."""
        line = parse_line(os.pread(self.handle, place.length, place.offset))
        if line is None:
            raise StoreError(f"a line of {self.path.name} is damaged since it was written; check the disk")
        return line


class WriteJournal:
    """The segments in a folder. One thread at a time calls what changes it; `sync` and `Segment.read` may run beside.

    Raises ForeignStore, OtherStoreVersion, StoreUnwritable or StoreFull.
    """

    def __init__(self, folder: Path, head: Line, segment_bytes: int) -> None:
        self._folder, self._limit = folder, segment_bytes
        self._segments: dict[int, Segment] = {}
        self.damaged = 0  # lines that did not match their checksum and were left out
        self.cut_tail = 0  # bytes of an unfinished last line that were dropped
        numbers = sorted(int(found[1]) for path in folder.iterdir() if (found := _NAME.match(path.name)))
        for part in folder.glob("journal-*.log.part"):
            part.unlink()  # a rewrite that did not end: the segment it was to replace is whole
        with _told("opened", folder):
            for number in numbers:
                self._segments[number] = Segment(self._path(number), os.O_RDWR | os.O_APPEND)
        self.head = {**(self._found_head() or head), "op": "head", "format": FORMAT, "version": VERSION}
        self._active = numbers[-1] if numbers else 0
        self._unsynced: set[Segment] = set()

    def replay(self) -> Iterator[tuple[Place, Line]]:
        """Yield every whole line with its place, oldest first, then be ready to append.

        Damaged lines are counted and left out. What follows the last whole line of the last segment is cut off.
        """
        for number, segment in list(self._segments.items()):
            data = os.pread(segment.handle, segment.size, 0)
            offset = good = 0
            while offset < len(data):
                end = data.find(b"\n", offset)
                line = parse_line(data[offset:end]) if end >= 0 else None
                if line is not None:
                    good = end + 1
                    if line.get("op") != "head":
                        yield Place(number, offset, end - offset), line
                elif end >= 0:
                    self.damaged += 1
                offset = end + 1 if end >= 0 else len(data)
            if number == self._active and good < len(data):
                self.cut_tail += len(data) - good
                with _told("mended", self._folder):
                    os.ftruncate(segment.handle, good)
                segment.size = good
        if not self._segments or self._segments[self._active].size == 0:
            self._begin(max(1, self._active))

    def append(self, line: Line) -> Place:
        """Write one line; afterwards it is acknowledged. Raises StoreFull or StoreUnwritable, and then nothing is
        kept.
        """
        data = format_line(line)
        segment = self._segments[self._active]
        offset = segment.size
        with _told("written", self._folder):
            try:
                write_all(segment.handle, data)
            except OSError:
                os.ftruncate(segment.handle, offset)  # half a line is no line
                raise
        segment.size += len(data)
        self._unsynced.add(segment)
        return Place(self._active, offset, len(data) - 1)

    @property
    def full(self) -> bool:
        """Return whether the active segment has reached its size."""
        return self._segments[self._active].size >= self._limit

    def roll(self) -> None:
        """Seal the active segment and begin the next one."""
        self._begin(self._active + 1)

    def sync(self) -> None:
        """Make what was written durable (fsync). May run beside `append`."""
        while self._unsynced:
            segment = self._unsynced.pop()
            os.fsync(segment.handle)

    def segment(self, number: int) -> Segment:
        """Return a segment, which can be read also after it was replaced."""
        return self._segments[number]

    def read(self, place: Place) -> Line:
        """Return a line."""
        return self._segments[place.segment].read(place)

    def sealed(self) -> list[int]:
        """Return the numbers of the segments that nothing is appended to."""
        return [number for number in self._segments if number != self._active]

    def lines(self, number: int) -> Iterator[tuple[Place, Line]]:
        """Yield the whole lines of a sealed segment except its head."""
        segment = self._segments[number]
        offset = 0
        for raw in os.pread(segment.handle, segment.size, 0).splitlines(keepends=True):
            line = parse_line(raw.rstrip(b"\n"))
            if line is not None and line.get("op") != "head":
                yield Place(number, offset, len(raw) - 1), line
            offset += len(raw)

    def prepare(self, number: int, kept: list[tuple[Place, Line]]) -> tuple[Path, dict[int, Place]]:
        """Write a sealed segment anew with these lines, into a file beside it. Returns its path and the new places
        by the old offset. Durable; the segment itself is unchanged until `replace`."""
        path = self._path(number).with_suffix(".log.part")
        path.unlink(missing_ok=True)
        places: dict[int, Place] = {}
        with _told("rewritten", self._folder):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
            with open(handle, "wb") as out:
                offset = out.write(format_line(self.head))
                for place, line in kept:
                    data = format_line(line)
                    places[place.offset] = Place(number, offset, len(data) - 1)
                    offset += out.write(data)
                out.flush()
                os.fsync(out.fileno())
        return path, places

    def replace(self, number: int, path: Path, empty: bool) -> None:
        """Put the file of `prepare` in the place of the segment; remove both where it is empty. Not durable before
        `sync_entries`."""
        if empty:
            path.unlink()
            self._segments[number].path.unlink()
            del self._segments[number]
        else:
            os.replace(path, self._path(number))
            self._segments[number] = Segment(self._path(number), os.O_RDWR | os.O_APPEND)

    def sync_entries(self) -> None:
        """Make the names of new and removed segments durable."""
        sync_path(self._folder)

    @property
    def bytes(self) -> int:
        """Return the size of all segments."""
        return sum(segment.size for segment in self._segments.values())

    def close(self) -> None:
        """Make everything durable and close the files."""
        if self._segments and self._active in self._segments:
            self.sync()
        self._segments.clear()

    def _begin(self, number: int) -> None:
        with _told("written", self._folder):
            segment = Segment(self._path(number), os.O_RDWR | os.O_APPEND | os.O_CREAT)
            if segment.size == 0:
                data = format_line(self.head)
                try:
                    write_all(segment.handle, data)
                except OSError:
                    os.ftruncate(segment.handle, 0)
                    raise
                segment.size = len(data)
        self._segments[number] = segment
        self._active = number
        self._unsynced.add(segment)

    def _found_head(self) -> Line | None:
        """Return the head that is there, None in a new folder."""
        for number, segment in self._segments.items():
            first = os.pread(segment.handle, 4096, 0).split(b"\n", 1)
            if len(first) < 2 and segment.size < _TORN_HEAD and number == max(self._segments):
                continue  # ended while the segment was begun
            line = parse_line(first[0])
            name = segment.path.name
            if line is None or line.get("format") != FORMAT:
                advice = f"move {segment.path.parent} away or choose another folder for the memory"
                raise ForeignStore(f"{name} is no journal of a Lodestar memory: {advice}")
            if line.get("version") != VERSION:
                raise OtherStoreVersion(
                    f"{name} has version {line.get('version')}, this Lodestar reads {VERSION}: export "
                    f"the memory with the "
                    "version that wrote it and import the file here, or choose another folder"
                )
            return line
        return None

    def _path(self, number: int) -> Path:
        return self._folder / f"journal-{number:08d}.log"


class _told:
    """Turn the errors of the disk into those of the store."""

    def __init__(self, deed: str, folder: Path) -> None:
        self._deed, self._folder = deed, folder

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in _NO_SPACE:
            raise StoreFull(
                f"the disk of {self._folder} is full: free some space or lower max_records; what was "
                f"acknowledged before "
                "is kept"
            ) from error
        if error.errno in _READ_ONLY:
            raise StoreUnwritable(
                f"{self._folder} is read-only for this user: mount it writable, give it to this user, "
                f"or choose another "
                "folder for the memory"
            ) from error
        raise StoreUnwritable(
            f"the memory cannot be {self._deed} in {self._folder} ({error}): check the disk"
        ) from error
