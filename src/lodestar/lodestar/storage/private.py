"""Folders and files that only their owner can read, because they contain pictures of homes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UnsafeFolder(Exception):
    """Error: other users could read or change the folder's content. The message says why and what to do."""


def state_home() -> Path:
    """Return this user's folder for Lodestar's state, by the XDG base directory specification."""
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"
    return base / "lodestar"


def cache_folder(name: str) -> Path:
    """Return the cache folder of this name, for data that can be made again.

    It lies in $LODESTAR_CACHE_DIR, else in the user's cache ($XDG_CACHE_HOME).
    """
    own = os.environ.get("LODESTAR_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(own) if own else Path(base) / "lodestar") / name


def private_folder(path: str | Path) -> Path:
    """Return the path of a folder that only its owner can read; missing folders are created with mode 0700.

    Raises UnsafeFolder if the path is a symbolic link, another file or another user's folder, or if others
    may write to it. Raises OSError if it cannot be created.
    """
    folder = Path(path).expanduser().absolute()
    if not folder.parent.exists():
        private_folder(folder.parent)
    try:
        folder.mkdir(FOLDER_MODE)
    except FileExistsError:
        _check(folder)
    return folder


def _check(folder: Path) -> None:
    found = folder.lstat()
    advice = "remove it or choose another folder"
    if stat.S_ISLNK(found.st_mode):
        raise UnsafeFolder(f"{folder} is a symbolic link: give the folder that it leads to, or {advice}")
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeFolder(f"{folder} is not a folder: {advice}")
    if found.st_uid != os.geteuid():
        raise UnsafeFolder(f"{folder} belongs to another user (uid {found.st_uid}): {advice}")
    if found.st_mode & _OTHERS_WRITE:
        raise UnsafeFolder(f"others may write to {folder}: chmod go-w {folder}, or {advice}")
