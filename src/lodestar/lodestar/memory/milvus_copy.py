"""The memory's copy in Milvus: the store's worker fills it and checks it against the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import islice

import numpy as np

from lodestar.memory.errors import IndexUnavailable
from lodestar.memory.milvus_index import MAX_WINDOW, STORE_OVERFETCH, Entry, MilvusIndex
from lodestar.memory.requests import Hit, Request
from lodestar.memory.rows import Rows
from lodestar.memory.vector_index import Scored, best, exact

# seconds of real time after an upsert in which a vector is read from the database too; above the 5 s of Milvus'
# bounded staleness
STORE_SETTLE = 10.0
STORE_FLUSH_BATCH = 256  # records per upsert; chosen
STORE_SEAL_AFTER = 4000  # records upserted before Milvus is told to seal them; chosen: each seal makes a file


class MilvusCopy:
    """`VectorIndex` in Milvus Lite, a server or a cluster. Milvus answers searches, filters included.

    Records that Milvus lacks or does not show yet are read from the database; if Milvus does not work, all
    are.
    """

    bytes = 0

    def __init__(self, rows: Rows, milvus: MilvusIndex) -> None:
        self._rows, self._milvus = rows, milvus
        self._lock = threading.Lock()
        self._unwritten: dict[int, None] = {}
        self._settling: dict[int, float] = {}  # id -> time of its upsert
        self._undeleted: dict[str, None] = {}
        self._known = False  # whether Milvus' records were compared with the database
        self._unpurged = False  # whether forgotten records that were deleted are still in Milvus' files
        self._unsealed = 0
        self.problem = ""

    @property
    def waiting(self) -> int:
        """Return the number of changes that Milvus lacks; above 0 before the first comparison."""
        with self._lock:
            return len(self._unwritten) + len(self._undeleted) + self._unpurged + (not self._ready)

    @property
    def unerased(self) -> bool:
        """Return whether Milvus may still hold forgotten or removed records."""
        with self._lock:
            return bool(self._undeleted) or self._unpurged or not self._ready

    def put(self, identity: int, vector: np.ndarray) -> None:
        """Queue the vector of a memory for Milvus."""
        with self._lock:
            self._unwritten[identity] = None

    def remove(self, identities: Sequence[int], forgotten: bool = False) -> None:
        """Queue records for deletion in Milvus. forgotten: erase them from its files too."""
        with self._lock:
            for identity in identities:
                self._unwritten.pop(identity, None)
                self._settling.pop(identity, None)
                self._undeleted[self._key(identity)] = None
            self._unpurged |= forgotten and bool(identities)

    def nearest(self, queries: np.ndarray, request: Request, session: str) -> Scored:
        """Return ids and cosines of the best memories, from Milvus and from records that it still lacks.

        If Milvus fails, the database is searched.
        """
        with self._lock:
            recent = [*self._unwritten, *self._settling]
            ready = self._ready
        try:
            if not ready:
                raise IndexUnavailable(self.problem or "Milvus is not compared with the database yet")
            found = self._by_milvus(queries, request, session)
            self.problem = ""
        except IndexUnavailable as error:
            self.problem = str(error)
            return exact(self._rows, self._rows.matching(request, session), queries, request.limit)
        new = exact(self._rows, self._rows.matching(request, session, recent), queries, request.limit)
        found.update(zip(new[0].tolist(), new[1].tolist()))
        ids = np.fromiter(found, np.int64, len(found))
        return best(ids, np.fromiter(found.values(), np.float32, len(found)), request.limit)

    def fleet(self, queries: np.ndarray | None, request: Request) -> list[Hit]:
        """Return memories of several robots from Milvus. Raises IndexUnavailable."""
        return self._milvus.fleet(queries, request)

    def work_off(self) -> bool:
        """Write and delete a batch of records in Milvus. Returns whether more wait. Raises IndexUnavailable."""
        if not self._ready:
            self._compare()
        self._delete()
        with self._lock:
            batch = list(islice(self._unwritten, STORE_FLUSH_BATCH))
        if batch:
            self._write(batch)
        if self._unsealed >= STORE_SEAL_AFTER:
            self._seal()
        old = time.monotonic() - STORE_SETTLE
        with self._lock:
            self._settling = {i: then for i, then in self._settling.items() if then > old}
        self.problem = ""
        return len(batch) == STORE_FLUSH_BATCH

    def close(self) -> None:
        """Flush written records and close the connection. Raises IndexUnavailable."""
        try:
            if self._unsealed and self._milvus.connected:
                self._seal()
        finally:
            self._milvus.close()

    @property
    def _ready(self) -> bool:
        return self._known and self._milvus.connected

    def _key(self, identity: int) -> str:
        return f"{self._rows.name}:{identity}"

    def _by_milvus(self, queries: np.ndarray, request: Request, session: str) -> dict[int, float]:
        """Return id -> cosine of the records that Milvus finds and the database confirms.

        The database is exact and newer.
        """
        wanted = min(MAX_WINDOW, request.limit * STORE_OVERFETCH)
        while True:
            keys = self._milvus.search(queries, request, session, wanted)
            found = {int(key.rpartition(":")[2]): score for key, score in keys.items()}
            kept = self._rows.matching(request, session, found)
            if len(kept) >= request.limit or wanted >= MAX_WINDOW or len(found) < wanted:
                return {int(identity): found[int(identity)] for identity in kept}
            wanted = min(MAX_WINDOW, 4 * wanted)

    def _compare(self) -> None:
        """Connect, and find the records that Milvus lacks and those that it must delete."""
        self._known = False
        self._milvus.connect()
        listed = self._milvus.listed()
        strangers = sum(key.rpartition(":")[0] != self._rows.name for key in listed)
        if strangers:
            raise IndexUnavailable(
                f"Milvus has {strangers} memories of a robot {self._rows.config.robot!r} from another store: give each "
                "robot a name of its own (robot)"
            )
        with self._lock:  # concurrent embeddings and removals wait for the lock
            there = {self._key(identity): identity for identity in self._rows.embedded().tolist()}
            self._unwritten = dict.fromkeys(there[key] for key in there.keys() - listed)
            self._undeleted.update(dict.fromkeys(listed - there.keys()))
        self._known = True

    def _delete(self) -> None:
        with self._lock:
            keys, purge = list(self._undeleted), self._unpurged
        self._milvus.delete(keys)
        emptied = purge and self._milvus.erase()
        with self._lock:
            for key in keys:
                self._undeleted.pop(key, None)
            if emptied:
                self._unwritten = dict.fromkeys(self._rows.embedded().tolist())
                self._settling.clear()
            if purge:
                self._unpurged = bool(self._undeleted)

    def _write(self, batch: list[int]) -> None:
        found = self._rows.memories(batch)
        entries = [
            Entry(self._key(i), memory, vector) for i, (memory, vector) in found.items() if vector is not None
        ]
        self._milvus.upsert(entries)
        self._unsealed += len(entries)
        now = time.monotonic()
        with self._lock:
            for identity in batch:
                if self._unwritten.pop(identity, 0) is None:
                    self._settling[identity] = now

    def _seal(self) -> None:
        self._milvus.seal()
        self._unsealed = 0
