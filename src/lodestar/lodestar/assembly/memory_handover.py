"""Hands memories to the store; while there is none, or it keeps nothing, they wait."""

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
    """Port of the store: what the chain needs of it."""

    def add(self, memory: Memory, vector: np.ndarray | None = None) -> int:
        """Keep a memory and return its id; see `MemoryStore.add`."""
        ...

    def use_map(self, name: MapName, session: str = "") -> None:
        """Set the map that the robot is on."""
        ...

    def search(self, request: Request) -> list[Hit]:
        """Return what passes the request's filters."""
        ...

    def last_sights(self, limit: int) -> list[Memory]:
        """Return the last memories of the things that were remembered last; see `MemoryStore.last_sights`."""
        ...

    @property
    def name(self) -> str:
        """Return the store's unique name."""
        ...

    def images(self, limit: int) -> list[ImageName]:
        """Return the keyframes that memories refer to, of every run, the most important first."""
        ...

    def statistics(self) -> Statistics:
        """Return the state of the store. Raises StoreError."""
        ...


class MemoryHandover:
    """Memories on their way to the store, the oldest first. Not safe for threads.

    most: of those that wait; the oldest are dropped first. counts: kept, refused and dropped ("overflow") memories.
    problem: why memories wait, "" = they do not. newest: highest id of a memory so far.
    """

    def __init__(self, most: int, counts: Counter[str]) -> None:
        self.store: Keeper | None = None
        self.problem = ""
        self.newest = 0
        self._most, self._counts = most, counts
        self._waiting: deque[Memory] = deque()
        self._own: list[range] = []  # ids of the memories of this process

    @property
    def waiting(self) -> tuple[Memory, ...]:
        """Return the memories that no store has taken yet, oldest first."""
        return tuple(self._waiting)

    def add(self, memory: Memory) -> int:
        """Return the id of the memory; 0 where it waits or was refused."""
        if len(self._waiting) >= self._most:
            self._waiting.popleft()
            self._counts["overflow"] += 1
        self._waiting.append(memory)
        return self.hand_over()

    def hand_over(self) -> int:
        """Give the store what waits. Returns the id of the newest; 0 where that waits still or was refused."""
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
        """Return the newest memories of this map in the store, at most `MAX_LIMIT`. Raises StoreError."""
        if self.store is None:
            return []
        return self._noted([hit.memory for hit in self.store.search(Request(limit=MAX_LIMIT))])

    def last_sights(self, limit: int) -> list[Memory]:
        """Return the last memories in the store of the things that were remembered last. Raises StoreError."""
        return [] if self.store is None else self._noted(self.store.last_sights(limit))

    def _noted(self, found: list[Memory]) -> list[Memory]:
        self.newest = max([self.newest, *(memory.id for memory in found)])
        return found

    def is_own(self, identity: int) -> bool:
        """Return whether a memory was made by this process."""
        return any(identity in span for span in self._own)

    def _note_own(self, identity: int) -> None:
        """Note the id of a memory of this process; an import takes ids between."""
        if self._own and identity == self._own[-1].stop:
            self._own[-1] = range(self._own[-1].start, identity + 1)
        else:
            self._own.append(range(identity, identity + 1))
        self.newest = max(self.newest, identity)
