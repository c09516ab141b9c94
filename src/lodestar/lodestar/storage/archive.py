"""Files with named arrays and a versioned, checked header. Writes are atomic.

Layout: magic (8 bytes), layout version (uint32), length and CRC-32 of the header (uint64, uint32), the header
as JSON, then the arrays (little-endian, C order), each aligned to 64 bytes and with its own CRC-32.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lodestar.storage.files import write_file

MAGIC = b"LODESTAR"
LAYOUT = 1
_PREFIX = struct.Struct("<8sIQI")
_ALIGN = 64
_CHUNK = 1 << 24  # bytes read at a time
_MAX_HEADER = 1 << 30  # bytes
_KINDS = "biuf"  # allowed dtype kinds; object arrays are refused because reading them can run code


class ArchiveError(Exception):
    """Error: the file cannot be read. The message says why."""


class ForeignFile(ArchiveError):
    """Error: the file is of another kind, truncated or damaged."""


class OtherVersion(ArchiveError):
    """Error: the file was written by another version."""


@dataclass(frozen=True)
class Archive:
    """Content of an archive. kind, version: of the content. meta: JSON values. arrays: numeric, by name."""

    kind: str
    version: int
    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write_archive(path: Path, archive: Archive, *, durable: bool = True) -> int:
    """Write the archive to `path` atomically; return the size in bytes.

    durable: see `whole_file`. Raises OSError, or ValueError for object arrays.
    """
    entries, views, offset = [], [], 0
    for name, array in archive.arrays.items():
        values = np.ascontiguousarray(array)
        values = values.reshape(np.shape(array)).astype(values.dtype.newbyteorder("<"), copy=False)
        if values.dtype.kind not in _KINDS:
            raise ValueError(f"{name} has values of type {values.dtype}")
        view = values.reshape(-1).view(np.uint8).data
        entry = {"name": name, "dtype": values.dtype.str, "shape": list(values.shape), "offset": offset}
        entries.append({**entry, "bytes": view.nbytes, "crc": zlib.crc32(view)})
        views.append(view)
        offset += -(-view.nbytes // _ALIGN) * _ALIGN
    content = {"kind": archive.kind, "version": archive.version, "meta": archive.meta, "arrays": entries}
    header = json.dumps(content, separators=(",", ":")).encode()
    prefix = _PREFIX.pack(MAGIC, LAYOUT, len(header), zlib.crc32(header))
    head = prefix + header

    def chunks() -> Iterator[Any]:
        yield head + bytes(-len(head) % _ALIGN)
        for view in views:
            yield view
            yield bytes(-view.nbytes % _ALIGN)

    return write_file(path, chunks(), durable=durable)


def read_archive(path: Path, versions: Mapping[str, int] | None = None) -> Archive:
    """Return the archive in a file.

    versions: readable version of each kind, None = any. Raises ForeignFile, OtherVersion, or OSError for a
    file that cannot be read.
    """
    with open(path, "rb") as file:
        content, used = _content(file, path)
        kind, version, start = content["kind"], content["version"], used + -used % _ALIGN
        if versions is not None:
            check_version(path.name, kind, version, versions)
        size = os.fstat(file.fileno()).st_size
        try:
            arrays = {str(entry["name"]): _array(file, start, size, entry) for entry in content["arrays"]}
            return Archive(kind, version, dict(content["meta"]), arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ForeignFile(f"{path.name}: {error}") from error


def check_version(name: str, kind: str, version: int, versions: Mapping[str, int]) -> None:
    """Raise ForeignFile unless `versions` has the kind, OtherVersion unless it has this version of the kind.

    versions: the readable version of each kind.
    """
    if kind not in versions:
        raise ForeignFile(f"{name} holds {kind!r}, not {' or '.join(map(repr, versions))}")
    if version != versions[kind]:
        raise OtherVersion(f"{name} has version {version} of {kind!r}, this version reads {versions[kind]}")


def meta_of(path: Path) -> dict[str, Any]:
    """Return the `meta` of an archive file, without reading its arrays.

    Raises ForeignFile, OtherVersion, OSError.
    """
    with open(path, "rb") as file:
        content = _content(file, path)[0]
    try:
        return dict(content["meta"])
    except (KeyError, TypeError, ValueError) as error:
        raise ForeignFile(f"{path.name}: {error}") from error


def _content(file: BinaryIO, path: Path) -> tuple[dict[str, Any], int]:
    """Return the header of an archive of any kind, and the length of header and prefix, bytes."""
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size or prefix[:8] != MAGIC:
        raise ForeignFile(f"{path.name} is not a Lodestar file")
    _, layout, length, checksum = _PREFIX.unpack(prefix)
    if layout != LAYOUT:
        raise OtherVersion(f"{path.name} has layout {layout}, this version reads {LAYOUT}")
    header = file.read(min(length, _MAX_HEADER))
    if len(header) != length or zlib.crc32(header) != checksum:
        raise ForeignFile(f"the header of {path.name} is truncated or damaged")
    try:
        content = json.loads(header)
        content["kind"], content["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise ForeignFile(f"the header of {path.name} cannot be read: {error}") from error
    return content, _PREFIX.size + length


def _array(file: BinaryIO, start: int, size: int, entry: Mapping[str, Any]) -> np.ndarray:
    dtype, shape = np.dtype(entry["dtype"]), tuple(int(n) for n in entry["shape"])
    name, offset, length = entry["name"], start + int(entry["offset"]), int(entry["bytes"])
    if dtype.kind not in _KINDS or min(shape, default=0) < 0:
        raise ValueError(f"{name} is of type {dtype} and shape {shape}")
    if length != int(np.prod(shape, dtype=np.int64)) * dtype.itemsize:
        raise ValueError(f"{name} has {length} bytes for {shape} of {dtype}")
    if offset < start or offset + length > size:
        raise ValueError(f"it ends in the middle of {name}")
    array = np.empty(shape, dtype)
    if length:
        view = array.reshape(-1).view(np.uint8).data
        file.seek(offset)
        checksum, done = 0, 0
        while done < length:
            count = file.readinto(view[done : done + _CHUNK])  # type: ignore[attr-defined]
            if not count:
                raise ValueError(f"it ends in the middle of {name}")
            checksum = zlib.crc32(view[done : done + count], checksum)
            done += count
        if checksum != entry["crc"]:
            raise ValueError(f"{name} is damaged")
    return array
