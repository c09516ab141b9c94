"""Journals of version 0.1.0 to 0.3 (segments of checked lines), read once into the database."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.errors import BadMemory, ForeignStore, NoSuchMemory, OtherStoreVersion
from lodestar.memory.owner import check_owner
from lodestar.memory.record_json import checked_vector, from_json
from lodestar.memory.rows import Rows
from lodestar.storage.checked_lines import parse_line
from lodestar.storage.files import sync_path

_PATTERN = "journal-*.log"
_FORMAT, _VERSION = "lodestar-memory", 1
_TORN_HEAD = 512  # bytes, above the length of a head
_REST = ("index.json", "journal-*.log.part")


def convert_journal(folder: Path, rows: Rows) -> None:
    """Take over the memories of a folder's journal, all or none, and delete it. Does nothing where there is none.

    Lines that are damaged are counted as unreadable and left out. Raises ForeignStore or OtherStoreVersion, and
    then nothing was changed.
    """
    segments = sorted(folder.glob(_PATTERN))
    if not segments:
        return
    sizes = [[path.name, path.stat().st_size] for path in segments]
    taken = json.loads(rows.converted or "[]")
    if any(size not in taken for size in sizes):  # else what a killed owner has not deleted yet
        if taken or rows.was_used():
            raise ForeignStore(
                f"{folder} has a memory of this version and the journal of an older one beside it: move the "
                f"{_PATTERN} files into a folder of their own, export them with the older version, and import the "
                "file here"
            )
        with rows.database.write():
            _take_over(segments, rows, json.dumps(sizes))
    rows.database.erase()  # in the database, durably, before the journal goes; without what it says was forgotten
    for pattern in (_PATTERN, *_REST):
        for path in folder.glob(pattern):
            path.unlink()
    sync_path(folder)


def _take_over(segments: list[Path], rows: Rows, sizes: str) -> None:
    head = _head(segments)
    check_owner(head, rows.config, str(segments[0].parent))
    rows.take_over(str(head["store"]), sizes)
    images: dict[int, list[ImageName]] = {}
    for where, line in _lines(segments):
        try:
            if line is None:
                raise BadMemory("its checksum does not match")
            if line.get("op") != "head":
                _apply(rows, line, images)
        except (BadMemory, NoSuchMemory, KeyError, TypeError, ValueError, OverflowError):
            rows.unreadable.add(where)


def _head(segments: list[Path]) -> dict[str, Any]:
    for path in segments:
        data = path.read_bytes()[:4096]
        first, newline, _ = data.partition(b"\n")
        if not newline and len(data) < _TORN_HEAD and path == segments[-1] and len(segments) > 1:
            continue  # ended while the segment was begun
        line = parse_line(first)
        if line is None or line.get("format") != _FORMAT:
            raise ForeignStore(
                f"{path.name} is no journal of a Lodestar memory: move {path.parent} away or choose another folder for "
                "the memory"
            )
        if line.get("version") != _VERSION:
            raise OtherStoreVersion(
                f"{path.name} has version {line.get('version')}, this Lodestar reads {_VERSION}: export the memory "
                "with the version that wrote it and import the file here, or choose another folder"
            )
        return line
    raise AssertionError("there is a segment")


def _lines(segments: list[Path]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield name and values of every line, None for a damaged one."""
    for path in segments:
        whole = path.read_bytes().split(b"\n")[:-1]  # what follows the last newline was not acknowledged
        for number, raw in enumerate(whole, 1):
            yield f"{path.name}:{number}", parse_line(raw)


def _apply(rows: Rows, line: dict[str, Any], images: dict[int, list[ImageName]]) -> None:
    """Do what a line says. images: those of forgotten memories, by id."""
    op = line["op"]
    if op == "add":
        memory = from_json(line["memory"])
        vector = _vector(line["vector"], rows.config.dimension) if line.get("vector") else None
        if memory.corrects and not rows.has(memory.corrects):
            memory = replace(memory, corrects=0)  # what it corrected was thinned out
        if memory.id not in images:
            rows.add(memory, vector, str(line.get("origin", "")))
    elif op == "vector":
        rows.embed([(int(line["id"]), _vector(line["vector"], rows.config.dimension))])
    elif op == "pin":
        rows.pin(int(line["id"]), bool(line["pinned"]))
    elif op == "forget":
        images[int(line["id"])] = [ImageName(str(session), int(i)) for session, i in line.get("images", ())]
        rows.bury(int(line["id"]), str(line.get("origin", "")), images[int(line["id"])])
    elif op == "erased":
        rows.finish([int(line["id"])], images.get(int(line["id"]), []))
    elif op == "drop":
        rows.drop([int(identity) for identity in line["ids"]])


def _vector(text: str, dimension: int) -> np.ndarray:
    try:
        data = np.frombuffer(base64.b64decode(text, validate=True), "<f2")
    except (binascii.Error, ValueError) as error:
        raise BadMemory(f"its vector cannot be read: {error}") from error
    return checked_vector(data, dimension)
