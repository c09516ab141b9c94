"""Keeps Milvus like the journal: compares both at the start, then writes, deletes, seals and erases."""

from __future__ import annotations

import json
import threading
import time
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.memory.errors import IndexUnavailable, StoreError
from lodestar.memory.ledger import Ledger
from lodestar.memory.milvus_index import Entry, MilvusIndex
from lodestar.memory.record_json import vector_from_text
from lodestar.storage.files import write_file

_NOTE = "index.json"  # says what Milvus had of the journal when the store was closed


class IndexUpkeep:
    """Work on Milvus for one ledger. `work_off` raises IndexUnavailable; what it could not do stays to be done."""

    def __init__(self, ledger: Ledger, lock: threading.RLock, index: MilvusIndex, folder: Path) -> None:
        self._ledger, self._lock, self._index = ledger, lock, index
        self._config = ledger.config
        self._note = folder / _NOTE
        self.reconciled = False
        self._started = True  # not reconciled yet since the start
        self._hurried = False
        self._unsealed = 0  # records upserted since the last seal
        self._settling: dict[int, float] = {}  # rows -> time of their upsert

    def hurry(self) -> None:
        """Have Milvus Lite written to now, and not when enough is waiting."""
        self._hurried = True

    @property
    def ready(self) -> bool:
        """Return whether it is known what Milvus has."""
        return self.reconciled and (self._index.on_demand or self._index.connected)

    def work_off(self) -> bool:
        """Connect where there is work, delete, erase and write one batch. Returns whether more is to be written."""
        if not self.ready:
            self._reconcile()
        if not self._due():
            return False
        if not self._index.connected:
            self._index.connect()
            if self._index.created:  # the file was moved away
                self._write_all()
        self._delete()
        if self._ledger.work.unpurged:
            self._purge()
        more = self._write()
        if self._unsealed >= self._config.seal_after:
            self._seal()
        self._release()
        if self._index.on_demand and not self._ledger.work.unwritten:
            self._put_away()
        return more

    def close(self, idle: bool) -> None:
        """Seal and disconnect. idle: nothing is left to do. What Milvus lacks is noted for the next start."""
        known = self.ready and (idle or self._index.on_demand)
        try:
            if self._unsealed and self._index.connected:
                self._seal()
            if known:
                note = json.dumps({**self._state(), **self._waiting()}).encode()
                write_file(self._note, [note], durable=False)
        finally:
            self._index.close()

    def vector(self, row: int) -> np.ndarray | None:
        """Return the vector (D,) float32 of a row from memory or the journal."""
        with self._lock:
            found = self._ledger.matrix.vector(row)
            if found is not None or not self._ledger.catalogue.rows[row]["embedded"]:
                return found
            place = self._ledger.catalogue.vector_place(row)
            segment = self._ledger.journal.segment(place.segment)
        line = segment.read(place)
        return vector_from_text(line["vector"], self._config.dimension).astype(np.float32)

    def _due(self) -> bool:
        """Return whether Milvus is to be open: a server always, Milvus Lite where enough waits or is to be erased."""
        with self._lock:
            work = self._ledger.work
            waiting = len(work.unwritten) + len(work.undeleted)
            urgent = self._hurried or work.unpurged or self._index.connected
            return not self._index.on_demand or waiting >= self._config.seal_after or bool(urgent and waiting)

    def _put_away(self) -> None:
        """Close Milvus Lite, which gives its memory back."""
        self._hurried = False
        if self._unsealed:
            self._seal()
        self._index.close()

    def _reconcile(self) -> None:
        """Find out what Milvus lacks, what it has too much and what differs."""
        self.reconciled = False
        noted = self._noted() if self._started else None
        if noted is not None and self._index.on_demand:
            self._take(noted)
        elif not self._index.on_demand or self._index.exists:
            self._index.connect()
            if self._index.created:
                self._write_all()
            elif noted is not None:
                self._take(noted)
            else:
                self._write_all()
                self._compare()
        self._started = False
        self._note.unlink(missing_ok=True)
        self.reconciled = True

    def _write_all(self) -> None:
        with self._lock:
            rows = self._ledger.catalogue.rows
            self._ledger.work.unwritten.update(
                dict.fromkeys(np.flatnonzero(rows["shown"] & rows["embedded"]).tolist())
            )

    def _take(self, noted: dict[str, Any]) -> None:
        """Take over what Milvus has by the note of the last end."""
        waiting = set(noted["waiting"])
        with self._lock:
            work, rows = self._ledger.work, self._ledger.catalogue.rows
            done = [row for row in work.unwritten if int(rows[row]["id"]) not in waiting]
            for row in done:
                del work.unwritten[row]
            work.undeleted = dict.fromkeys(map(str, noted["undeleted"]))
        self._settling.update(dict.fromkeys(done, 0.0))

    def _compare(self) -> None:
        listed = {entry.key: entry for entry in self._index.listed()}
        own = f"{self._ledger.store}:"
        strangers = sum(not key.startswith(own) for key in listed)
        if strangers:
            raise IndexUnavailable(
                f"Milvus has {strangers} memories of a robot {self._config.robot!r} from another "
                f"store: give each robot a name "
                f"of its own (robot), or, if this robot's folder was lost, another collection than "
                f"{self._config.collection}"
            )
        with self._lock:
            catalogue, work = self._ledger.catalogue, self._ledger.work
            for row in list(work.unwritten):
                entry = listed.get(self._ledger.key(int(catalogue.rows[row]["id"])))
                name = catalogue.map_name(row)
                if entry is not None and (entry.pinned, entry.map_id, entry.fingerprint) == (
                    bool(catalogue.rows[row]["pinned"]),
                    name.map_id,
                    name.fingerprint,
                ):
                    del work.unwritten[row]
                    self._settling[row] = 0.0
            work.undeleted.clear()
            for key in listed:
                there = catalogue.row(int(key.rpartition(":")[2]))
                if there is None or not catalogue.rows[there]["shown"]:
                    work.undeleted[key] = None

    def _delete(self) -> None:
        with self._lock:
            keys = list(self._ledger.work.undeleted)
        if keys:
            self._index.delete(keys)
            with self._lock:
                for key in keys:
                    self._ledger.work.undeleted.pop(key, None)

    def _purge(self) -> None:
        """Erase what was forgotten from Milvus' files."""
        if self._index.erase():
            self._write_all()
            self._unsealed = 0
        with self._lock:
            self._ledger.work.unpurged = bool(self._ledger.work.undeleted)

    def _write(self) -> bool:
        with self._lock:
            rows = list(islice(self._ledger.work.unwritten, self._config.flush_batch))
            for row in rows:  # a change from here on marks the row again
                del self._ledger.work.unwritten[row]
        if not rows:
            return False
        try:
            entries = [entry for row in rows if (entry := self._entry(row)) is not None]
            if entries:
                self._index.upsert(entries)
        except StoreError:
            with self._lock:
                for row in rows:
                    if self._ledger.catalogue.rows[row]["shown"]:
                        self._ledger.work.unwritten[row] = None
            raise
        self._unsealed += len(entries)
        now = time.monotonic()
        self._settling.update((row, now) for row in rows)
        return len(rows) == self._config.flush_batch

    def _entry(self, row: int) -> Entry | None:
        with self._lock:
            if not self._ledger.catalogue.rows[row]["shown"]:
                return None
            place = self._ledger.catalogue.place(row)
            segment = self._ledger.journal.segment(place.segment)
        vector = self.vector(row)
        memory = self._ledger.memory_of(row, segment.read(place))
        return None if vector is None else Entry(self._ledger.key(memory.id), memory, vector)

    def _seal(self) -> None:
        self._index.seal()
        self._unsealed = 0

    def _release(self) -> None:
        """Drop vectors from memory that Milvus surely answers for by now."""
        if self._config.cached:
            self._settling.clear()
            return
        old = time.monotonic() - self._config.settle
        for row in [row for row, then in self._settling.items() if then <= old]:
            del self._settling[row]
            with self._lock:
                if row not in self._ledger.work.unwritten:
                    self._ledger.matrix.remove(row)

    def _state(self) -> dict[str, object]:
        values = {"uri": self._config.uri, "collection": self._config.collection, "store": self._ledger.store}
        return {**values, "records": self._ledger.catalogue.alive, "next_id": self._ledger.next_id}

    def _waiting(self) -> dict[str, object]:
        """Return ids that Milvus lacks or will lack once they have vectors, and keys that it has too much."""
        with self._lock:
            work, rows = self._ledger.work, self._ledger.catalogue.rows
            waiting = [int(rows[row]["id"]) for row in (*work.unwritten, *work.unembedded)]
            return {"waiting": waiting, "undeleted": list(work.undeleted)}

    def _noted(self) -> dict[str, Any] | None:
        """Return the note of the last end, None if it does not fit the journal."""
        try:
            note = json.loads(self._note.read_text())
            fits = {key: note[key] for key in self._state()} == self._state()
            return (
                note
                if fits and isinstance(note["waiting"], list) and isinstance(note["undeleted"], list)
                else None
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
