"""Database of crops that wait for a model's description, and of the descriptions; it outlives the process."""

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

_WAITING, _KNOWN = 256, 8192  # most waiting crops and most descriptions stored, the newest; chosen
_SCHEMA = """
CREATE TABLE IF NOT EXISTS crops (key TEXT PRIMARY KEY, label TEXT, image BLOB, caption TEXT, attributes TEXT);
CREATE INDEX IF NOT EXISTS waiting ON crops (caption) WHERE caption IS NULL;
"""


@dataclass(frozen=True)
class Description:
    """Description of an object's appearance. caption: one clean line, "" = none. attributes: canonical
    lexicon names.
    """

    caption: str
    attributes: tuple[str, ...] = ()


def captions_home() -> Path:
    """Return the folder of the descriptions, shared by all nodes of this user."""
    return state_home() / "captions"


def book_file(folder: Path) -> Path:
    """Return the path of the database in a folder."""
    return folder / "captions.db"


def erase_book(folder: Path) -> None:
    """Erase the database in a folder, even while a node uses it; do nothing if there is none. Raises OSError.

    Forgotten content may be in any crop or description, and the database can be rebuilt, so all of it is erased.
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
    """Store of crops and their descriptions, so that no crop is sent to a model twice. Thread-safe.

    folder: None = in memory only. Raises UnsafeFolder, OSError, sqlite3.Error. Later write errors, such as a full
    disk, only log a warning and lose the data.
    """

    def __init__(self, folder: Path | None = None) -> None:
        file = ":memory:" if folder is None else str(book_file(private_folder(folder)))
        self._lock = threading.Lock()
        self._told = ""
        self._over: set[str] = set()  # keys of crops that no longer wait, although that could not be written
        self._db = sqlite3.connect(file, timeout=5.0, isolation_level=None, check_same_thread=False)
        if folder is not None:
            Path(file).chmod(0o600)
        self._db.executescript(_SCHEMA + "PRAGMA secure_delete = ON;")

    @staticmethod
    def key(label: str, image: bytes) -> str:
        """Return the key of a crop with its label."""
        return hashlib.sha256(label.encode("utf-8", "surrogatepass") + b"\0" + image).hexdigest()

    def known(self, key: str) -> Description | None:
        """Return the stored description of a crop, None if there is none."""
        with self._lock:
            row = self._db.execute("SELECT caption, attributes FROM crops WHERE key = ?", (key,)).fetchone()
        return Description(row[0], tuple(json.loads(row[1]))) if row and row[0] is not None else None

    def wait(self, key: str, label: str, image: bytes) -> None:
        """Store a crop that waits for its description; beyond the limit the oldest such crop is dropped."""
        row = "INSERT OR IGNORE INTO crops VALUES (?, ?, ?, NULL, NULL)"
        self._write((row, (key, label, image)), (_surplus("caption IS NULL", _WAITING), ()))

    def waiting(self, not_these: frozenset[str] = frozenset()) -> tuple[str, str, bytes] | None:
        """Return key, label and image of the crop that has waited longest; None if no crop waits. not_these: keys to
        skip.
        """
        not_these |= self._over
        with self._lock:
            rows = self._db.execute(
                "SELECT key, label, image FROM crops WHERE caption IS NULL ORDER BY rowid LIMIT ?",
                (len(not_these) + 1,),
            ).fetchall()
        return next((tuple(row) for row in rows if row[0] not in not_these), None)

    @property
    def era(self) -> int:
        """Return the number of times that the database was erased."""
        with self._lock:
            return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def describe(self, key: str, description: Description, era: int | None = None) -> None:
        """Store the description of a crop in place of its image, even if the crop was dropped meanwhile.

        era: value of `era` when the crop was taken; after an erasure the description is discarded. None = the present
        era.
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
        """Remove a crop that cannot be described."""
        if not self._write(("DELETE FROM crops WHERE key = ?", (key,))):
            self._over.add(key)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def _write(self, *statements: tuple[str, tuple]) -> bool:
        """Execute SQL statements; return whether they succeeded."""
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
    """Return the SQL statement that deletes the oldest rows beyond `most`. which: SQL condition."""
    newest = f"SELECT rowid FROM crops WHERE {which} ORDER BY rowid DESC LIMIT 1 OFFSET {most}"
    return f"DELETE FROM crops WHERE {which} AND rowid <= ({newest})"
