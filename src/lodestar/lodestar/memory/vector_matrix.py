"""Vectors of memories by row, for exact cosines: those that Milvus has not yet, or all of them as a cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_CHUNK = 4096  # rows turned into float32 at a time: 6 MiB, which stays in the processor's cache
_GROWTH = 1.5


class VectorMatrix:
    """Unit vectors (N, D) as float16: 77 MB for 100,000 of 384; a cosine is off by less than 1e-3."""

    def __init__(self, dimension: int) -> None:
        self._vectors = np.zeros((256, dimension), np.float16)
        self._slot_of = np.full(1024, -1, np.int32)  # by row
        self._free: list[int] = []
        self._used = 0

    def __len__(self) -> int:
        return self._used - len(self._free)

    @property
    def bytes(self) -> int:
        """Return the memory that it takes."""
        return self._vectors.nbytes + self._slot_of.nbytes

    def put(self, row: int, vector: np.ndarray) -> None:
        """Keep the vector (D,) of a row."""
        if row >= len(self._slot_of):
            extra = max(row + 1, int(len(self._slot_of) * _GROWTH)) - len(self._slot_of)
            self._slot_of = np.concatenate([self._slot_of, np.full(extra, -1, np.int32)])
        slot = int(self._slot_of[row])
        if slot < 0:
            slot = self._free.pop() if self._free else self._used
            self._used = max(self._used, slot + 1)
        if slot >= len(self._vectors):
            extra = int(len(self._vectors) * (_GROWTH - 1.0)) + 1
            self._vectors = np.concatenate(
                [self._vectors, np.zeros((extra, self._vectors.shape[1]), np.float16)]
            )
        self._vectors[slot] = vector
        self._slot_of[row] = slot

    def remove(self, row: int) -> None:
        """Drop the vector of a row, if there is one."""
        slot = int(self._slot_of[row]) if row < len(self._slot_of) else -1
        if slot >= 0:
            self._vectors[slot] = 0.0  # what is forgotten does not stay in memory
            self._slot_of[row] = -1
            self._free.append(slot)

    def held(self, rows: np.ndarray) -> np.ndarray:
        """Return for which rows (N,) it has the vector."""
        found = np.zeros(len(rows), bool)
        known = rows < len(self._slot_of)
        found[known] = self._slot_of[rows[known]] >= 0
        return found

    def vector(self, row: int) -> np.ndarray | None:
        """Return the vector (D,) float32 of a row."""
        slot = int(self._slot_of[row]) if row < len(self._slot_of) else -1
        return self._vectors[slot].astype(np.float32) if slot >= 0 else None

    def view(self, rows: np.ndarray) -> MatrixView:
        """Return the vectors of held rows as they are now; cosines can be taken while others are put."""
        return MatrixView(self._vectors, self._slot_of[rows])


@dataclass(frozen=True)
class MatrixView:
    """Vectors (S, D) float16 and the slots (N,) of some rows in them."""

    vectors: np.ndarray
    slots: np.ndarray

    def scores(self, queries: np.ndarray) -> np.ndarray:
        """Return the largest cosine (N,) float32 of each row with the queries (M, D)."""
        best = np.empty(len(self.slots), np.float32)
        for begin in range(0, len(self.slots), _CHUNK):
            part = self.vectors[self.slots[begin : begin + _CHUNK]].astype(np.float32)
            best[begin : begin + _CHUNK] = (part @ queries.T).max(axis=1)
        return best
