"""What a process keeps for its successor in the same run of the stack."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.storage.archive import Archive, ForeignFile, read_archive, write_archive
from lodestar.storage.private import private_folder, write_private


@dataclass(frozen=True)
class CheckpointConfig:
    """Where a node keeps its part for the case of its death, and how often. The starter gives folder and run."""

    folder: str = ""  # of this run of the stack; empty = no checkpoints
    run: str = ""  # name of this run; a checkpoint of another run is never taken up
    interval: float = 5.0  # s of real time from the end of a checkpoint to the next
    share: float = 0.05  # of real time that checkpoints may take; a large map is kept less often

    def __post_init__(self) -> None:
        if self.interval <= 0.0 or not 0.0 < self.share <= 1.0:
            raise ValueError("interval must be above 0 and share above 0 and at most 1")


@dataclass(frozen=True)
class Kept:
    """A checkpoint. age: seconds of real time since it was taken."""

    archive: Archive
    age: float


class Checkpoint:
    """One node's files in the folder of its run: `NAME.lodestar` with its part, `NAME.json` with notes.

    They survive the process (kill -9), not a power cut: nothing is synced, because the run would be over as well.
    Raises UnsafeFolder, OSError where the folder is not private or cannot be made.
    """

    def __init__(self, config: CheckpointConfig, name: str, kind: str, version: int) -> None:
        self.enabled = bool(config.folder and config.run)
        self._run, self._kind, self._version = config.run, kind, version
        self._path = self._notes_path = Path()
        self.notes: dict[str, Any] = {}
        self.restarted = False  # whether a process of this name was there before in this run
        if self.enabled:
            folder = private_folder(config.folder)
            self._path, self._notes_path = folder / f"{name}.lodestar", folder / f"{name}.json"
            found = self._read_notes()
            self.restarted = found is not None
            self.notes = found or {}
            self.note()

    def note(self, **values: Any) -> None:
        """The notes have these values from now on, also after a kill -9; written only where something is new."""
        new = {**self.notes, **values}
        if self.enabled and (new != self.notes or not self._notes_path.exists()):
            write_private(self._notes_path, json.dumps({"run": self._run, "notes": new}).encode())
        self.notes = new

    def write(self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> int:
        """This is the part to go on from. Returns its bytes. Raises OSError; then the one before stays."""
        content = {"run": self._run, "taken": time.time(), "meta": dict(meta)}
        return write_archive(self._path, self._kind, self._version, content, arrays, durable=False)

    def read(self) -> Kept | None:
        """Return the last part of this run, None where there is none. Raises ArchiveError, OSError for a bad file."""
        if not self.enabled or not self._path.exists():
            return None
        archive = read_archive(self._path, self._kind, self._version)
        try:
            run, taken, meta = archive.meta["run"], float(archive.meta["taken"]), dict(archive.meta["meta"])
        except (KeyError, TypeError, ValueError) as error:
            raise ForeignFile(f"{self._path.name} is no checkpoint: {error}") from error
        if run != self._run:
            return None
        return Kept(Archive(meta, archive.arrays), max(0.0, time.time() - taken))

    def _read_notes(self) -> dict[str, Any] | None:
        try:
            content = json.loads(self._notes_path.read_text())
            return dict(content["notes"]) if content["run"] == self._run else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
