"""Functions that write files: atomically, durably if requested, and readable by their owner alone."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lodestar.storage.private import FILE_MODE


@contextmanager
def whole_file(path: Path, *, durable: bool = True, replace: bool = True) -> Iterator[Path]:
    """Yield the path of an empty file to write; it replaces `path` when the block ends without an error.

    durable: the file then survives a power cut. replace: an existing file may be replaced; otherwise it is
    not changed and FileExistsError is raised. If several processes write the file, the last one wins; each
    writes its own temporary file `.NAME.TOKEN.part`, which remains after a crash.
    """
    if not replace and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    # exclusive creation refuses a symbolic link of that name
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    try:
        yield unfinished
        if durable:
            sync_path(unfinished)
        if replace:
            os.replace(unfinished, path)
        else:
            _put_beside(unfinished, path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    if durable:
        sync_path(path.parent)


def _put_beside(source: Path, target: Path) -> None:
    """Rename the source to the target, or raise FileExistsError if the target exists."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # the file system has no hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.rename(source, target)
    else:
        with suppress(OSError):
            source.unlink()


def write_file(path: Path, chunks: Iterable[Any], *, durable: bool = True, replace: bool = True) -> int:
    """Write the chunks of bytes to `path` atomically. Returns the number of bytes written; see `whole_file`."""
    written = 0
    with whole_file(path, durable=durable, replace=replace) as unfinished, open(unfinished, "wb") as out:
        for chunk in chunks:
            written += out.write(chunk)
    return written


def link_file(source: Path, target: Path) -> None:
    """Hard-link the source to a new target, or copy it to another file system; only the owner can read it.

    Neither file is ever written in place, so a change of one does not affect the other.
    """
    try:
        os.link(source, target)
        target.chmod(FILE_MODE)
    except FileExistsError:
        raise
    except OSError:
        write_file(target, [source.read_bytes()], durable=False)


def sync_tree(folder: Path) -> None:
    """Make every file and folder below a folder, and the folder itself, durable (fsync). Raises OSError."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync_path(Path(parent, name))
        sync_path(Path(parent))


def sync_path(path: Path) -> None:
    """Make a file's content, or a folder's entries, durable (fsync). Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write all bytes to an open file. Raises OSError; a part may have been written then."""
    done = os.write(handle, data)
    while done < len(data):  # a full disk accepts a part of the data, then refuses the rest
        done += os.write(handle, data[done:])


def append(handle: int, data: bytes) -> None:
    """Write data at the end of a file open for appending. Raises OSError; then the file is unchanged."""
    size = os.fstat(handle).st_size
    try:
        write_all(handle, data)
    except OSError:
        os.ftruncate(handle, size)
        raise


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file. Raises OSError; then the file is unchanged.

    If the last line is incomplete after a crash, it is ended first.
    """
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)  # before the umask
    try:
        size = os.fstat(handle).st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        append(handle, b"\n" * torn + line + b"\n")
    finally:
        os.close(handle)
