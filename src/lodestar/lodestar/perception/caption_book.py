"""Crops that wait for a model's description, and descriptions that it gave: a database that outlives the process."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from lodestar.storage.private import private_folder

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


class CaptionBook:
    """Keeps every crop until it is described, and what was said of it: no crop is paid for twice. Thread-safe.

    folder: None = in memory alone. Raises UnsafeFolder, OSError, sqlite3.Error.
    """

    def __init__(self, folder: Path | None = None) -> None:
        file = ":memory:" if folder is None else str(private_folder(folder) / "captions.db")
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, timeout=5.0, isolation_level=None, check_same_thread=False)
        if folder is not None:
            Path(file).chmod(0o600)
        self._db.executescript(_SCHEMA)

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
        with self._lock:
            self._db.execute("INSERT OR IGNORE INTO crops VALUES (?, ?, ?, NULL, NULL)", (key, label, image))
            self._bound("caption IS NULL", _WAITING)

    def waiting(self, not_these: frozenset[str] = frozenset()) -> tuple[str, str, bytes] | None:
        """Return key, label and image of the crop that waits longest; None where none does."""
        with self._lock:
            rows = self._db.execute(
                "SELECT key, label, image FROM crops WHERE caption IS NULL ORDER BY rowid LIMIT ?",
                (len(not_these) + 1,),
            ).fetchall()
        return next((tuple(row) for row in rows if row[0] not in not_these), None)

    def describe(self, key: str, description: Description) -> None:
        """Keep what was said of a crop, in place of its image; of one that was dropped meanwhile too."""
        attributes = json.dumps(description.attributes)
        with self._lock:
            self._db.execute(
                "INSERT INTO crops VALUES (?, '', NULL, ?, ?) ON CONFLICT(key) DO UPDATE SET "
                "image = NULL, caption = excluded.caption, attributes = excluded.attributes",
                (key, description.caption, attributes),
            )
            self._bound("caption IS NOT NULL", _KNOWN)

    def drop(self, key: str) -> None:
        """Forget a crop of which nothing can be said."""
        with self._lock:
            self._db.execute("DELETE FROM crops WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def _bound(self, which: str, most: int) -> None:
        self._db.execute(
            f"DELETE FROM crops WHERE {which} AND rowid <= "
            f"(SELECT rowid FROM crops WHERE {which} ORDER BY rowid DESC LIMIT 1 OFFSET {most})"
        )
