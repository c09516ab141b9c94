"""Crops that wait for a model's description, and descriptions that it gave: a database that outlives the process."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from lodestar.storage.private import private_folder, state_home

_log = logging.getLogger(__name__)

_WAITING, _KNOWN = 256, 8192  # crops and descriptions that are kept at most, the newest; chosen
_SCHEMA = """
CREATE TABLE IF NOT EXISTS crops (key TEXT PRIMARY KEY, label TEXT, image BLOB, caption TEXT, attributes TEXT);
CREATE INDEX IF NOT EXISTS waiting ON crops (caption) WHERE caption IS NULL;
"""


@dataclass(frozen=True)
class Description:
    """Appearance of an object. caption: one clean line, "" = none. attributes: canonical names of the lexicon."""

    caption: str
    attributes: tuple[str, ...] = ()


def captions_home() -> Path:
    """Return the folder of the descriptions that all nodes of this user share."""
    return state_home() / "captions"


def book_file(folder: Path) -> Path:
    """Return the file of the descriptions in a folder."""
    return folder / "captions.db"


def erase_book(folder: Path) -> None:
    """Erase what is kept in a folder, also while a node uses it; nothing where there is no book. Raises OSError.

    Whatever was forgotten may be in a crop or in words about it, and a book can be made again: all of it goes.
    """
    file = book_file(folder)
    if not file.is_file():
        return
    try:
        with contextlib.closing(sqlite3.connect(file, timeout=5.0, isolation_level=None)) as database:
            database.execute("PRAGMA secure_delete = ON")
            era = database.execute("PRAGMA user_version").fetchone()[0]
            database.execute(f"PRAGMA user_version = {int(era) + 1}")
            database.execute("DELETE FROM crops")
            database.execute("VACUUM")
    except sqlite3.Error as error:
        raise OSError(f"descriptions of images: {error}") from error


class CaptionBook:
    """Keeps every crop until it is described, and what was said of it: no crop is paid for twice. Thread-safe.

    folder: None = in memory alone. Raises UnsafeFolder, OSError, sqlite3.Error; what cannot be written later, as on a
    full disk, is not kept, with a warning.
    """

    def __init__(self, folder: Path | None = None) -> None:
        file = ":memory:" if folder is None else str(book_file(private_folder(folder)))
        self._lock = threading.Lock()
        self._told = ""
        self._over: set[str] = set()  # crops that wait no more, though that could not be written
        self._db = sqlite3.connect(file, timeout=5.0, isolation_level=None, check_same_thread=False)
        if folder is not None:
            Path(file).chmod(0o600)
        self._db.executescript(_SCHEMA + "PRAGMA secure_delete = ON;")

    @staticmethod
    def key(label: str, image: bytes) -> str:
        """Return the name of a crop with its label."""
        return hashlib.sha256(label.encode("utf-8", "surrogatepass") + b"\0" + image).hexdigest()

    def known(self, key: str) -> Description | None:
        """Return what was said of a crop."""
        with self._lock:
            row = self._db.execute("SELECT caption, attributes FROM crops WHERE key = ?", (key,)).fetchone()
        return Description(row[0], tuple(json.loads(row[1]))) if row and row[0] is not None else None

    def wait(self, key: str, label: str, image: bytes) -> None:
        """Keep a crop until it is described; beyond the limit the oldest is dropped."""
        row = "INSERT OR IGNORE INTO crops VALUES (?, ?, ?, NULL, NULL)"
        self._write((row, (key, label, image)), (_surplus("caption IS NULL", _WAITING), ()))

    def waiting(self, not_these: frozenset[str] = frozenset()) -> tuple[str, str, bytes] | None:
        """Return key, label and image of the crop that waits longest; None where none does."""
        not_these |= self._over
        with self._lock:
            rows = self._db.execute(
                "SELECT key, label, image FROM crops WHERE caption IS NULL ORDER BY rowid LIMIT ?",
                (len(not_these) + 1,),
            ).fetchall()
        return next((tuple(row) for row in rows if row[0] not in not_these), None)

    @property
    def era(self) -> int:
        """Return how often what is kept was erased."""
        with self._lock:
            return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def describe(self, key: str, description: Description, era: int | None = None) -> None:
        """Keep what was said of a crop, in place of its image; of one that was dropped meanwhile too.

        era: in which the crop was taken; what was asked before an erasure is not kept. None = this one.
        """
        if era is not None and era != self.era:
            return
        attributes = json.dumps(description.attributes)
        row = (
            "INSERT INTO crops VALUES (?, '', NULL, ?, ?) ON CONFLICT(key) DO UPDATE SET "
            "image = NULL, caption = excluded.caption, attributes = excluded.attributes"
        )
        said = key, description.caption, attributes
        if not self._write((row, said), (_surplus("caption IS NOT NULL", _KNOWN), ())):
            self._over.add(key)

    def drop(self, key: str) -> None:
        """Forget a crop of which nothing can be said."""
        if not self._write(("DELETE FROM crops WHERE key = ?", (key,))):
            self._over.add(key)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def _write(self, *statements: tuple[str, tuple]) -> bool:
        """Carry out statements; return whether they could be."""
        with self._lock:
            try:
                for statement, values in statements:
                    self._db.execute(statement, values)
                self._told = ""
                return True
            except sqlite3.Error as error:
                if self._told != str(error):
                    self._told = str(error)
                    _log.warning("descriptions are not kept: %s", error)
                return False


def _surplus(which: str, most: int) -> str:
    """Return the statement that drops the oldest beyond a number."""
    newest = f"SELECT rowid FROM crops WHERE {which} ORDER BY rowid DESC LIMIT 1 OFFSET {most}"
    return f"DELETE FROM crops WHERE {which} AND rowid <= ({newest})"
