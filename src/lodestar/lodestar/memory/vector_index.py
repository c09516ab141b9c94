"""Port of what finds memories by vectors, and its adapter that keeps all vectors in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from lodestar.memory.requests import Hit, Request
from lodestar.memory.rows import Rows
from lodestar.memory.vector_matrix import VectorMatrix, cosines

Scored = tuple[np.ndarray, np.ndarray]  # ids (N,), largest cosines (N,), best first


class VectorIndex(Protocol):
    """Copies of the vectors in the database, for searches. Thread-safe; `work_off` and `close` are the worker's.

    problem: why searches go on without it, "" = they do not.
    """

    problem: str

    def put(self, identity: int, vector: np.ndarray) -> None:
        """Take the vector (D,) of a memory, at once."""
        ...

    def remove(self, identities: Sequence[int], forgotten: bool = False) -> None:
        """Leave memories out from now on. forgotten: they are to be erased from every file too."""
        ...

    def nearest(self, queries: np.ndarray, request: Request, session: str) -> Scored:
        """Return at most `limit` memories that pass the filters by their cosine with queries (M, D)."""
        ...

    def fleet(self, queries: np.ndarray | None, request: Request) -> list[Hit]:
        """Return what other robots remember. Raises IndexUnavailable where that cannot be told."""
        ...

    def work_off(self) -> bool:
        """Do a bounded part of what waits. Returns whether there is more. Raises IndexUnavailable."""
        ...

    @property
    def waiting(self) -> int:
        """Return the number of changes that wait; above 0 also while it is not known."""
        ...

    @property
    def unerased(self) -> bool:
        """Return whether there may be something of a memory that was forgotten."""
        ...

    @property
    def bytes(self) -> int:
        """Return the size of the vectors in memory."""
        ...

    def close(self) -> None:
        """End. Raises IndexUnavailable."""
        ...


class MatrixIndex:
    """The vectors of all shown memories as one float16 matrix, read from the database at the start."""

    problem, waiting, unerased = "", 0, False

    def __init__(self, rows: Rows) -> None:
        self._rows, self._lock = rows, threading.Lock()
        self._matrix = VectorMatrix(rows.config.dimension, rows.config.max_records)
        for identities, vectors in rows.vectors(rows.embedded()):
            self._matrix.put(identities, vectors)

    @property
    def bytes(self) -> int:
        """Return the memory of the vectors."""
        return self._matrix.bytes

    def put(self, identity: int, vector: np.ndarray) -> None:
        """See `VectorIndex`."""
        with self._lock:
            self._matrix.put(np.array([identity]), vector[None])

    def remove(self, identities: Sequence[int], forgotten: bool = False) -> None:
        """See `VectorIndex`."""
        with self._lock:
            for identity in identities:
                self._matrix.remove(identity)

    def nearest(self, queries: np.ndarray, request: Request, session: str) -> Scored:
        """See `VectorIndex`."""
        if request.narrowed:
            return self._best_of(self._rows.matching(request, session), queries, request.limit)
        # Nearly all memories pass: it is quicker to ask the database for the best than for all that pass.
        with self._lock:
            every = self._matrix.identities
        likely, scores = self._best_of(every, queries, 2 * request.limit)
        pass_too = np.isin(likely, self._rows.matching(request, session, likely))
        if np.count_nonzero(pass_too) < min(request.limit, len(every)):
            return self._best_of(self._rows.matching(request, session), queries, request.limit)
        return likely[pass_too][: request.limit], scores[pass_too][: request.limit]

    def _best_of(self, identities: np.ndarray, queries: np.ndarray, limit: int) -> Scored:
        with self._lock:
            held, vectors, rows = self._matrix.view(identities)
        return best(held, cosines(vectors, rows, queries), limit)

    def fleet(self, queries: np.ndarray | None, request: Request) -> list[Hit]:
        """Return nothing: the database has this robot's memories alone."""
        return []

    def work_off(self) -> bool:
        """See `VectorIndex`."""
        return False

    def close(self) -> None:
        """See `VectorIndex`."""


def exact(rows: Rows, identities: np.ndarray, queries: np.ndarray, limit: int) -> Scored:
    """Return the memories with the largest cosines, read from the database: 0.5 s for 100,000."""
    found = [(np.zeros(0, np.int64), np.zeros(0, np.float32))]
    for part, vectors in rows.vectors(identities):
        found.append(best(part, (vectors.astype(np.float32) @ queries.T).max(axis=1), limit))
    kept = np.concatenate([ids for ids, _ in found])
    return best(kept, np.concatenate([scores for _, scores in found]), limit)


def best(identities: np.ndarray, scores: np.ndarray, limit: int) -> Scored:
    """Return those with the largest scores, best first, the newest first among equals."""
    if len(identities) > limit:
        chosen = np.argpartition(-scores, limit - 1)[:limit]
        identities, scores = identities[chosen], scores[chosen]
    order = np.lexsort((-identities, -scores))
    return identities[order], scores[order]
