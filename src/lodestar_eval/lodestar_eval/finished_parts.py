"""Finished parts of a benchmark, kept in a private folder, so that a run goes on where an earlier one ended."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lodestar.storage.files import write_file
from lodestar.storage.private import UnsafeFolder, private_folder
from lodestar_eval.registry import BadOptions

P = TypeVar("P")


@dataclass(frozen=True)
class FinishedParts:
    """folder: this user's own, because parts are pickles, which could run code; None = nothing is kept. settings: all
    that a part depends on besides its name, and whose repr tells it, but for the code.
    """

    folder: Path | None
    settings: object

    def part(self, name: str, make: Callable[[], P]) -> P:
        """Return the part that the folder has under this name and settings, else the one that is made and kept.

        Raises BadOptions for a folder or a part that is not this user's own.
        """
        if self.folder is None:
            return make()
        made_of = hashlib.sha256(repr((name, self.settings)).encode()).hexdigest()[:12]
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
