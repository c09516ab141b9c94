"""A folder that holds one snapshot of several files and changes to the next in one step.

`CURRENT` names the snapshot that counts, a sub-folder with a manifest of its files and their sizes. A new one is
written beside it; it counts from the moment in which `CURRENT` is replaced. A crash before that leaves the old one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lodestar.storage.archive import ForeignFile, OtherVersion, sync_folder, write_file

CURRENT = "CURRENT"
MANIFEST = "manifest.json"
FORMAT = "lodestar-map"
VERSION = 1
_NAME = re.compile(r"^snapshot-(\d{6,})$")


class BadFolder(Exception):
    """The path cannot hold a snapshot; the message says why."""


class SnapshotFolder:
    """One folder of snapshots. Only one process at a time may write it."""

    def __init__(self, path: str | Path) -> None:
        if not str(path).strip():
            raise BadFolder("no path was given")
        self.path = Path(path).expanduser().absolute()

    def begin(self) -> Path:
        """A new, empty folder for the parts of the next snapshot; what crashes left behind is removed.

        Raises BadFolder where something else lies at the path, OSError where it cannot be written.
        """
        if self.path.exists() and not self.path.is_dir():
            raise BadFolder(f"{self.path} is a file")
        if self.path.is_dir() and any(self.path.iterdir()) and not self._is_ours():
            raise BadFolder(f"{self.path} is not empty and holds no map; give a folder of its own")
        self.path.mkdir(parents=True, exist_ok=True)
        self._sweep(self._named())
        numbers = [int(found[1]) for child in self.path.iterdir() if (found := _NAME.match(child.name))]
        part = self.path / f"snapshot-{max(numbers, default=0) + 1:06d}"
        part.mkdir()
        return part

    def commit(self, part: Path, meta: Mapping[str, Any]) -> int:
        """From now on the snapshot in `part` counts, and the one before is removed. Returns its bytes."""
        files = sorted(path for path in part.rglob("*") if path.is_file() and path.name != MANIFEST)
        sizes = {path.relative_to(part).as_posix(): path.stat().st_size for path in files}
        content = {"format": FORMAT, "version": VERSION, "meta": dict(meta), "files": sizes}
        for folder in {path.parent for path in files}:
            sync_folder(folder)
        write_file(part / MANIFEST, [json.dumps(content, indent=1).encode()])
        sync_folder(self.path)
        write_file(self.path / CURRENT, [part.name.encode() + b"\n"])
        self._sweep(part.name)
        return sum(sizes.values())

    def discard(self, part: Path) -> None:
        """Forget a snapshot that did not come about."""
        if part.name != self._named():
            shutil.rmtree(part, ignore_errors=True)

    def open(self) -> tuple[Path, dict[str, Any]]:
        """Folder and meta of the snapshot that counts, all of whose files are there in their full size.

        Raises BadFolder where there is none, ForeignFile for a damaged or foreign one, OtherVersion.
        """
        if not self.path.is_dir():
            raise BadFolder(f"there is no folder {self.path}")
        name = self._named()
        if not name:
            raise ForeignFile(f"{self.path} holds no map")
        part = self.path / name
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
            path = part / file
            found = path.stat().st_size if path.is_file() else -1
            if found != size or os.path.isabs(file) or ".." in Path(file).parts:
                raise ForeignFile(f"{file} of {part} has {max(found, 0)} of {size} bytes")
        return part, meta

    def _is_ours(self) -> bool:
        """Whether there are only a snapshot's traces, as one that crashed leaves them too."""
        names = {child.name for child in self.path.iterdir()}
        return all(_NAME.match(name) or name in (CURRENT, f".{CURRENT}.part") for name in names)

    def _named(self) -> str:
        try:
            name = (self.path / CURRENT).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return name if _NAME.match(name) else ""

    def _sweep(self, kept: str) -> None:
        for child in self.path.iterdir():
            if _NAME.match(child.name) and child.name != kept:
                shutil.rmtree(child, ignore_errors=True)
