"""Folder with the last snapshots of a set of files; a new snapshot becomes valid atomically.

`CURRENT` names the valid snapshot: a sub-folder with a manifest of its files and their sizes. A new snapshot
is written beside it and becomes valid when `CURRENT` is replaced. After a crash before that, the old one
stays valid. Older snapshots are kept up to a limit; each can be opened by its own path.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lodestar.storage.archive import ForeignFile, OtherVersion
from lodestar.storage.files import sync_path, sync_tree, write_file
from lodestar.storage.private import FOLDER_MODE

CURRENT = "CURRENT"
MANIFEST = "manifest.json"
FORMAT = "lodestar-map"
VERSION = 1
KEEP = 5  # snapshots; chosen: enough to return to a map before a mistake
_NAME = re.compile(r"^snapshot-(\d{6,})$")
# temporary files of `storage.files`, also of earlier versions
_PART = re.compile(rf"^\.{CURRENT}\.([0-9a-f]+\.)?part$")


class BadFolder(Exception):
    """Error: the path cannot hold a snapshot. The message says why."""


class SnapshotFolder:
    """One folder of snapshots. Only one process at a time may write it.

    keep: number of snapshots kept, including the current one.
    """

    def __init__(self, path: str | Path, keep: int = KEEP) -> None:
        if not str(path).strip():
            raise BadFolder("no path was given")
        if keep < 1:
            raise ValueError("keep must be at least 1 snapshot")
        self.path = Path(path).expanduser().absolute()
        self._keep = keep

    def begin(self) -> Path:
        """Create an empty folder for the files of the next snapshot; return its path.

        Removes leftovers of crashes. Raises BadFolder if something else lies at the path, OSError if it
        cannot be written.
        """
        if self.path.exists() and not self.path.is_dir():
            raise BadFolder(f"{self.path} is a file")
        if _NAME.match(self.path.name) and (self.path / MANIFEST).exists():
            raise BadFolder(f"{self.path} is one save of a map; save to {self.path.parent}")
        if self.path.is_dir() and any(self.path.iterdir()) and not self._is_ours():
            raise BadFolder(f"{self.path} is not empty and holds no map; give an empty or new folder")
        for folder in (*reversed(self.path.parents), self.path):
            if not folder.exists():
                folder.mkdir(FOLDER_MODE)
                sync_path(folder.parent)
        self._sweep()
        numbers = [_number(child) for child in self._snapshots()]
        part = self.path / f"snapshot-{max(numbers, default=0) + 1:06d}"
        part.mkdir(FOLDER_MODE)
        return part

    def commit(self, part: Path, meta: Mapping[str, Any]) -> int:
        """Make the snapshot in `part` the valid one and remove the oldest beyond `keep`; return its bytes.

        All files and folders are synced before the manifest is written, and the manifest before `CURRENT` is
        replaced.
        """
        files = sorted(path for path in part.rglob("*") if path.is_file() and path.name != MANIFEST)
        sizes = {path.relative_to(part).as_posix(): path.stat().st_size for path in files}
        content = {"format": FORMAT, "version": VERSION, "meta": dict(meta), "files": sizes}
        sync_tree(part)
        write_file(part / MANIFEST, [json.dumps(content, indent=1).encode()])
        sync_path(self.path)
        write_file(self.path / CURRENT, [part.name.encode() + b"\n"])
        with suppress(OSError):  # the snapshot is saved; the next save removes old ones again
            self._sweep()
        return sum(sizes.values())

    def discard(self, part: Path) -> None:
        """Remove the folder of an unfinished snapshot."""
        if part.name != self._named():
            shutil.rmtree(part, ignore_errors=True)

    def open(self) -> tuple[Path, dict[str, Any]]:
        """Return the folder and the meta of the valid snapshot. Raises BadFolder, ForeignFile, OtherVersion.

        Every file directly in the folder has its full size; sub-folders are checked by their readers, which
        may leave out damaged files. If the path is itself a snapshot, such as an older one, that snapshot is
        returned. BadFolder: there is no folder. ForeignFile: it holds no snapshot, or a damaged one.
        """
        if not self.path.is_dir():
            raise BadFolder(f"there is no folder {self.path}")
        if _NAME.match(self.path.name) and (self.path / MANIFEST).is_file():
            part = self.path
        elif name := self._named():
            part = self.path / name
        else:
            raise ForeignFile(f"{self.path} holds no map")
        try:
            content = json.loads((part / MANIFEST).read_text())
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            version, sizes, meta = content["version"], dict(content["files"]), dict(content["meta"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ForeignFile(f"the manifest of {part} cannot be read: {error}") from error
        if version != VERSION:
            raise OtherVersion(f"{self.path} has version {version}, this version reads {VERSION}")
        for file, size in sizes.items():
            path, parts = part / file, Path(file).parts
            found = path.stat().st_size if path.is_file() else -1
            if os.path.isabs(file) or ".." in parts or (len(parts) == 1 and found != size):
                raise ForeignFile(f"{file} of {part} has {max(found, 0)} of {size} bytes")
        return part, meta

    def meta(self) -> dict[str, Any]:
        """Return the meta of the valid snapshot's manifest without checking its files; {} if there is none."""
        try:
            return dict(json.loads((self.path / self._named() / MANIFEST).read_text())["meta"])
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _is_ours(self) -> bool:
        """Return whether the folder contains nothing but snapshot files, complete or left by a crash."""
        names = {child.name for child in self.path.iterdir()}
        return all(_NAME.match(name) or name == CURRENT or _PART.match(name) for name in names)

    def _named(self) -> str:
        try:
            name = (self.path / CURRENT).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return name if _NAME.match(name) else ""

    def _snapshots(self) -> list[Path]:
        """Return the folders of snapshots, oldest first, complete or not."""
        return sorted((child for child in self.path.iterdir() if _NAME.match(child.name)), key=_number)

    def _sweep(self) -> None:
        """Remove leftovers of crashes, and the oldest snapshots beyond `keep`."""
        current = self._named()
        whole = [part for part in self._snapshots() if (part / MANIFEST).is_file()]
        others = [part.name for part in whole if part.name != current]
        kept = {current, *others[max(0, len(others) - self._keep + 1) :]}
        for part in self._snapshots():
            if part.name not in kept:
                shutil.rmtree(part, ignore_errors=True)


def _number(part: Path) -> int:
    found = _NAME.match(part.name)
    return int(found[1]) if found else 0
