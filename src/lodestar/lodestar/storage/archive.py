"""Write and read named arrays in one file with a versioned, checked header. Writes are atomic.

Layout: magic (8 bytes), layout version (uint32), length and CRC-32 of the header (uint64, uint32), the header as JSON,
then the arrays (little-endian, C order), each aligned to 64 bytes and with its own CRC-32.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

MAGIC = b"LODESTAR"
LAYOUT = 1
_PREFIX = struct.Struct("<8sIQI")
_ALIGN = 64
_CHUNK = 1 << 24  # bytes read at a time
_MAX_HEADER = 1 << 30  # bytes
_KINDS = "biuf"  # allowed dtype kinds; object arrays are refused because reading them can run code


class ArchiveError(Exception):
    """The file cannot be read; the message says why."""


class ForeignFile(ArchiveError):
    """The file is of another kind, truncated or damaged."""


class OtherVersion(ArchiveError):
    """The file was written by another version."""


@dataclass(frozen=True)
class Archive:
    """Content of a file. meta: JSON values. arrays: numeric arrays by name."""

    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]


@contextmanager
def whole_file(path: Path, *, durable: bool = True, replace: bool = True) -> Iterator[Path]:
    """Yield the path of an empty file to write; it replaces `path` when the block ends without an error.

    durable: the file survives a power cut from then on. replace: an existing file may be replaced; otherwise it is not
    changed and FileExistsError is raised.
    """
    if not replace and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.unlink(missing_ok=True)
    open(unfinished, "xb").close()  # a new file, even if the name was a link
    try:
        yield unfinished
        if durable:
            with open(unfinished, "rb") as file:
                os.fsync(file.fileno())
        if replace:
            os.replace(unfinished, path)
        else:
            _put_beside(unfinished, path)
        if durable:
            sync_folder(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _put_beside(source: Path, target: Path) -> None:
    """Hard-link or rename the source to the target. Raises FileExistsError if the target exists."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.rename(source, target)


def write_file(path: Path, chunks: Iterable[Any], *, durable: bool = True, replace: bool = True) -> int:
    """Write the chunks of bytes to `path` atomically. Returns the number of bytes written; see `whole_file`."""
    written = 0
    with whole_file(path, durable=durable, replace=replace) as unfinished, open(unfinished, "wb") as out:
        for chunk in chunks:
            written += out.write(chunk)
    return written


def sync_folder(folder: Path) -> None:
    """Make the folder's entries durable (fsync)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_archive(
    path: Path,
    kind: str,
    version: int,
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    *,
    durable: bool = True,
) -> int:
    """Write the arrays to `path` atomically. Returns the size in bytes. Raises OSError, or ValueError for objects.

    durable: see `whole_file`.
    """
    entries, views, offset = [], [], 0
    for name, array in arrays.items():
        values = np.ascontiguousarray(array)
        values = values.reshape(np.shape(array)).astype(values.dtype.newbyteorder("<"), copy=False)
        if values.dtype.kind not in _KINDS:
            raise ValueError(f"{name} has values of type {values.dtype}")
        view = values.reshape(-1).view(np.uint8).data
        entry = {"name": name, "dtype": values.dtype.str, "shape": list(values.shape), "offset": offset}
        entries.append({**entry, "bytes": view.nbytes, "crc": zlib.crc32(view)})
        views.append(view)
        offset += -(-view.nbytes // _ALIGN) * _ALIGN
    content = {"kind": kind, "version": version, "meta": meta, "arrays": entries}
    header = json.dumps(content, separators=(",", ":")).encode()
    prefix = _PREFIX.pack(MAGIC, LAYOUT, len(header), zlib.crc32(header))
    head = prefix + header

    def chunks() -> Any:
        yield head + bytes(-len(head) % _ALIGN)
        for view in views:
            yield view
            yield bytes(-view.nbytes % _ALIGN)

    return write_file(path, chunks(), durable=durable)


def read_archive(path: Path, kind: str, version: int) -> Archive:
    """Return what `write_archive` wrote. Raises ForeignFile, OtherVersion or OSError for an incomplete file."""
    with open(path, "rb") as file:
        content, start = _header(file, path, kind, version)
        size = os.fstat(file.fileno()).st_size
        arrays = {}
        try:
            for entry in content["arrays"]:
                arrays[str(entry["name"])] = _array(file, start, size, entry)
            return Archive(dict(content["meta"]), arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ForeignFile(f"{path.name}: {error}") from error


def kind_of(path: Path) -> str:
    """Return the kind that `write_archive` stored. Raises ForeignFile, OtherVersion, OSError."""
    with open(path, "rb") as file:
        return str(_content(file, path)[0]["kind"])


def meta_of(path: Path) -> dict[str, Any]:
    """Return the meta that `write_archive` wrote, without the arrays. Raises as `kind_of`."""
    with open(path, "rb") as file:
        content = _content(file, path)[0]
    try:
        return dict(content["meta"])
    except (KeyError, TypeError, ValueError) as error:
        raise ForeignFile(f"{path.name}: {error}") from error


def _header(file: BinaryIO, path: Path, kind: str, version: int) -> tuple[dict[str, Any], int]:
    """Return the header and the offset of the first array, after checking kind and version."""
    content, used = _content(file, path)
    found, number = content["kind"], content["version"]
    if found != kind:
        raise ForeignFile(f"{path.name} holds {found!r}, not {kind!r}")
    if number != version:
        raise OtherVersion(f"{path.name} has version {number} of {kind!r}, this version reads {version}")
    return content, used + -used % _ALIGN


def _content(file: BinaryIO, path: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a file of any kind, and its length including the prefix."""
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
