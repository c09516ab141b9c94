"""Export of memories to JSONL and import of such files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from lodestar.memory.errors import BadMemory, NoSuchMemory
from lodestar.memory.record_json import from_json, to_json
from lodestar.memory.store import MemoryStore
from lodestar.storage.files import whole_file
from lodestar.storage.private import FILE_MODE, UnsafeFolder, private_folder
from lodestar.storage.records import decode, encode

FORMAT = "lodestar-memory-export"
VERSION = 1
_LONGEST = 4 * 2**20  # most characters of a line; chosen: 10 times the longest line that is written
_MOST_TOLD = 100  # most bad lines that are reported one by one
# text in an exported line without correction, now and in 0.3
_NO_CORRECTION = ('"corrects":""', '"corrects": ""')
# lines and characters per transaction; chosen: other writers wait some 50 ms
_TOGETHER, _TOGETHER_SIZE = 100, 2**18


class _Line(Struct):
    """Line of an exported file: its header with format and version, or a memory."""

    origin: str = ""
    corrects: str = ""
    memory: dict[str, Any] = field(default_factory=dict)
    format: str = ""
    version: int = 0


@dataclass(frozen=True)
class Imported:
    """Result of an import. ids: of the memories added, ascending. known: number of memories that were here already.

    forgotten: number of memories that were forgotten here. bad: (line number, fault) of the first 100
    rejected lines; bad_lines: their total number.
    """

    ids: tuple[int, ...]
    known: int
    forgotten: int
    bad_lines: int
    bad: tuple[tuple[int, str], ...]


def export_file(name: str, folder: Path) -> Path:
    """Return the path of a new file in the export folder, which is created.

    Raises ValueError, with a remedy, for a path outside the folder, also by a link, and for an existing file.
    """
    advice = f"give a new name, which becomes a file in {folder}"
    if not name.strip() or "\0" in name:
        raise ValueError(f"the file has no name: {advice}")
    path = (folder / Path(name).expanduser()).resolve()
    if not path.is_relative_to(folder.resolve()) or path == folder.resolve():
        raise ValueError(f"memories are exported into {folder} alone, not to {path}: {advice}")
    if path.exists():
        raise ValueError(f"{path} is there already and is not replaced: {advice}")
    try:
        private_folder(path.parent)
    except UnsafeFolder as error:
        raise ValueError(str(error)) from error
    return path


def export_jsonl(store: MemoryStore, path: Path) -> tuple[int, ...]:
    """Write all memories to a file that only its owner can read, one JSON value a line. Returns their ids.

    The file appears complete or not at all; an existing file is not replaced (FileExistsError). Vectors are left out,
    because they can be computed from the texts.
    """
    ids = []
    with whole_file(path, replace=False) as unfinished, open(unfinished, "wb") as out:
        unfinished.chmod(FILE_MODE)
        out.write(encode({"format": FORMAT, "version": VERSION, "store": store.name}) + b"\n")
        for identity in store.identities():
            try:
                memory = store.get(identity)
            except NoSuchMemory:  # forgotten during the export
                continue
            origin = store.origin_of(identity)
            corrects = store.origin_of(memory.corrects) if memory.corrects else ""
            out.write(encode({"origin": origin, "corrects": corrects, "memory": to_json(memory)}) + b"\n")
            ids.append(identity)
    return tuple(ids)


def import_jsonl(store: MemoryStore, path: Path) -> Imported:
    """Add the memories of a file that are not in the store and were not forgotten there.

    Importing a file twice adds nothing. Malformed lines are skipped and reported. Raises OSError if the file
    cannot be read, StoreFull.
    """
    found, ids = Counter[str](), list[int]()
    bad: list[tuple[int, str]] = []
    for group in _groups(_lines(path)):
        with nullcontext() if len(group) == 1 else store.together():
            for number, text in group:
                try:
                    found[_take(store, text, ids)] += 1
                except (ValueError, NoSuchMemory) as error:
                    found["bad"] += 1
                    if len(bad) < _MOST_TOLD:
                        bad.append((number, str(error)))
    return Imported(tuple(ids), found["known"], found["forgotten"], found["bad"], tuple(bad))


def _take(store: MemoryStore, text: str | None, ids: list[int]) -> str:
    """Add the memory of a line, and its id to `ids`. Return the result: "added", "known", "forgotten" or "head" for the
    header.

    Raises BadMemory, ValueError, NoSuchMemory.
    """
    if text is None:
        raise BadMemory(f"the line has more than {_LONGEST} characters")
    line = decode(text, _Line)
    if line.format == FORMAT:
        if line.version != VERSION:
            raise BadMemory(f"version {line.version} of the format, this version reads {VERSION}")
        return "head"
    origin = _origin(line.origin)
    here = store.identity_of(origin)
    if here is not None:
        return "known" if store.has(here) else "forgotten"
    memory = from_json(line.memory)
    corrects = store.identity_of(_origin(line.corrects)) if line.corrects else None
    if corrects is not None and not store.has(corrects):
        return "forgotten"  # its text describes a memory that was forgotten
    ids.append(store.add(replace(memory, id=0, corrects=corrects or 0), origin=origin))
    return "added"


def _groups(lines: Iterable[tuple[int, str | None]]) -> Iterator[list[tuple[int, str | None]]]:
    """Yield the lines in groups, one per transaction; a line that may be a correction is alone."""
    group: list[tuple[int, str | None]] = []
    size = 0
    for number, text in lines:
        if text is None or not any(mark in text for mark in _NO_CORRECTION):
            yield from filter(None, (group, [(number, text)]))
            group, size = [], 0
            continue
        group.append((number, text))
        size += len(text)
        if len(group) >= _TOGETHER or size >= _TOGETHER_SIZE:
            yield group
            group, size = [], 0
    if group:
        yield group


def _lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """Yield (number, text) of each line that is not blank; text None for a line that is too long."""
    with open(path, encoding="utf-8", errors="replace") as file:
        number = 0
        while text := file.readline(_LONGEST):
            number += 1
            whole = text.endswith("\n") or len(text) < _LONGEST
            while not text.endswith("\n") and (rest := file.readline(_LONGEST)):
                text = rest if rest.endswith("\n") else ""
            if not whole:
                yield number, None
            elif text.strip():
                yield number, text


def _origin(text: str) -> str:
    """Return the origin of a memory, STORE:ID, unchanged. Raises BadMemory for another form."""
    store, _, identity = text.rpartition(":")
    if not (store and identity.isdecimal() and len(text) <= 200):
        raise BadMemory(f"its origin {text[:40]!r} is none; it needs the form STORE:NUMBER")
    return text
