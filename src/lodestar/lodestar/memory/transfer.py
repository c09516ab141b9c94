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
_LONGEST = 4 * 2**20  # characters of a line that is read; chosen: 10 times the longest that is written
_MOST_TOLD = 100  # bad lines that are told one by one
_NO_CORRECTION = ('"corrects":""', '"corrects": ""')  # in a line as it is exported, now and by 0.3
_TOGETHER, _TOGETHER_SIZE = 100, 2**18  # lines and characters of a group; chosen: others wait some 50 ms


class _Line(Struct):
    """A line of the file: its head with format and version, or a memory."""

    origin: str = ""
    corrects: str = ""
    memory: dict[str, Any] = field(default_factory=dict)
    format: str = ""
    version: int = 0


@dataclass(frozen=True)
class Imported:
    """Outcome of an import. known: memories that were here already. forgotten: those that had been forgotten here.

    bad: number of the line and what is wrong, the first 100; bad_lines: all of them. None of them was taken.
    """

    added: int
    known: int
    forgotten: int
    bad_lines: int
    bad: tuple[tuple[int, str], ...]


def export_file(name: str, folder: Path) -> Path:
    """Return the path of a new file in the folder that memories may be exported into, which is made.

    Raises ValueError, with what to do, for a path outside of it, also by a link, and for a file that is there.
    """
    advice = f"give a new name, which becomes a file in {folder}"
    if not name.strip() or "\0" in name:
        raise ValueError(f"the file has no name: {advice}")
    path = (folder / Path(name).expanduser()).resolve()
    if not path.is_relative_to(folder.resolve()) or path == folder.resolve():
        raise ValueError(f"memories are exported into {folder} alone (exports), not to {path}: {advice}")
    if path.exists():
        raise ValueError(f"{path} is there already and is not replaced: {advice}")
    try:
        private_folder(path.parent)
    except UnsafeFolder as error:
        raise ValueError(str(error)) from error
    return path


def export_jsonl(store: MemoryStore, path: Path) -> int:
    """Write every memory to a file that only its owner can read, one JSON value a line. Returns their number.

    The file appears whole or not at all; one that is there is not replaced (FileExistsError). Vectors are left out:
    they are computed again from the words.
    """
    count = 0
    with whole_file(path, replace=False) as unfinished, open(unfinished, "wb") as out:
        unfinished.chmod(FILE_MODE)
        out.write(encode({"format": FORMAT, "version": VERSION, "store": store.name}) + b"\n")
        for identity in store.identities():
            try:
                memory = store.get(identity)
            except NoSuchMemory:  # forgotten meanwhile
                continue
            origin = store.origin_of(identity)
            corrects = store.origin_of(memory.corrects) if memory.corrects else ""
            out.write(encode({"origin": origin, "corrects": corrects, "memory": to_json(memory)}) + b"\n")
            count += 1
    return count


def import_jsonl(store: MemoryStore, path: Path) -> Imported:
    """Add the memories of a file that are neither here nor were forgotten here. The same file again adds nothing.

    A line that is no memory is skipped and told. Raises OSError where the file cannot be read, StoreFull.
    """
    found = Counter[str]()
    bad: list[tuple[int, str]] = []
    for group in _groups(_lines(path)):
        with nullcontext() if len(group) == 1 else store.together():
            for number, text in group:
                try:
                    found[_take(store, text)] += 1
                except (ValueError, NoSuchMemory) as error:
                    found["bad"] += 1
                    if len(bad) < _MOST_TOLD:
                        bad.append((number, str(error)))
    return Imported(found["added"], found["known"], found["forgotten"], found["bad"], tuple(bad))


def _take(store: MemoryStore, text: str | None) -> str:
    """Add the memory of a line; return what came of it. Raises BadMemory, ValueError, NoSuchMemory."""
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
        return "forgotten"  # its words are about what was forgotten
    store.add(replace(memory, id=0, corrects=corrects or 0), origin=origin)
    return "added"


def _groups(lines: Iterable[tuple[int, str | None]]) -> Iterator[list[tuple[int, str | None]]]:
    """Yield the lines in groups that are kept together; one that may be a correction is alone."""
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
    """Yield number and text of every line that is not blank, None for one that is too long."""
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
    """Return the origin of a memory, as STORE:ID. Raises BadMemory."""
    store, _, identity = text.rpartition(":")
    if not (store and identity.isdecimal() and len(text) <= 200):
        raise BadMemory(f"its origin {text[:40]!r} is none; it needs the form STORE:NUMBER")
    return text
