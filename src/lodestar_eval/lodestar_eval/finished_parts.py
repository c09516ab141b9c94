"""Finished parts of a benchmark, kept in a private folder, so that a run goes on where an earlier one ended."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import lodestar
import lodestar_eval
import lodestar_sim
from lodestar.storage.files import write_file
from lodestar.storage.private import UnsafeFolder, private_folder
from lodestar_bringup.places import config_folder
from lodestar_eval.registry import BadOptions

P = TypeVar("P")


@dataclass(frozen=True)
class FinishedParts:
    """folder: this user's own, because parts are pickles, which could run code; None = nothing is kept. settings: all
    that a part depends on besides its name, its configuration and the code, whose files are compared; their repr tells
    it.
    """

    folder: Path | None
    settings: object

    def part(self, name: str, make: Callable[[], P]) -> P:
        """Return the part that the folder has under this name and settings, else the one that is made and kept.

        Raises BadOptions for a folder or a part that is not this user's own.
        """
        if self.folder is None:
            return make()
        made_of = hashlib.sha256(repr((name, self.settings, _code())).encode()).hexdigest()[:12]
        try:
            path = private_folder(self.folder) / f"{name}-{made_of}.pickle"
        except UnsafeFolder as error:
            raise BadOptions(str(error)) from error
        if path.is_symlink() or (path.exists() and path.stat().st_uid != os.geteuid()):
            raise BadOptions(f"{path} is a link or belongs to another user; remove it")
        if path.exists():
            part: P = pickle.loads(path.read_bytes())
            return part
        part = make()
        write_file(path, [pickle.dumps(part, 5)], durable=False)
        return part

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a report says of parts that are kept."""
        if self.folder is None:
            return ()
        return (
            f"Parts that an earlier run of the same code made come from {self.folder}; wall times are of this run.",
        )


@lru_cache(maxsize=1)
def _code() -> str:
    """Return the digest of the sources and profiles that a part is made with."""
    folders = [Path(package.__path__[0]) for package in (lodestar, lodestar_sim, lodestar_eval)]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    made_of = hashlib.sha256()
    for file in (*files, *sorted(config_folder().rglob("*.yaml"))):
        made_of.update(f"{file.name}\n".encode() + file.read_bytes())
    return made_of.hexdigest()
