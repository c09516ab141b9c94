"""Search for the process that holds a locked file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_LONGEST = 100  # most characters shown of a command line


def holder_of(path: Path, besides: int = 0) -> str:
    """Return the process that locks or opened a file: "process 4711 (memory --ros-args)"; "" = unknown.

    Close your own handles first, or pass your process id as `besides`. A process of another user is found
    only by its lock, and a process outside of this container not at all. Works on Linux only; "" elsewhere.
    """
    try:
        status = path.stat()
    except OSError:
        return ""
    pid = next((pid for look in (_lockers, _openers) for pid in look(status) if pid != besides), 0)
    return f"process {pid} ({command_of(pid)})" if pid else ""


def command_of(pid: int) -> str:
    """Return the command line of a process, shortened and on one line; its name if it has none."""
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        words[0] = words[0].rsplit("/", 1)[-1]
        line = " ".join(" ".join(words).split())
        line = line or (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return "ended meanwhile"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _lockers(status: os.stat_result) -> Iterator[int]:
    """Yield the ids of processes with a lock on the file.

    Locks are found by the file's inode, which files on other devices may share. Of several processes, those
    that have the file open come first, then those with a lock on its device.
    """
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    found = []
    try:
        lines = (_PROC / "locks").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        # 1: FLOCK ADVISORY WRITE 4711 fe:00:2293955 0 EOF; waiting locks have "->" before the kind
        words = line.split()
        place = words[5].rsplit(":", 1) if len(words) > 5 and words[1] != "->" else ("", "")
        if place[1] == str(status.st_ino) and words[4].isdigit() and int(words[4]) > 0:
            found.append((place[0] != device, int(words[4])))
    openers = set(_openers(status)) if len(found) > 1 else set()
    yield from (pid for _, pid in sorted(found, key=lambda one: (one[1] not in openers, one[0])))


def _openers(status: os.stat_result) -> Iterator[int]:
    """Yield the ids of this user's processes that have the file open."""
    for folder in _PROC.glob("[0-9]*/fd"):
        try:
            links = list(folder.iterdir())
        except OSError:  # the process belongs to another user, or has ended
            continue
        if any(_is(link, status) for link in links):
            yield int(folder.parent.name)


def _is(link: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(status, link.stat())
    except OSError:  # the file was closed meanwhile
        return False
