"""The memory's SQLite database in one file: commits survive kill -9, deleted content is erased (ADR 0063)."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lodestar.keyframes.records import MAX_KEYFRAME
from lodestar.memory.errors import (
    BadMemory,
    DamagedStore,
    ForeignStore,
    OtherStoreVersion,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreUnwritable,
)
from lodestar.storage.files import sync_path
from lodestar.storage.lock_holders import holder_of
from lodestar.storage.private import FILE_MODE

FILE = "memory.db"
VERSION = 2
_APPLICATION = 0x4C6F6465  # "Lode", application id in the file's header
_BUSY = 10.0  # seconds of real time to wait for a lock of another connection
_CACHE = 16_384  # KiB of pages per connection; chosen
_LONG_LOG = 8 * 2**20  # bytes of write-ahead log from which it is emptied; chosen: some 200 memories
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value);
CREATE TABLE memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT, root INTEGER NOT NULL, shown INTEGER NOT NULL, pinned INTEGER NOT NULL,
    lasting INTEGER NOT NULL, embedded INTEGER NOT NULL, start REAL NOT NULL, "end" REAL NOT NULL, x REAL NOT NULL,
    y REAL NOT NULL, floor INTEGER NOT NULL, region_id INTEGER NOT NULL, region TEXT NOT NULL, source TEXT NOT NULL,
    kind TEXT NOT NULL, map_id INTEGER NOT NULL, fingerprint TEXT NOT NULL, session TEXT NOT NULL, origin TEXT UNIQUE);
CREATE INDEX family ON memory (root);
CREATE INDEX timeline ON memory (map_id, fingerprint, start);
CREATE INDEX worth ON memory (pinned DESC, lasting DESC, id DESC);
CREATE INDEX unembedded ON memory (id) WHERE NOT embedded;
CREATE TABLE content (memory INTEGER PRIMARY KEY REFERENCES memory ON DELETE CASCADE, record TEXT NOT NULL);
CREATE TABLE vector (memory INTEGER PRIMARY KEY REFERENCES memory ON DELETE CASCADE, data BLOB NOT NULL);
CREATE TABLE entity (
    memory INTEGER NOT NULL REFERENCES memory ON DELETE CASCADE, entity INTEGER NOT NULL,
    PRIMARY KEY (memory, entity)) WITHOUT ROWID;
CREATE INDEX sights ON entity (entity);
CREATE TABLE image (
    memory INTEGER NOT NULL REFERENCES memory ON DELETE CASCADE, session TEXT NOT NULL, keyframe INTEGER NOT NULL,
    PRIMARY KEY (memory, session, keyframe)) WITHOUT ROWID;
CREATE INDEX shown_by ON image (session, keyframe);
CREATE TABLE forgotten (id INTEGER PRIMARY KEY, origin TEXT UNIQUE, erased INTEGER NOT NULL);
CREATE INDEX unerased ON forgotten (id) WHERE NOT erased;
CREATE TABLE loose_image (
    session TEXT NOT NULL, keyframe INTEGER NOT NULL, PRIMARY KEY (session, keyframe)) WITHOUT ROWID;
"""
_WHOLE = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
_PART_OF = ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))
# page type byte of a b-tree page -> bytes of its header; other pages begin with 0
_TREE_HEADS = {2: 12, 5: 12, 10: 8, 13: 8}
_WIPED = 1024  # pages per read
# Own memories come first: imported ones have the newest ids. Keyframe ids beyond `MAX_KEYFRAME` are removed.
_OWN_FIRST = f"""
DROP INDEX worth;
CREATE INDEX worth ON memory (origin IS NOT NULL, pinned DESC, lasting DESC, id DESC);
UPDATE content SET record = json_set(record, '$.keyframes', json((
    SELECT json_group_array(value) FROM json_each(record, '$.keyframes') WHERE value BETWEEN 0 AND {MAX_KEYFRAME})))
    WHERE memory IN (SELECT memory FROM image WHERE keyframe NOT BETWEEN 0 AND {MAX_KEYFRAME}) AND json_valid(record);
DELETE FROM image WHERE keyframe NOT BETWEEN 0 AND {MAX_KEYFRAME};
DELETE FROM loose_image WHERE keyframe NOT BETWEEN 0 AND {MAX_KEYFRAME};
"""
_MIGRATIONS: dict[int, str] = {0: _SCHEMA, 1: _OWN_FIRST}  # SQL from each version to the next one


class Database:
    """Database file with three connections: to write, to read and for maintenance.

    Each connection is used by one thread at a time. Data of `write` survives kill -9 once its block has
    ended, and a power cut after `save`. Deleted content is in no file after `erase`. Raises StoreLocked,
    StoreFull, StoreUnwritable, ForeignStore, OtherStoreVersion or DamagedStore.
    """

    def __init__(self, folder: Path) -> None:
        self.path, self._log = folder / FILE, folder / f"{FILE}-wal"
        self._writing, self._reading = threading.RLock(), threading.RLock()
        self.changes = 0  # number of completed `write` blocks
        self._writing_thread: int | None = None
        self._saved = 0  # value of `changes` at the last `save`
        self._connections: list[sqlite3.Connection] = []
        with self._told():
            # kept open as long as the connections: closing it would release SQLite's locks on the file
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            with self._told():
                for _ in range(3):
                    self._connections.append(self._connect())
            self._writer, self._reader, self._keeper = self._connections
            self._migrate()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction; it is committed, or rolled back if the block raises.

        A nested `write` of the same thread joins the outer transaction.
        """
        with self._writing, self._told():
            inner = self._writing_thread is not None
            begin, end, undo = _PART_OF if inner else _WHOLE
            self._writer.execute(begin)
            self._writing_thread = threading.get_ident()
            try:
                yield self._writer
                self._writer.execute(end)
            except BaseException:
                if self._writer.in_transaction:  # false if a full disk has already rolled it back
                    for statement in undo:
                        self._writer.execute(statement)
                raise
            finally:
                self._writing_thread = self._writing_thread if inner else None
            self.changes += 1

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that reads all committed data; `write` does not wait for it."""
        if self._writing_thread == threading.get_ident():
            with self._told():
                yield self._writer
            return
        with self._reading, self._told():
            yield self._reader

    def save(self) -> None:
        """Make all committed data safe against a power cut. `write` waits for it only if the log is long."""
        changes = self.changes
        if changes == self._saved:
            return
        with self._told():
            if self._log.stat().st_size >= _LONG_LOG:
                self.purge()
            else:
                handle = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
        self._saved = changes

    def purge(self) -> None:
        """Move the write-ahead log into the database, durably, and truncate it.

        Raises StoreLocked if another program keeps reading the database.
        """
        with self._told():
            # moves most of the log without blocking
            self._keeper.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        ends = time.monotonic() + _BUSY
        while True:
            with self._reading, self._told():
                busy, frames, _ = self._keeper.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy and frames == 0:
                return
            if time.monotonic() > ends:
                raise StoreLocked(self._locked())
            time.sleep(0.05)

    def erase(self) -> None:
        """Erase deleted content from all files, including copies left by SQLite when it moved rows between pages.

        secure_delete clears a deleted row in place; copies from earlier moves remain in the unallocated part of pages
        (https://www.sqlite.org/fileformat.html, 1.6), which is cleared here. Raises StoreLocked as `purge` does.
        """
        self.purge()
        with self._writing, self._reading, self._told():
            self.purge()  # data written since the first call
            page = self._keeper.execute("PRAGMA page_size").fetchone()[0]
            for begin in range(0, os.fstat(self._handle).st_size, _WIPED * page):
                _wipe(self._handle, begin, page)
            os.fsync(self._handle)
            for connection in self._connections:  # else their cached pages would be written back
                connection.execute("PRAGMA shrink_memory")

    @property
    def bytes(self) -> int:
        """Return the size of database and write-ahead log, bytes."""
        return sum(file.stat().st_size for file in (self.path, self._log) if file.exists())

    def close(self) -> None:
        """Write all data into the database, durably, and close it. Safe to repeat."""
        with self._writing, self._reading:
            for connection in reversed(self._connections):
                connection.close()
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        for pragma in (
            "secure_delete = ON",
            "foreign_keys = ON",
            "synchronous = NORMAL",  # commits do not wait for the disk; `save` does
            "wal_autocheckpoint = 0",  # commits do not copy pages
            f"cache_size = -{_CACHE}",
            "temp_store = MEMORY",  # no temporary files with content on the disk
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _migrate(self) -> None:
        log = self.bytes - (size := self.path.stat().st_size)
        with self._told():
            page = self._writer.execute("PRAGMA page_size").fetchone()[0]
            application = self._writer.execute("PRAGMA application_id").fetchone()[0]
            version = self._writer.execute("PRAGMA user_version").fetchone()[0]
            tables = self._writer.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if size % page and not log:
            raise DamagedStore(self._damaged("its end is missing"))
        if application != _APPLICATION and tables:
            raise ForeignStore(
                f"{self.path} is the database of another program: move it away or choose another folder for the memory"
            )
        if version > VERSION:
            raise OtherStoreVersion(
                f"{self.path} has version {version}, this Lodestar reads up to {VERSION}: take the version "
                "that wrote it, or export the memory with that and import the file into a new folder; nothing was "
                "changed"
            )
        with self._told():
            mode = self._writer.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            for connection in self._connections:  # a connection notices the write-ahead log only with a query
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            sync_path(self.path.parent)  # `save` syncs the log's content, not its directory entry
        if mode != "wal":
            raise StoreUnwritable(
                f"the disk of {self.path} has no shared memory for a write-ahead log (a network share?): "
                "choose a folder on a disk of this computer for the memory"
            )
        for step in range(version, VERSION):
            with self.write() as connection:
                for statement in _MIGRATIONS[step].split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {step + 1}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Convert errors of SQLite and of the disk to errors of the store."""
        try:
            yield
        except (sqlite3.Error, OSError, OverflowError) as error:
            raise self._error(error) from error

    def _error(self, error: Exception) -> StoreError:
        said, folder = str(error), self.path.parent
        if isinstance(error, sqlite3.IntegrityError):
            return BadMemory(f"the memory contradicts another one ({said}) and is not kept")
        if isinstance(error, OverflowError):
            return BadMemory("a whole number has more than 64 bits: give one that is in an answer")
        if "locked" in said:
            return StoreLocked(self._locked())
        if "is full" in said or "No space left" in said:
            return StoreFull(
                f"the disk of {folder} is full: free some space or lower max_records; what was acknowledged before "
                "is kept"
            )
        if any(
            word in said for word in ("readonly", "Read-only", "unable to open", "denied", "not permitted")
        ):
            return StoreUnwritable(
                f"{folder} is read-only for this user ({said}): mount it writable, give it to this user, or choose "
                "another folder for the memory"
            )
        if "not a database" in said or "malformed" in said:
            return DamagedStore(self._damaged(said))
        if "closed database" in said:
            return StoreError("the memory is closed; open it again")
        return StoreUnwritable(f"the memory cannot be used in {folder} ({said}): check the disk")

    def _damaged(self, said: str) -> str:
        return (
            f"{self.path} is damaged ({said}) and was left as it is: `sqlite3 {self.path} .recover` saves what can be "
            "read; move it away for a new memory, and check the disk"
        )

    def _locked(self) -> str:
        holder = holder_of(self.path, os.getpid()) or "another process, which cannot be seen from here"
        return f"{self.path} is locked by {holder}: end that process; the search goes on without the memory"


def _wipe(handle: int, begin: int, page: int) -> None:
    """Clear the unallocated middle of b-tree pages: between the cell pointers and the first cell.

    handle: of the database file. begin: offset of the first of _WIPED pages, bytes. page: size of a page,
    bytes.
    """
    data = os.pread(handle, _WIPED * page, begin)
    for start in range(0, len(data), page):
        head = start + (0 if begin or start else 100)  # the first page starts with the file header
        if data[head] in _TREE_HEADS:
            first = head + _TREE_HEADS[data[head]] + 2 * int.from_bytes(data[head + 3 : head + 5], "big")
            last = start + (int.from_bytes(data[head + 5 : head + 7], "big") or 65_536)
            middle = data[first:last]
            if middle.count(0) < len(middle):
                os.pwrite(handle, bytes(len(middle)), begin + first)
