"""Folder of one run of the stack, with the checkpoints that nodes leave for their successors."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lodestar.storage.private import FILE_MODE, UnsafeFolder, private_folder, state_home

RUNS = "runs"
LOCK = "LOCK"
_PREFIX = "run-"


class RunFolder:
    """Private folder with an unpredictable name that exists as long as its run.

    `close` removes it. The folder of a killed run is removed by the same user's next run: the kernel releases
    the lock of a process that ends, so an unlocked folder belongs to no running process.
    """

    def __init__(self, home: Path | None = None) -> None:
        try:
            runs = private_folder((home or state_home()) / RUNS)
        except (OSError, UnsafeFolder):
            if home is not None:
                raise
            runs = Path(tempfile.mkdtemp(prefix="lodestar-"))  # the user has no home folder
        with _locked(runs / LOCK):
            _remove_dead(runs)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=runs))
            self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, FILE_MODE)
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    @property
    def name(self) -> str:
        """Return the run's unique name."""
        return self.path.name

    def close(self) -> None:
        """Remove the folder and everything in it. Safe to repeat."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file in a block, in which no other process creates or removes a run's folder."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove_dead(runs: Path) -> None:
    for folder in runs.glob(f"{_PREFIX}*"):
        try:
            handle = os.open(folder / LOCK, os.O_RDWR)
        except FileNotFoundError:  # the process was killed before it had a lock
            shutil.rmtree(folder, ignore_errors=True)
            continue
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # the run is still active
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)
