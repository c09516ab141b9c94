"""Memories, vectors, and a fake Milvus in a dictionary that can be switched off, for tests of the store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from lodestar.memory.errors import IndexUnavailable
from lodestar.memory.milvus_index import Entry
from lodestar.memory.records import Memory, Primitive
from lodestar.memory.requests import Request

DIMENSION = 16


def embed(texts: Sequence[str]) -> np.ndarray:
    """Return one unit vector per text, equal in every process."""
    rows = []
    for text in texts:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
        rows.append(np.random.default_rng(seed).normal(size=DIMENSION))
    vectors = np.array(rows, np.float32).reshape(len(texts), DIMENSION)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def memory(
    text: str,
    start: float = 0.0,
    place: Sequence[float] = (0.0, 0.0, 0.0),
    things: Sequence[int] = (),
    **more,
):
    primitives = tuple(Primitive(i, "box", np.zeros(3), np.ones(3), pixels=i) for i in things)
    return Memory(0, text, start, start + 3.0, np.array(place, float), primitives=primitives, **more)


class FakeMilvus:
    """Fake MilvusIndex in memory. down: every call fails. fail_after: upserts until it fails during a write."""

    def __init__(self) -> None:
        self.rows: dict[str, Entry] = {}
        self.connected = False
        self.down = False
        self.fail_after: int | None = None
        self.upserts = self.purges = self.searches = 0

    def connect(self) -> None:
        self._up()
        self.connected = True

    def close(self) -> None:
        self.connected = False

    def upsert(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if self.fail_after is not None:
                self.down = self.fail_after <= 0
                self.fail_after -= 1
            self._up()
            self.rows[entry.key] = entry
            self.upserts += 1

    def delete(self, keys: Sequence[str]) -> None:
        self._up()
        for key in keys:
            self.rows.pop(key, None)

    def seal(self) -> None:
        self._up()

    def erase(self) -> bool:
        self._up()
        self.purges += 1
        return False

    def listed(self) -> set[str]:
        self._up()
        return set(self.rows)

    def search(self, queries: np.ndarray, request: Request, session: str, limit: int) -> dict[str, float]:
        self._up()
        self.searches += 1
        scores = {key: float((queries @ e.vector).max()) for key, e in self.rows.items()}
        return dict(sorted(scores.items(), key=lambda item: -item[1])[:limit])

    def texts(self) -> list[str]:
        return sorted(entry.memory.text for entry in self.rows.values())

    def _up(self) -> None:
        if self.down:
            self.connected = False  # as after any failed call to a server
            raise IndexUnavailable("Milvus does not work now; check the server")
