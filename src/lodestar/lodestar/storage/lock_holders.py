"""The process that holds a file which is locked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_LONGEST = 100  # characters of a command line that are told


def holder_of(path: Path, besides: int = 0) -> str:
    """Return who has locked a file, as "process 4711 (memory --ros-args)", or else who has it open; "" if unknown.

    Close a handle of your own first, or name your process in `besides`. A process of another user is seen by its lock
    alone, and one outside of this container not at all. Linux only; elsewhere nobody is known.
    """
    try:
        status = path.stat()
    except OSError:
        return ""
    pid = next((pid for look in (_lockers, _openers) for pid in look(status) if pid != besides), 0)
    return f"process {pid} ({command_of(pid)})" if pid else ""


def command_of(pid: int) -> str:
    """Return the command line of a process, shortened and on one line; its name where it has none."""
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        words[0] = words[0].rsplit("/", 1)[-1]
        line = " ".join(" ".join(words).split())
        line = line or (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return "ended meanwhile"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _lockers(status: os.stat_result) -> Iterator[int]:
    """Yield processes with a lock on the file, by its inode; the device tells apart where several have it."""
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    found = []
    try:
        lines = (_PROC / "locks").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        words = (
            line.split()
        )  # 1: FLOCK ADVISORY WRITE 4711 fe:00:2293955 0 EOF; waiting ones have "->" before the kind
        place = words[5].rsplit(":", 1) if len(words) > 5 and words[1] != "->" else ("", "")
        if place[1] == str(status.st_ino) and words[4].isdigit() and int(words[4]) > 0:
            found.append((place[0] != device, int(words[4])))
    openers = set(_openers(status)) if len(found) > 1 else set()
    yield from (pid for _, pid in sorted(found, key=lambda one: (one[1] not in openers, one[0])))


def _openers(status: os.stat_result) -> Iterator[int]:
    """Yield the processes of this user that have the file open."""
    for folder in _PROC.glob("[0-9]*/fd"):
        try:
            links = list(folder.iterdir())
        except OSError:  # of another user, or it has ended
            continue
        if any(_is(link, status) for link in links):
            yield int(folder.parent.name)


def _is(link: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(status, link.stat())
    except OSError:  # closed meanwhile
        return False
