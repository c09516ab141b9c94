"""Vectors by id in one matrix, for exact cosines."""

from __future__ import annotations

import numpy as np

# rows converted to float32 at a time: 0.8 MiB, which stays in the processor's second-level cache
_CHUNK = 512
_GROWTH = 1.2
# float16 to float32 by bit operations: the sign goes to bit 31, exponent and fraction to bits 27 to 13. The exponent
# is then too small by the difference of the biases, 127 - 15.
_SHIFT = 13
_KEPT_BITS = np.int32(-0x70002000)  # 0x8FFFE000
_SCALE = np.float32(2.0**112)


class VectorMatrix:
    """Unit vectors (N, D) as float16; a cosine changes by less than 1e-3.

    100,000 vectors of length 384 take 77 MB. expected: number of vectors up to which it grows without
    copying. RAM is used only for rows that were written.
    """

    def __init__(self, dimension: int, expected: int) -> None:
        self._vectors = np.zeros((int(expected * _GROWTH) + 1, dimension), np.float16)
        self._slot_of = np.full(1024, -1, np.int32)  # id -> row, -1 = none
        self._free: list[int] = []
        self._used = 0

    @property
    def bytes(self) -> int:
        """Return the memory used, bytes."""
        return self._used * self._vectors.itemsize * self._vectors.shape[1] + self._slot_of.nbytes

    def put(self, identities: np.ndarray, vectors: np.ndarray) -> None:
        """Store the vectors (N, D) of ids (N,)."""
        if not len(identities):
            return
        if (newest := int(identities.max())) >= len(self._slot_of):
            extra = max(newest + 1, 2 * len(self._slot_of)) - len(self._slot_of)
            self._slot_of = np.concatenate([self._slot_of, np.full(extra, -1, np.int32)])
        slots = self._slot_of[identities]
        new = np.flatnonzero(slots < 0)
        freed = [self._free.pop() for _ in range(min(len(new), len(self._free)))]
        slots[new] = [*freed, *range(self._used, self._used + len(new) - len(freed))]
        self._used += len(new) - len(freed)
        if self._used > len(self._vectors):
            extra = int(self._used * _GROWTH) - len(self._vectors)
            more = np.zeros((extra, self._vectors.shape[1]), np.float16)
            self._vectors = np.concatenate([self._vectors, more])
        self._vectors[slots] = vectors
        self._slot_of[identities] = slots

    def remove(self, identity: int) -> None:
        """Remove the vector of an id, if it exists."""
        slot = int(self._slot_of[identity]) if identity < len(self._slot_of) else -1
        if slot >= 0:
            self._vectors[slot] = 0.0  # so that forgotten content does not stay in memory
            self._slot_of[identity] = -1
            self._free.append(slot)

    @property
    def identities(self) -> np.ndarray:
        """Return the ids (N,) that have a vector, ascending."""
        return np.flatnonzero(self._slot_of >= 0)

    def view(self, identities: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the ids (K,) that have a vector, all stored vectors (S, D), and the ids' rows in them (K,).

        `cosines` may be computed from them while other threads store further vectors.
        """
        identities = identities[identities < len(self._slot_of)]
        identities = identities[self._slot_of[identities] >= 0]
        return identities, self._vectors, self._slot_of[identities]


def cosines(vectors: np.ndarray, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return (K,) float32: for each row in `rows` (K,) of `vectors`, the largest cosine with the queries.

    vectors: (S, D) float16 unit vectors. queries: (M, D) unit vectors. Takes half the time of `astype` and a
    product, with the same result, because NumPy converts float16 one by one.
    """
    halves, scaled = vectors.view(np.int16), np.ascontiguousarray((queries * _SCALE).T)
    some = np.empty((min(_CHUNK, len(rows)), vectors.shape[1]), np.int16)
    wide = np.empty(some.shape, np.int32)
    best = np.empty(len(rows), np.float32)
    for begin in range(0, len(rows), _CHUNK):
        count = len(part := rows[begin : begin + _CHUNK])
        np.take(halves, part, axis=0, out=some[:count], mode="clip")  # mode "raise" would copy the result
        np.left_shift(some[:count], _SHIFT, out=wide[:count], dtype=np.int32)
        wide &= _KEPT_BITS
        best[begin : begin + count] = (wide[:count].view(np.float32) @ scaled).max(axis=1)
    return best
