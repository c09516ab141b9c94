"""Store of finished parts of a benchmark in a private folder, so that a later run continues an interrupted one."""

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
    """Store of the finished parts of a benchmark by name, such as the results of one building.

    folder: must belong to this user, because parts are pickles, which can run code; None = nothing is kept.
    settings: all values besides name, configuration and code that a part depends on; compared by their repr. Code
    is compared by its files.
    """

    folder: Path | None
    settings: object

    def part(self, name: str, make: Callable[[], P]) -> P:
        """Return the stored part with this name and the same settings; else make, store and return it.

        Raises BadOptions if the folder or a part does not belong to this user.
        """
        if self.folder is None:
            return make()
        made_of = hashlib.sha256(repr((name, self.settings, code_digest())).encode()).hexdigest()[:12]
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
        """Return the notes of a report about reused parts."""
        if self.folder is None:
            return ()
        return (
            f"Parts that an earlier run of the same code made come from {self.folder}; wall times are of this run.",
        )


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return the digest of the sources and profiles that parts depend on."""
    folders = [Path(package.__path__[0]) for package in (lodestar, lodestar_sim, lodestar_eval)]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    made_of = hashlib.sha256()
    for file in (*files, *sorted(config_folder().rglob("*.yaml"))):
        made_of.update(f"{file.name}\n".encode() + file.read_bytes())
    return made_of.hexdigest()
