"""Queue of memories for the store, used while there is no store or it fails."""

from __future__ import annotations

from collections import Counter, deque
from typing import Protocol

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.errors import BadMemory, NoSuchMemory, StoreError
from lodestar.memory.records import MapName, Memory
from lodestar.memory.requests import MAX_LIMIT, Hit, Request
from lodestar.memory.store import Statistics


class Keeper(Protocol):
    """Interface to the memory store, with the methods that `MemoryChain` uses."""

    def add(self, memory: Memory, vector: np.ndarray | None = None) -> int:
        """Store a memory and return its id; see `MemoryStore.add`."""

    def use_map(self, name: MapName, session: str = "") -> None:
        """Set the map of the robot."""

    def search(self, request: Request) -> list[Hit]:
        """Return the memories that pass the request's filters."""

    def last_sights(self, limit: int) -> list[Memory]:
        """Return the last memories of the objects remembered most recently; see `MemoryStore.last_sights`."""

    @property
    def name(self) -> str:
        """Return the store's unique name."""

    def images(self, limit: int) -> list[ImageName]:
        """Return the keyframes of all runs that memories refer to, most important first."""

    def statistics(self) -> Statistics:
        """Return the state of the store. Raises StoreError."""


class MemoryHandover:
    """Queue of memories for the store, oldest first. Not thread-safe.

    most: maximum queue length; the oldest are dropped first. counts: kept, refused and dropped ("overflow") memories.
    problem: why memories are queued, "" = they are not. newest: highest memory id so far.
    """

    def __init__(self, most: int, counts: Counter[str]) -> None:
        self.store: Keeper | None = None
        self.problem = ""
        self.newest = 0
        self._most, self._counts = most, counts
        self._waiting: deque[Memory] = deque()
        self._own: list[range] = []  # ids of memories of this process

    @property
    def waiting(self) -> tuple[Memory, ...]:
        """Return the queued memories, oldest first."""
        return tuple(self._waiting)

    def add(self, memory: Memory) -> int:
        """Queue a memory and write the queue to the store. Return its id; 0 if it is queued or was refused."""
        if len(self._waiting) >= self._most:
            self._waiting.popleft()
            self._counts["overflow"] += 1
        self._waiting.append(memory)
        return self.hand_over()

    def hand_over(self) -> int:
        """Write the queue to the store. Return the id of the newest memory; 0 if refused or still queued."""
        identity = 0
        while self._waiting and self.store is not None:
            try:
                identity = self.store.add(self._waiting[0])
                self._note_own(identity)
                self._counts["kept"] += 1
            except (BadMemory, NoSuchMemory):
                identity = 0
                self._counts["refused"] += 1
            except StoreError as error:
                self.problem = str(error)
                return 0
            self._waiting.popleft()
        if not self._waiting:
            self.problem = ""
        return identity

    def newest_kept(self) -> list[Memory]:
        """Return the newest stored memories of this map, at most `MAX_LIMIT`. Raises StoreError."""
        if self.store is None:
            return []
        return self._noted([hit.memory for hit in self.store.search(Request(limit=MAX_LIMIT))])

    def last_sights(self, limit: int) -> list[Memory]:
        """Return the last stored memories of the most recently remembered objects. Raises StoreError."""
        return [] if self.store is None else self._noted(self.store.last_sights(limit))

    def _noted(self, found: list[Memory]) -> list[Memory]:
        self.newest = max([self.newest, *(memory.id for memory in found)])
        return found

    def is_own(self, identity: int) -> bool:
        """Return whether a memory was created by this process."""
        return any(identity in span for span in self._own)

    def _note_own(self, identity: int) -> None:
        """Record that this process created the memory with this id; imports may use ids in between."""
        if self._own and identity == self._own[-1].stop:
            self._own[-1] = range(self._own[-1].start, identity + 1)
        else:
            self._own.append(range(identity, identity + 1))
        self.newest = max(self.newest, identity)
