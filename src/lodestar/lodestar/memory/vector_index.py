"""Interface for searching memories by vectors, and its implementation with all vectors in RAM."""

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
    """Interface of a copy of the database's vectors for searches. Thread-safe.

    Only the worker calls `work_off` and `close`. problem: why searches do not use the copy, "" = they do.
    """

    problem: str

    def put(self, identity: int, vector: np.ndarray) -> None:
        """Add the vector (D,) of a memory, without waiting."""

    def remove(self, identities: Sequence[int], forgotten: bool = False) -> None:
        """Leave these memories out of results from now on.

        forgotten: also erase them from the index's files, by `work_off`.
        """

    def nearest(self, queries: np.ndarray, request: Request, session: str) -> Scored:
        """Return ids and cosines of the best memories that pass the filters, at most `request.limit`.

        queries: (M, D); the largest cosine with any of them counts.
        """

    def fleet(self, queries: np.ndarray | None, request: Request) -> list[Hit]:
        """Return memories of other robots. Raises IndexUnavailable if they cannot be searched."""

    def work_off(self) -> bool:
        """Do a bounded part of the pending work. Returns whether there is more. Raises IndexUnavailable."""

    @property
    def waiting(self) -> int:
        """Return the number of pending changes, or a number above 0 if it is unknown."""

    @property
    def unerased(self) -> bool:
        """Return whether data of forgotten memories may still exist."""

    @property
    def bytes(self) -> int:
        """Return the size of the vectors in memory, bytes."""

    def close(self) -> None:
        """Close the index. Raises IndexUnavailable."""


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
        """Return the memory used by the vectors, bytes."""
        return self._matrix.bytes

    def put(self, identity: int, vector: np.ndarray) -> None:
        """Add the vector (D,) of a memory to the matrix."""
        with self._lock:
            self._matrix.put(np.array([identity]), vector[None])

    def remove(self, identities: Sequence[int], forgotten: bool = False) -> None:
        """Remove vectors from the matrix."""
        with self._lock:
            for identity in identities:
                self._matrix.remove(identity)

    def nearest(self, queries: np.ndarray, request: Request, session: str) -> Scored:
        """Return ids and cosines of the best memories that pass the filters, at most `request.limit`.

        queries: (M, D); the largest cosine with any of them counts.
        """
        if request.narrowed:
            return self._best_of(self._rows.matching(request, session), queries, request.limit)
        # Nearly all memories pass: it is faster to check the best in the database than to list all that pass.
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
        """Return no hits: the database holds only this robot's memories."""
        return []

    def work_off(self) -> bool:
        """Return False: no work is ever pending."""
        return False

    def close(self) -> None:
        """Do nothing: the matrix needs no closing."""


def exact(rows: Rows, identities: np.ndarray, queries: np.ndarray, limit: int) -> Scored:
    """Return ids and cosines of the memories nearest to the queries (M, D), read from the database.

    Takes 0.5 s for 100,000 memories.
    """
    found = [(np.zeros(0, np.int64), np.zeros(0, np.float32))]
    for part, vectors in rows.vectors(identities):
        found.append(best(part, (vectors.astype(np.float32) @ queries.T).max(axis=1), limit))
    kept = np.concatenate([ids for ids, _ in found])
    return best(kept, np.concatenate([scores for _, scores in found]), limit)


def best(identities: np.ndarray, scores: np.ndarray, limit: int) -> Scored:
    """Return the ids with the largest scores, and the scores, best first; of equal ones the newest first."""
    if len(identities) > limit:
        chosen = np.argpartition(-scores, limit - 1)[:limit]
        identities, scores = identities[chosen], scores[chosen]
    order = np.lexsort((-identities, -scores))
    return identities[order], scores[order]
