"""The store of the memory: a database that keeps everything, and an index of its vectors (ADR 0063)."""

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
from lodestar.memory.errors import BadMemory, NoQueryVectors, NoSuchMemory, NotErased, StoreError
from lodestar.memory.milvus_copy import MilvusCopy
from lodestar.memory.milvus_index import FILE as LITE_FILE
from lodestar.memory.milvus_index import MilvusIndex
from lodestar.memory.old_journal import convert_journal
from lodestar.memory.owner import StoreOwner
from lodestar.memory.record_json import checked_vector, cleaned
from lodestar.memory.records import EventKind, MapName, Memory, Source
from lodestar.memory.requests import EVERY_ROBOT, Hit, Request
from lodestar.memory.rows import Rows, plain_words
from lodestar.memory.upkeep import Embed, Upkeep
from lodestar.memory.vector_index import MatrixIndex, VectorIndex
from lodestar.storage.private import state_home

_FOLDER = "memory"  # in the user's state folder
_CLOSING = 30.0  # seconds of real time in which the worker ends its turn
_ERASING = (
    30.0  # seconds of real time in which forgotten content is erased; chosen: an image store that is busy
)


@dataclass(frozen=True)
class Statistics:
    """State of the store. problems: sentences by department (database, embedder, milvus, images, search); {} = none."""

    records: int  # that are there, of every map
    other_maps: int  # of these, records that belong to another map than the store is on
    pending: int  # changes that Milvus has not yet, and records without a vector
    unembedded: int  # records without a vector
    forgotten: int  # tombstones
    unerased: int  # of these, memories whose content is still to be erased somewhere
    clock_steps: int  # since the store was opened: records that start before the one accepted before them
    texts_cut: int  # since the store was opened
    unreadable: (
        int  # likewise, records that were damaged on the disk, and lines of an older journal that were
    )
    store_bytes: int  # of the database and its write-ahead log
    cache_bytes: int  # memory of the vectors
    problems: dict[str, str]


class MemoryStore:
    """Memories that survive kill -9 once `add` has returned. One process owns the folder. Thread-safe.

    `open` raises StoreLocked, StoreFull, StoreUnwritable, ForeignStore, OtherStoreVersion or DamagedStore. A Milvus
    that cannot be used is a problem in `statistics`, no error: searches go on without it and it is filled later.
    """

    def __init__(self, rows: Rows, owner: StoreOwner, index: VectorIndex, **calls: Any):
        self.config = rows.config
        self._rows, self._owner, self._index = rows, owner, index
        self._embed: Embed | None = calls["embed"]
        self._lock = threading.Lock()  # of the fields below
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
        """Open or create the store, which takes about 1 s for 100,000 memories. A journal of an older version becomes
        a database first.

        embed: phrases -> (N, D) unit rows, called by the worker, and by `search` for words without vectors; None =
        vectors are given with each memory and request. on_erased: gets the names of keyframes that only forgotten
        memories referred to, so that their images are erased; called by the worker, and again if it raises. None =
        their erasure waits for an owner that gives it. milvus: another client than that of the configuration.
        """
        folder = Path(config.folder).expanduser().absolute() if config.folder else state_home() / _FOLDER
        owner = StoreOwner(folder)
        database: Database | None = None
        try:
            database = Database(folder)
            rows = Rows(database, config, uuid.uuid4().hex[:12])
            convert_journal(folder, rows)
            index: VectorIndex
            if config.backend == "sqlite":
                index = MatrixIndex(rows)
            else:
                index = MilvusCopy(rows, milvus or MilvusIndex(config, folder))
            if config.backend != "milvus_lite":  # a copy that nobody would erase from
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
        """Return the map that requests are about that name none."""
        return self._map

    @property
    def name(self) -> str:
        """Return the store's unique name."""
        return self._rows.name

    def use_map(self, name: MapName, session: str = "") -> None:
        """Set the map that the robot is on. session: tells maps without fingerprint, not saved yet, apart."""
        with self._lock:
            self._map, self._session = name, session

    def add(self, memory: Memory, vector: np.ndarray | None = None, origin: str = "") -> int:
        """Keep a memory and return its id: acknowledged, it survives kill -9 now and a power cut after `sync_interval`.

        Takes no longer than a write into the page cache. The id of the memory must be 0. vector: (D,), or None for the
        worker to embed the text. origin: of one that is imported. Control characters become spaces; a long text is
        cut and ends with "… (cut)".
        Raises BadMemory, NoSuchMemory for a correction of nothing, StoreFull or StoreUnwritable, and then nothing
        is kept.
        """
        if memory.id:
            raise BadMemory("a new memory has the id 0; the store gives it one")
        self._check_open()
        kept, cut = cleaned(memory, self.config.max_text, self.config.max_primitives)
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
        """Keep what the block adds all at once or, where it raises, nothing of it; a record alone writes ten pages.

        Other threads that add wait for the block. It adds no corrections and no vectors, of which the index hears at
        once.
        """
        self._check_open()
        with self._rows.database.write():
            yield

    def get(self, identity: int) -> Memory:
        """Return a memory, also one that was corrected. Raises NoSuchMemory."""
        self._check_open()
        self._rows.check(identity)
        found = self._rows.memories([identity])
        if not found:
            raise NoSuchMemory(
                f"memory {identity} cannot be read any more: it was forgotten or is damaged on the disk"
            )
        return found[identity][0]

    def search(self, request: Request) -> list[Hit]:
        """Return what passes the request's filters, most alike first or in its order; also what was added just now.

        Never returns memories of another map. Raises NoQueryVectors where words cannot be embedded,
        IndexUnavailable where other robots are asked and Milvus does not work.
        """
        self._check_open()
        queries = self._queries(request)
        request, session = self._on_map(request)
        if request.robots not in ((), (self.config.robot,)):
            if self.config.backend == "milvus":
                return self._index.fleet(queries, request)
            if not {self.config.robot, *EVERY_ROBOT} & set(request.robots):
                return []  # the folder has this robot alone
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
        """Return the last memory of this map that shows each thing of each session, and the last that tells that it is
        gone; of the `limit` things that were remembered last, oldest first.
        """
        self._check_open()
        request, session = self._on_map(Request(limit=limit))
        found = self._rows.memories(self._rows.last_sights(request, session))
        return [memory for _, (memory, _) in sorted(found.items())]

    def pin(self, identity: int, pinned: bool = True) -> None:
        """Keep a memory from being thinned out, or allow it again. Raises NoSuchMemory."""
        self._check_open()
        self._rows.pin(identity, pinned)

    def correct(self, identity: int, text: str, **changes: Any) -> int:
        """Add a memory that replaces another one, and what corrected that before, in answers; returns its id. The
        others stay as history.

        changes: further fields of the new memory, which otherwise are those of the old one. Raises NoSuchMemory,
        BadMemory.
        """
        old = self.get(identity)
        told = {"source": Source.OPERATOR, "event": EventKind.TOLD, **changes}
        try:
            new = replace(old, id=0, text=text, corrects=identity, **told)
        except (TypeError, ValueError) as error:
            raise BadMemory(f"the correction cannot be kept: {error}") from error
        return self.add(new)

    def uncaptioned(self, limit: int) -> list[Memory]:
        """Return the newest segments of this map whose caption was composed, the newest first: those of the newest
        `limit` that have images, and a vector already.
        """
        self._check_open()
        request, session = self._on_map(Request(sources=frozenset({Source.DETECTOR}), limit=limit))
        ids = self._rows.first(request, session)
        found = self._rows.memories(ids)
        settled = [found[i][0] for i in ids if i in found and found[i][1] is not None]
        return [memory for memory in settled if memory.event is None and memory.keyframe_ids]

    def recaption(self, identity: int, text: str) -> None:
        """Give a segment a vision model's words in the place of those that were composed, which are gone then.

        Raises NoSuchMemory, BadMemory for words without letters or a memory that `uncaptioned` would not return.
        """
        old = self.get(identity)
        if old.source is not Source.DETECTOR or old.event is not None:
            raise BadMemory(f"memory {identity} has no composed caption")
        try:
            new = replace(old, text=text, source=Source.CAPTIONER)
        except ValueError as error:
            raise BadMemory(f"the caption cannot be kept: {error}") from error
        self._rows.recaption(cleaned(new, self.config.max_text, self.config.max_primitives)[0])

    def mentioning(
        self, words: str, window: tuple[float, float] | None = None, *, corrected: bool = True
    ) -> list[int]:
        """Return the ids of all memories of this map that hold the words, whatever their case, and reach into a window
        in seconds, oldest first. corrected: also those that were corrected.
        """
        self._check_open()
        request, session = self._on_map(Request(window=window))
        return self._rows.mentioning(plain_words(words), request, session, corrected=corrected)

    def forget(self, memories: int | Sequence[int]) -> list[int]:
        """Forget a memory or several, by id, with all that they correct and that corrects them; returns the ids.

        When it returns, their texts, vectors and images are in no file any more; tombstones without content stay.
        Raises NoSuchMemory; NotErased where they are in no answer any more, but an image store or Milvus cannot erase
        now.
        """
        self._check_open()
        named = [memories] if isinstance(memories, int) else [int(i) for i in memories]
        for identity in named:
            self._rows.check(identity)
        gone = self._rows.forget(named)  # what is thinned out this moment is erased too
        wanted = set(gone)
        if wanted and not self._upkeep.flush(_ERASING, lambda: wanted.isdisjoint(self._rows.unfinished())):
            why = "; ".join(self._upkeep.problems.values()) or "the worker of the memory is busy"
            raise NotErased(
                f"forgotten, but not erased everywhere yet; that is tried again: {why}", tuple(gone)
            )
        return gone

    def images(self, limit: int) -> list[ImageName]:
        """Return the keyframes of every run that memories refer to, at most `limit`, the most important first: those of
        own memories before imported ones, of pinned memories, then of operator's words and events, then of the others;
        the newest first.
        """
        return self._rows.images(limit)

    def identities(self) -> list[int]:
        """Return the ids of everything that is there, oldest first."""
        return self._rows.identities()

    def origin_of(self, identity: int) -> str:
        """Return where a memory came from: store and id there."""
        return self._rows.origin_of(identity)

    def identity_of(self, origin: str) -> int | None:
        """Return the id that a memory of that origin has here, or had before it was forgotten; None for any other."""
        return self._rows.identity_of(origin)

    def has(self, identity: int) -> bool:
        """Return whether the memory is there."""
        return self._rows.has(identity)

    def flush(self, timeout: float = 60.0) -> bool:
        """Wait until everything is embedded, in Milvus and erased. Returns whether it is; the statistics say why
        not.
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
        """Write what is written to the disk and give the folder back. Safe to repeat."""
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
        """Return the request about a map, and the session that tells it apart if it was never saved."""
        with self._lock:
            return (request if request.map is not None else replace(request, map=self._map)), self._session

    def _hits(self, scores: dict[int, float], queries: np.ndarray | None) -> list[Hit]:
        """Return the memories of these ids in this order, with their exact cosine, without one that is gone."""
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
            except Exception as error:  # an injected model
                raise NoQueryVectors(
                    f"the words cannot be embedded now ({error}): ask by time, place or thing, or again later"
                ) from error
        try:
            return np.stack([checked_vector(row, self.config.dimension) for row in given])
        except (BadMemory, ValueError) as error:
            raise NoQueryVectors(f"the vectors of the request cannot be used: {error}") from error
