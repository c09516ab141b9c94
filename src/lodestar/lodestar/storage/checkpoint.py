"""Checkpoints that a process leaves for its successor in the same run of the stack."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lodestar.storage.archive import Archive, ForeignFile, read_archive, write_archive
from lodestar.storage.files import write_file
from lodestar.storage.private import private_folder


@dataclass(frozen=True)
class CheckpointConfig:
    """Location and period of a node's checkpoints. The program that starts the stack sets folder and run."""

    folder: str = ""  # of this run of the stack; "" = no checkpoints
    run: str = ""  # name of this run; checkpoints of other runs are ignored
    interval: float = 5.0  # seconds of real time between checkpoints; chosen: little is lost with a crash
    # largest share of real time for checkpoints, 0..1; chosen: large maps are saved less often
    share: float = 0.05

    def __post_init__(self) -> None:
        if self.interval <= 0.0 or not 0.0 < self.share <= 1.0:
            raise ValueError("interval must be above 0 and share above 0 and at most 1")


@dataclass(frozen=True)
class Kept:
    """A checkpoint that was read. age: seconds of real time since it was taken."""

    archive: Archive
    age: float


class Checkpoint:
    """One node's files in the folder of its run: `NAME.lodestar` with its state, `NAME.json` with notes.

    versions: the readable version of each kind of state; {} for a node that only has notes. The files survive
    the process (kill -9) but not a power cut, which ends the run anyway, so nothing is synced. Raises
    UnsafeFolder or OSError if the folder is not private or cannot be created.
    """

    def __init__(self, config: CheckpointConfig, name: str, versions: Mapping[str, int]) -> None:
        self.enabled = bool(config.folder and config.run)
        self._run, self._versions = config.run, versions
        self._path = self._notes_path = Path()
        self.notes: dict[str, Any] = {}
        self._noting = threading.Lock()
        self.restarted = False  # True if a process of this name has already run in this run
        if self.enabled:
            folder = private_folder(config.folder)
            self._path, self._notes_path = folder / f"{name}.lodestar", folder / f"{name}.json"
            found = self._read_notes()
            self.restarted = found is not None
            self.notes = found or {}
            self.note()

    def note(self, **values: Any) -> None:
        """Update the notes, which survive kill -9; the file is written only if a value changes. Thread-safe."""
        with self._noting:
            new = {**self.notes, **values}
            if self.enabled and (new != self.notes or not self._notes_path.exists()):
                content = json.dumps({"run": self._run, "notes": new}).encode()
                write_file(self._notes_path, [content], durable=False)
            self.notes = new

    def write(self, state: Archive) -> int:
        """Write a checkpoint of the state; return its bytes. Raises OSError; then the last one stays."""
        content = {"run": self._run, "taken": time.time(), "meta": state.meta}
        return write_archive(self._path, replace(state, meta=content), durable=False)

    def read(self) -> Kept | None:
        """Return the last checkpoint of this run, None if there is none.

        Raises ArchiveError, OSError for a bad file.
        """
        if not self.enabled or not self._path.exists():
            return None
        archive = read_archive(self._path, self._versions)
        try:
            run, taken, meta = archive.meta["run"], float(archive.meta["taken"]), dict(archive.meta["meta"])
        except (KeyError, TypeError, ValueError) as error:
            raise ForeignFile(f"{self._path.name} is no checkpoint: {error}") from error
        if run != self._run:
            return None
        return Kept(replace(archive, meta=meta), max(0.0, time.time() - taken))

    def _read_notes(self) -> dict[str, Any] | None:
        try:
            content = json.loads(self._notes_path.read_text())
            return dict(content["notes"]) if content["run"] == self._run else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
