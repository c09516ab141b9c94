"""Store of the memory: a database with all records, and an index of their vectors (ADR 0063)."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.config import StoreConfig
from lodestar.memory.database import Database
from lodestar.memory.errors import (
    BadMemory,
    NoQueryVectors,
    NoSuchMemory,
    NotErased,
    OtherStoreVersion,
    StoreError,
)
from lodestar.memory.milvus_copy import MilvusCopy
from lodestar.memory.milvus_index import FILE as LITE_FILE
from lodestar.memory.milvus_index import MilvusIndex
from lodestar.memory.owner import StoreOwner
from lodestar.memory.record_json import checked_vector, cleaned
from lodestar.memory.records import EventKind, MapName, Memory, Source
from lodestar.memory.requests import EVERY_ROBOT, Hit, Request
from lodestar.memory.rows import Rows, plain_words
from lodestar.memory.upkeep import Embed, Upkeep
from lodestar.memory.vector_index import MatrixIndex, VectorIndex
from lodestar.storage.private import state_home

STORE_MAX_TEXT = 4000  # most characters of a text, longer ones are cut; chosen: 12 times a caption
STORE_MAX_PRIMITIVES = 256  # most objects of one record, the largest in the image; chosen

_FOLDER = "memory"  # folder name in the user's state folder
_CLOSING = 30.0  # seconds of real time for the worker to end its turn
_ERASING = 30.0  # seconds of real time to erase forgotten content; chosen: an image store may be busy


@dataclass(frozen=True)
class Statistics:
    """State of the store: counts, sizes and problems.

    problems: by part of the store (database, embedder, milvus, images, search), a sentence each; {} = none.
    """

    records: int  # number of memories of all maps
    other_maps: int  # number of these on other maps than the current one
    pending: int  # changes not yet in Milvus, and records without a vector
    unembedded: int  # records without a vector
    forgotten: int  # number of tombstones
    unerased: int  # number of these whose content must still be erased somewhere
    clock_steps: int  # since opening: records that start before the one accepted before them
    texts_cut: int  # since opening: texts that were cut
    unreadable: int  # since opening: records damaged on the disk
    store_bytes: int  # size of the database and its write-ahead log
    cache_bytes: int  # size of the vectors in memory
    problems: dict[str, str]


class MemoryStore:
    """Memories that survive kill -9 once `add` has returned. One process owns the folder. Thread-safe.

    `open` raises StoreLocked, StoreFull, StoreUnwritable, ForeignStore, OtherStoreVersion or DamagedStore. If
    Milvus cannot be used, `statistics` reports a problem and nothing is raised: searches work without Milvus,
    and it is filled later.
    """

    def __init__(self, rows: Rows, owner: StoreOwner, index: VectorIndex, **calls: Any):
        self.config = rows.config
        self._rows, self._owner, self._index = rows, owner, index
        self._embed: Embed | None = calls["embed"]
        self._lock = threading.Lock()  # guards the fields below
        self._map, self._session = MapName(1), ""
        self._last_start = float("-inf")
        self._clock_steps = self._texts_cut = 0
        self._counted: tuple[Any, dict[str, int]] = (None, {})
        self._closed = False
        self._upkeep = Upkeep(rows, index, self._embed, calls["on_erased"])
        self._upkeep.start()

    @classmethod
    def open(
        cls,
        config: StoreConfig,
        embed: Embed | None = None,
        on_erased: Callable[[Sequence[ImageName]], None] | None = None,
        milvus: MilvusIndex | None = None,
    ) -> MemoryStore:
        """Open or create the store; takes about 1 s for 100,000 memories.

        embed: phrases -> (N, D) unit rows, called by the worker, and by `search` for words without vectors;
        None = vectors are given with each memory and request. on_erased: gets the names of keyframes that
        only forgotten memories referred to, so that their images are erased; called by the worker, and again
        if it raises. None = their erasure waits until the store is opened with a callback. milvus: client to
        use instead of the configured one.
        """
        folder = Path(config.folder).expanduser().absolute() if config.folder else state_home() / _FOLDER
        owner = StoreOwner(folder)
        database: Database | None = None
        try:
            if any(folder.glob("journal-*.log")):
                raise OtherStoreVersion(
                    f"{folder} has the journal of a memory of version 0.3 or older: export it with that version and "
                    "import the file here, or choose another folder"
                )
            database = Database(folder)
            rows = Rows(database, config, uuid.uuid4().hex[:12])
            index: VectorIndex
            if config.backend == "sqlite":
                index = MatrixIndex(rows)
            else:
                index = MilvusCopy(rows, milvus or MilvusIndex(config, folder))
            if config.backend != "milvus_lite":  # else content would stay in a copy that is never erased
                shutil.rmtree(folder / LITE_FILE, ignore_errors=True)
            return cls(rows, owner, index, embed=embed, on_erased=on_erased)
        except BaseException:
            if database is not None:
                database.close()
            owner.close()
            raise

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def map(self) -> MapName:
        """Return the map for requests that name none."""
        return self._map

    @property
    def name(self) -> str:
        """Return the store's unique name."""
        return self._rows.name

    def use_map(self, name: MapName, session: str = "") -> None:
        """Set the robot's map. session: distinguishes maps without a fingerprint."""
        with self._lock:
            self._map, self._session = name, session

    def add(self, memory: Memory, vector: np.ndarray | None = None, origin: str = "") -> int:
        """Store a memory and return its id; it survives kill -9 now and a power cut after `sync_interval`.

        Takes no longer than a write into the page cache. The id of the memory must be 0. vector: (D,), or None for the
        worker to embed the text. origin: store and id of an imported memory. Control characters become spaces; a long
        text is cut and ends with "… (cut)". Raises BadMemory, NoSuchMemory for a correction of a missing memory,
        StoreFull or StoreUnwritable; then nothing is stored.
        """
        if memory.id:
            raise BadMemory("a new memory has the id 0; the store gives it one")
        self._check_open()
        kept, cut = cleaned(memory, STORE_MAX_TEXT, STORE_MAX_PRIMITIVES)
        kept = replace(kept, robot=self.config.robot)
        unit = None if vector is None else checked_vector(vector, self.config.dimension)
        identity = self._rows.add(kept, unit, origin)
        if kept.corrects:
            self._index.remove([i for i in self._rows.family([identity]) if i != identity])
        if unit is not None:
            self._index.put(identity, unit)
        with self._lock:
            self._texts_cut += cut
            self._clock_steps += kept.start < self._last_start
            self._last_start = kept.start
        return identity

    @contextmanager
    def together(self) -> Iterator[None]:
        """Store all memories added in the block or, if it raises, none.

        Adding them one by one would write ten pages each. Other threads that add wait for the block. It must
        not add corrections or vectors, which change the index at once.
        """
        self._check_open()
        with self._rows.database.write():
            yield

    def get(self, identity: int) -> Memory:
        """Return a memory, even if it was corrected. Raises NoSuchMemory."""
        self._check_open()
        self._rows.check(identity)
        found = self._rows.memories([identity])
        if not found:
            raise NoSuchMemory(
                f"memory {identity} cannot be read any more: it was forgotten or is damaged on the disk"
            )
        return found[identity][0]

    def search(self, request: Request) -> list[Hit]:
        """Return the memories that pass the request's filters, most similar first.

        Without search phrases they have the request's order. Memories added just before are included, and
        memories of another map never. Raises NoQueryVectors if words cannot be embedded, IndexUnavailable if
        other robots are requested and Milvus does not work.
        """
        self._check_open()
        queries = self._queries(request)
        request, session = self._on_map(request)
        if request.robots not in ((), (self.config.robot,)):
            if self.config.backend == "milvus":
                return self._index.fleet(queries, request)
            if not {self.config.robot, *EVERY_ROBOT} & set(request.robots):
                return []  # the folder holds only this robot's memories
        if queries is None:
            ids = dict.fromkeys(self._rows.first(request, session), 0.0)
        else:
            found, scores = self._index.nearest(queries, request, session)
            ids = dict(zip(found.tolist(), scores.tolist()))
            if request.narrowed and len(ids) < request.limit:
                rest = self._rows.vectorless(request, session, request.limit - len(ids))
                ids.update((identity, 0.0) for identity in rest if identity not in ids)
        return self._hits(ids, queries)

    def last_sights(self, limit: int) -> list[Memory]:
        """Return the last memory of each object on this map, and the last one that reports it gone.

        Objects of different sessions are different. Limited to the `limit` objects that were remembered last;
        oldest first.
        """
        self._check_open()
        request, session = self._on_map(Request(limit=limit))
        found = self._rows.memories(self._rows.last_sights(request, session))
        return [memory for _, (memory, _) in sorted(found.items())]

    def pin(self, identity: int, pinned: bool = True) -> None:
        """Set whether a memory is protected from thinning. Raises NoSuchMemory."""
        self._check_open()
        self._rows.pin(identity, pinned)

    def correct(self, identity: int, text: str, **changes: Any) -> int:
        """Add a memory that replaces another one, and its earlier corrections, in answers; return its id.

        The replaced memories stay in the store. changes: further fields of the new memory, which are
        otherwise copied. Raises NoSuchMemory, BadMemory.
        """
        old = self.get(identity)
        told = {"source": Source.OPERATOR, "event": EventKind.TOLD, **changes}
        try:
            new = replace(old, id=0, text=text, corrects=identity, **told)
        except (TypeError, ValueError) as error:
            raise BadMemory(f"the correction cannot be kept: {error}") from error
        return self.add(new)

    def uncaptioned(self, limit: int) -> list[Memory]:
        """Return this map's segments that have a composed caption, images and a vector, newest first.

        Only the newest `limit` memories from detections are considered.
        """
        self._check_open()
        request, session = self._on_map(Request(sources=frozenset({Source.DETECTOR}), limit=limit))
        ids = self._rows.first(request, session)
        found = self._rows.memories(ids)
        settled = [found[i][0] for i in ids if i in found and found[i][1] is not None]
        return [memory for memory in settled if memory.event is None and memory.keyframe_ids]

    def recaption(self, identity: int, text: str) -> None:
        """Replace a segment's composed caption by a vision model's; the old text is lost.

        Raises NoSuchMemory, BadMemory for words without letters or a memory that `uncaptioned` would not return.
        """
        old = self.get(identity)
        if old.source is not Source.DETECTOR or old.event is not None:
            raise BadMemory(f"memory {identity} has no composed caption")
        try:
            new = replace(old, text=text, source=Source.CAPTIONER)
        except ValueError as error:
            raise BadMemory(f"the caption cannot be kept: {error}") from error
        self._rows.recaption(cleaned(new, STORE_MAX_TEXT, STORE_MAX_PRIMITIVES)[0])

    def mentioning(
        self, words: str, window: tuple[float, float] | None = None, *, corrected: bool = True
    ) -> list[int]:
        """Return the ids of this map's memories that contain the words and overlap a window, oldest first.

        Case is ignored. window: (first, last) stamp, seconds, None = any time. corrected: also memories that
        were corrected.
        """
        self._check_open()
        request, session = self._on_map(Request(window=window))
        return self._rows.mentioning(plain_words(words), request, session, corrected=corrected)

    def forget(self, memories: int | Sequence[int]) -> list[int]:
        """Forget memories by id, with all that they correct and that corrects them; return the ids.

        Afterwards no file contains their texts, vectors and images; tombstones without content stay. Raises
        NoSuchMemory; NotErased if they are gone from answers, but an image store or Milvus cannot erase now.
        """
        self._check_open()
        named = [memories] if isinstance(memories, int) else [int(i) for i in memories]
        for identity in named:
            self._rows.check(identity)
        gone = self._rows.forget(named)  # memories that were just thinned out are erased too
        wanted = set(gone)
        if wanted and not self._upkeep.flush(_ERASING, lambda: wanted.isdisjoint(self._rows.unfinished())):
            why = "; ".join(self._upkeep.problems.values()) or "the worker of the memory is busy"
            raise NotErased(
                f"forgotten, but not erased everywhere yet; that is tried again: {why}", tuple(gone)
            )
        return gone

    def images(self, limit: int) -> list[ImageName]:
        """Return the keyframes of all runs that memories refer to, at most `limit`, the most important first.

        Order: own memories before imported ones; pinned, then statements and events, then the others; newest first.
        """
        return self._rows.images(limit)

    def identities(self) -> list[int]:
        """Return the ids of all memories, oldest first."""
        return self._rows.identities()

    def origin_of(self, identity: int) -> str:
        """Return the origin of a memory, "STORE:ID": the store that recorded it, and its id there."""
        return self._rows.origin_of(identity)

    def identity_of(self, origin: str) -> int | None:
        """Return the (maybe former) id in this store of the memory with an origin; None if it has none."""
        return self._rows.identity_of(origin)

    def has(self, identity: int) -> bool:
        """Return whether the memory exists."""
        return self._rows.has(identity)

    def flush(self, timeout: float = 60.0) -> bool:
        """Wait until all memories are embedded, in Milvus, and erased if forgotten.

        Returns False on timeout; `statistics` then gives the reason.
        """
        return self._upkeep.flush(timeout)

    def statistics(self) -> Statistics:
        """Return counts and problems. Raises StoreError."""
        self._check_open()
        request, session = self._on_map(Request())
        state = (self._rows.database.changes, request.map, session)
        if self._counted[0] != state:
            self._counted = (state, self._rows.counts(request, session))
        counts, problems = self._counted[1], dict(self._upkeep.problems)
        if self._index.problem:
            problems["search"] = self._index.problem
        return Statistics(
            **counts,
            pending=self._index.waiting + counts["unembedded"],
            clock_steps=self._clock_steps,
            texts_cut=self._texts_cut,
            unreadable=len(self._rows.unreadable),
            store_bytes=self._rows.database.bytes,
            cache_bytes=self._index.bytes,
            problems=problems,
        )

    def close(self) -> None:
        """Write all data to the disk and release the folder. Safe to repeat."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._upkeep.close(_CLOSING)
        self._rows.database.close()
        self._owner.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the memory is closed; open it again")

    def _on_map(self, request: Request) -> tuple[Request, str]:
        """Return the request with its map filled in, and the session that identifies an unsaved map."""
        with self._lock:
            return (request if request.map is not None else replace(request, map=self._map)), self._session

    def _hits(self, scores: dict[int, float], queries: np.ndarray | None) -> list[Hit]:
        """Return the memories with these ids, in order, with exact cosines; missing ones are left out."""
        found = self._rows.memories(scores)
        hits = []
        for identity in scores:
            if identity in found:
                memory, vector = found[identity]
                score = 0.0 if queries is None or vector is None else float((queries @ vector).max())
                hits.append(Hit(memory, score, vector))
        return hits

    def _queries(self, request: Request) -> np.ndarray | None:
        if not request.by_words:
            return None
        if request.vectors is not None:
            given = np.atleast_2d(np.asarray(request.vectors, np.float32))
        elif self._embed is None:
            raise NoQueryVectors(
                "no text model is at hand: give the request its vectors, or ask by time, place or thing"
            )
        else:
            try:
                given = np.asarray(self._embed(list(request.phrases)), np.float32)
            except Exception as error:  # an injected model may raise anything
                raise NoQueryVectors(
                    f"the words cannot be embedded now ({error}): ask by time, place or thing, or again later"
                ) from error
        try:
            return np.stack([checked_vector(row, self.config.dimension) for row in given])
        except (BadMemory, ValueError) as error:
            raise NoQueryVectors(f"the vectors of the request cannot be used: {error}") from error
