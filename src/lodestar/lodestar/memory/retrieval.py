"""Search: filters first, then exact cosines, over what Milvus has and what it has not yet (STaR IV-A)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from lodestar.memory.errors import IndexUnavailable, StoreError
from lodestar.memory.ledger import Ledger
from lodestar.memory.milvus_index import MilvusIndex
from lodestar.memory.record_json import vector_from_text
from lodestar.memory.requests import Hit, Request
from lodestar.memory.write_journal import Line, Place, Segment

_MOST = 16_384  # results of one search of Milvus


class Retrieval:
    """Searches of one ledger. Every method may be called from any thread; the lock is held for milliseconds."""

    def __init__(self, ledger: Ledger, lock: threading.RLock, index: MilvusIndex) -> None:
        self._ledger, self._lock, self._index = ledger, lock, index
        self.problem = ""  # why the last search went on without Milvus

    def search(self, request: Request, map_code: int, queries: np.ndarray | None) -> list[Hit]:
        """Return what passes the filters: by the queries (M, D), or in the request's order."""
        with self._lock:
            rows = self._ledger.catalogue.matching(request, map_code)
            if queries is None:
                rows = self._ledger.catalogue.ordered(rows, request)[: request.limit]
        if queries is not None:
            rows = self._most_alike(rows, request, queries)
        return self.hits(rows, queries)

    def hits(self, rows: Sequence[int] | np.ndarray, queries: np.ndarray | None = None) -> list[Hit]:
        """Return the memories of rows in this order, with their exact cosine. One that went meanwhile is left out."""
        found = []
        for row, memory_at, vector_at, vector in self._places(rows):
            try:
                line = memory_at[0].read(memory_at[1])
                memory = self._ledger.memory_of(row, line)
                if vector is None and vector_at is not None:
                    vector = self._vector(
                        line if vector_at[1] == memory_at[1] else vector_at[0].read(vector_at[1])
                    )
            except StoreError:
                continue  # damaged on the disk since; statistics tell when it is read again
            score = 0.0 if queries is None or vector is None else float((queries @ vector).max())
            found.append(Hit(memory, score, vector))
        return found

    def _places(
        self, rows: Sequence[int] | np.ndarray
    ) -> list[tuple[int, tuple[Segment, Place], tuple[Segment, Place] | None, np.ndarray | None]]:
        """Return for each row that is there where its memory and its vector are, or the vector itself."""
        found = []
        catalogue, journal = self._ledger.catalogue, self._ledger.journal
        with self._lock:
            for row in map(int, rows):
                if not catalogue.rows[row]["there"]:
                    continue
                place = catalogue.place(row)
                vector, at = self._ledger.matrix.vector(row), None
                if vector is None and catalogue.rows[row]["embedded"]:
                    other = catalogue.vector_place(row)
                    at = (journal.segment(other.segment), other)
                found.append((row, (journal.segment(place.segment), place), at, vector))
        return found

    def _most_alike(self, rows: np.ndarray, request: Request, queries: np.ndarray) -> np.ndarray:
        """Return the rows with the largest cosines, best first; then, if filters chose them, those without a vector."""
        with self._lock:
            held = self._ledger.matrix.held(rows)
            view = self._ledger.matrix.view(rows[held])
            embedded = self._ledger.catalogue.rows["embedded"][rows]
        scored, scores = rows[held], view.scores(queries)
        rest = rows[~held & embedded]
        if len(rest):
            more, others = self._beyond_memory(rest, request, queries)
            scored, scores = np.concatenate([scored, more]), np.concatenate([scores, others])
        if len(scored) > request.limit:
            best = np.argpartition(-scores, request.limit - 1)[: request.limit]
            scored, scores = scored[best], scores[best]
        ranked = scored[np.lexsort((-scored, -scores))]
        if request.narrowed and len(ranked) < request.limit:
            ranked = np.concatenate([ranked, rows[~embedded][::-1][: request.limit - len(ranked)]])
        return ranked

    def _beyond_memory(
        self, rest: np.ndarray, request: Request, queries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of `rest` with the largest cosines and these: of a few by the journal, of many by Milvus.

        Without Milvus by the journal too, which takes seconds for 100,000.
        """
        if len(rest) > self._ledger.config.exact_below:
            try:
                return self._by_milvus(rest, request, queries)
            except IndexUnavailable as error:
                self.problem = str(error)
        hits = [(row, at) for row, _, at, _ in self._places(rest) if at is not None]
        kept, scores = [], []
        for row, (segment, place) in hits:
            try:
                vector = self._vector(segment.read(place))
            except StoreError:
                continue
            kept.append(row)
            scores.append(float((queries @ vector).max()))
        return np.array(kept, np.int64), np.array(scores, np.float32)

    def _by_milvus(
        self, rest: np.ndarray, request: Request, queries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        wanted = min(_MOST, request.limit * self._ledger.config.overfetch)
        enough = min(request.limit, len(rest))
        while True:
            found = self._index.search(queries, request, wanted)
            with self._lock:
                rows = {self._row_of(key): score for key, score in found.items()}
            rows.pop(-1, None)
            known = np.fromiter(rows, np.int64, len(rows))
            inside = np.isin(known, rest)
            if inside.sum() >= enough or wanted >= _MOST or len(found) < wanted:
                self.problem = ""
                return known[inside], np.fromiter(rows.values(), np.float32, len(rows))[inside]
            wanted = min(_MOST, 4 * wanted)

    def _row_of(self, key: str) -> int:
        store, _, identity = key.rpartition(":")
        row = self._ledger.catalogue.row(int(identity)) if store == self._ledger.store else None
        return -1 if row is None else row

    def _vector(self, line: Line) -> np.ndarray:
        return vector_from_text(line["vector"], self._ledger.config.dimension).astype(np.float32)
