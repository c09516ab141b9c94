"""Lock by which one process owns the memory's folder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import ForeignStore, StoreFull, StoreLocked, StoreUnwritable
from lodestar.storage.lock_holders import holder_of
from lodestar.storage.private import FILE_MODE, UnsafeFolder, private_folder

_LOCK = "LOCK"


class StoreOwner:
    """Holds the folder's lock until `close`, or until the process ends for any reason.

    Raises StoreLocked if another process holds it, ForeignStore, StoreUnwritable, StoreFull.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            private_folder(folder)
            self._handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        except UnsafeFolder as error:
            raise ForeignStore(f"the memory cannot be kept there: {error}") from error
        except NotADirectoryError as error:
            raise ForeignStore(
                f"{folder} cannot be a folder ({error}); choose another one for the memory"
            ) from error
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise StoreFull(
                    f"the disk of {folder} is full: free some space and start the memory again"
                ) from error
            raise StoreUnwritable(
                f"{folder} cannot be written ({error.strerror}): give it to this user, mount it "
                f"writable, or choose another "
                "folder for the memory"
            ) from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            said = _owner(self._handle)
            self.close()
            holder = holder_of(folder / _LOCK) or said
            raise StoreLocked(
                f"the memory in {folder} is open in {holder}, which holds {folder / _LOCK}: end that process, or "
                "choose another folder (store.folder); another program asks through the memory node"
            ) from None
        self._say()

    def close(self) -> None:
        """Release the folder. Safe to repeat."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _say(self) -> None:
        """Write this process into the lock file. On a full disk the lock holds without it."""
        name = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
        text = json.dumps({"pid": os.getpid(), "program": name, "since": time.strftime("%Y-%m-%d %H:%M:%S")})
        try:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, text.encode(), 0)
        except OSError:
            return


def check_owner(head: dict[str, Any], config: StoreConfig, where: str) -> None:
    """Raise ForeignStore unless the memory belongs to this robot and its vectors to the configured text model."""
    if head.get("robot") != config.robot:
        raise ForeignStore(
            f"{where} holds the memory of the robot {head.get('robot')!r}, and this one is {config.robot!r}: give "
            "the folder of this robot, or set its name (robot) back"
        )
    if head.get("dimension") != config.dimension:
        raise ForeignStore(
            f"the vectors in {where} have {head.get('dimension')} values and the text model gives "
            f"{config.dimension}: take the model that the memory was made with, or export it and import it into a "
            "new folder"
        )


def _owner(handle: int) -> str:
    """Return the process named in the lock file; it may run in another container or computer."""
    try:
        said = json.loads(os.pread(handle, 1000, 0))
        return f"process {int(said['pid'])} ({said['program']}, since {said['since']}) elsewhere"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process, which cannot be seen from here"
