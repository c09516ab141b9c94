"""The store of the memory: a journal that keeps everything, Milvus for searches and for a fleet (ADR 0036)."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import BadMemory, NoQueryVectors, NoSuchMemory, StoreError
from lodestar.memory.flush_worker import Embed, FlushWorker
from lodestar.memory.index_upkeep import IndexUpkeep
from lodestar.memory.ledger import Ledger
from lodestar.memory.milvus_index import MilvusIndex
from lodestar.memory.owner import StoreOwner
from lodestar.memory.record_json import checked_vector, cleaned
from lodestar.memory.records import EventKind, ImageName, MapName, Memory, Source
from lodestar.memory.requests import EVERY_ROBOT, Hit, Request
from lodestar.memory.retrieval import Retrieval
from lodestar.storage.private import state_home

_FOLDER = "memory"  # in the user's state folder
_CLOSING = 30.0  # seconds of real time in which the worker ends its turn


@dataclass(frozen=True)
class Statistics:
    """State of the store. problems: sentences by department (journal, embedder, milvus, images, search); {} = none."""

    records: int  # that are there, of every map
    other_maps: int  # of these, records that belong to another map than the store is on
    pending: int  # records that Milvus has not yet
    unembedded: int  # records without a vector
    cached: int  # vectors in the owner's memory
    forgotten: int  # tombstones
    unerased: int  # of these, memories whose images or rows in Milvus are still to be erased
    clock_steps: int  # records that start before the one accepted before them
    texts_cut: int  # since the store was opened
    damaged_lines: int  # of the journal that do not match their checksum or make no sense
    cut_tail: int  # bytes of an unfinished line, dropped when the store was opened
    journal_bytes: int
    cache_bytes: int  # memory of the vectors
    problems: dict[str, str]


class MemoryStore:
    """Memories that survive kill -9 once `add` has returned. One process owns the folder. Thread-safe.

    `open` raises StoreLocked, StoreFull, StoreUnwritable, ForeignStore or OtherStoreVersion. A Milvus that
    cannot be used is a problem in `statistics`, no error: searches go on without it and it is filled later.
    """

    def __init__(
        self, config: StoreConfig, ledger: Ledger, owner: StoreOwner, index: MilvusIndex, **calls: Any
    ):
        self.config = config
        self._ledger, self._owner, self._index = ledger, owner, index
        self._embed: Embed | None = calls["embed"]
        self._lock = threading.RLock()
        upkeep = IndexUpkeep(ledger, self._lock, index, owner.folder)
        self._worker = FlushWorker(ledger, self._lock, upkeep, self._embed, calls["on_erased"])
        self._retrieval = Retrieval(ledger, self._lock, index)
        self._map, self._session = MapName(1), ""
        self._closed = False
        self._worker.start()

    @classmethod
    def open(
        cls,
        config: StoreConfig,
        embed: Embed | None = None,
        on_erased: Callable[[Sequence[ImageName]], None] | None = None,
        index: MilvusIndex | None = None,
    ) -> MemoryStore:
        """Open or create the store. Reading the journal takes about 4 s for 100,000 memories.

        embed: phrases -> (N, D) unit rows, called by the worker, and by `search` for words without vectors; None =
        vectors are given with each memory and request. on_erased: gets the names of keyframes that only forgotten
        memories referred to, so that their images are erased; called by the worker, and again if it raises. None =
        nobody has images any more.
        """
        folder = Path(config.folder).expanduser().absolute() if config.folder else state_home() / _FOLDER
        owner = StoreOwner(folder)
        try:
            ledger = Ledger(folder, config, uuid.uuid4().hex[:12])
            made = index if index is not None else MilvusIndex(config, folder)
            return cls(config, ledger, owner, made, embed=embed, on_erased=on_erased)
        except BaseException:
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
        return self._ledger.store

    def use_map(self, name: MapName, session: str = "") -> None:
        """Set the map that the robot is on. session: tells maps without fingerprint, not saved yet, apart."""
        with self._lock:
            self._map, self._session = name, session

    def add(self, memory: Memory, vector: np.ndarray | None = None) -> int:
        """Keep a memory and return its id: acknowledged, it survives kill -9 now and a power cut after `sync_interval`.

        Takes no longer than a write into the page cache. The id of the memory must be 0. vector: (D,), or None for the
        worker to embed the text. Control characters become spaces; a long text is cut and ends with "… (cut)".
        Raises BadMemory, NoSuchMemory for a correction of nothing, StoreFull or StoreUnwritable, and then nothing
        is kept.
        """
        if memory.id:
            raise BadMemory("a new memory has the id 0; the store gives it one")
        return self.accept(memory, vector)

    def accept(self, memory: Memory, vector: np.ndarray | None = None, origin: str = "") -> int:
        """Keep a memory as `add` does, also one from an import with its own id and origin."""
        kept, cut = cleaned(memory, self.config.max_text, self.config.max_primitives)
        kept = replace(kept, robot=self.config.robot)
        unit = None if vector is None else checked_vector(vector, self.config.dimension)
        with self._lock:
            self._check_open()
            if kept.corrects:
                self._ledger.row(kept.corrects)
            identity = self._ledger.add(kept, unit, origin)
            self._ledger.counts.texts_cut += cut
        return identity

    def get(self, identity: int) -> Memory:
        """Return a memory, also one that was corrected. Raises NoSuchMemory."""
        with self._lock:
            self._check_open()
            row = self._ledger.row(identity)
        hits = self._retrieval.hits([row])
        if not hits:
            raise NoSuchMemory(
                f"memory {identity} cannot be read any more: it was forgotten or its line is damaged"
            )
        return hits[0].memory

    def search(self, request: Request) -> list[Hit]:
        """Return what passes the request's filters, most alike first or in its order; also what was added just now.

        Never returns memories of another map. Raises NoQueryVectors where words cannot be embedded,
        IndexUnavailable where other robots are asked and Milvus does not work.
        """
        queries = self._queries(request)
        with self._lock:
            self._check_open()
            request = request if request.map is not None else replace(request, map=self._map)
            code = self._ledger.catalogue.map_code(request.map or self._map, self._session)
        if request.robots not in ((), (self.config.robot,)):
            if self.config.uri:
                return self._index.fleet(queries, request)
            if not {self.config.robot, *EVERY_ROBOT} & set(request.robots):
                return []  # Milvus Lite has this robot alone
        return self._retrieval.search(request, code, queries)

    def pin(self, identity: int, pinned: bool = True) -> None:
        """Keep a memory from being thinned out, or allow it again. Raises NoSuchMemory."""
        with self._lock:
            self._check_open()
            self._ledger.pin(self._ledger.row(identity), pinned)

    def correct(self, identity: int, text: str, **changes: Any) -> int:
        """Add a memory that replaces another one in answers; returns its id. The other one stays as history.

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

    def forget(self, selector: int | Request) -> list[int]:
        """Forget a memory, or all that pass a request's filters, with all that they correct; returns the ids.

        They are in no answer from now on. Their texts, vectors and images are erased by the worker, which `flush`
        waits for; tombstones without content stay. A request needs filters and no words. Raises NoSuchMemory,
        BadMemory.
        """
        with self._lock:
            self._check_open()
            if isinstance(selector, Request):
                if selector.by_words or not selector.narrowed:
                    raise BadMemory(
                        "to forget takes a time, a place, a thing or a source, and no words; or one id"
                    )
                code = self._ledger.catalogue.map_code(selector.map or self._map, self._session)
                rows = [int(row) for row in self._ledger.catalogue.matching(selector, code)]
            else:
                rows = [self._ledger.row(selector)]
            return self._ledger.forget(rows)

    def images(self, session: str, limit: int) -> list[int]:
        """Return the keyframes of a session that memories refer to, at most `limit`, the most important first: those of
        pinned memories, then of operator's words and events, then of the others; the newest first.
        """
        with self._lock:
            return self._ledger.catalogue.images(session, limit)

    def identities(self) -> list[int]:
        """Return the ids of everything that is there, oldest first."""
        with self._lock:
            rows = self._ledger.catalogue.rows
            return [int(i) for i in rows["id"][rows["there"]]]

    def origin_of(self, identity: int) -> str:
        """Return where a memory came from: store and id there."""
        with self._lock:
            return self._ledger.origin_of(identity) or self._ledger.key(identity)

    def identity_of(self, origin: str) -> int | None:
        """Return the id that a memory of that origin has here, or had before it was forgotten; None for any other."""
        store, _, text = origin.rpartition(":")
        with self._lock:
            identity = int(text) if store == self._ledger.store else 0
            if not self._present_or_forgotten(identity):
                identity = self._ledger.origins.get(origin, 0)
            return identity if self._present_or_forgotten(identity) else None

    def has(self, identity: int) -> bool:
        """Return whether the memory is there."""
        with self._lock:
            return self._ledger.catalogue.row(identity) is not None

    def flush(self, timeout: float = 60.0) -> bool:
        """Wait until everything is embedded, in Milvus and erased. Returns whether it is; the statistics say why
        not.
        """
        return self._worker.flush(timeout)

    def statistics(self) -> Statistics:
        """Return counts and problems."""
        with self._lock:
            ledger, rows = self._ledger, self._ledger.catalogue.rows
            code = ledger.catalogue.map_code(self._map, self._session)
            problems = dict(self._worker.problems)
            if self._retrieval.problem and not self._index.connected:
                problems["search"] = self._retrieval.problem
            return Statistics(
                records=ledger.catalogue.alive,
                other_maps=int((rows["there"] & (rows["map"] != code)).sum()),
                pending=len(ledger.work.unwritten) + len(ledger.work.unembedded),
                unembedded=len(ledger.work.unembedded),
                cached=len(ledger.matrix),
                forgotten=len(ledger.tombstones),
                unerased=len(ledger.unfinished()),
                clock_steps=ledger.counts.clock_steps,
                texts_cut=ledger.counts.texts_cut,
                damaged_lines=ledger.journal.damaged + ledger.counts.unreadable,
                cut_tail=ledger.journal.cut_tail,
                journal_bytes=ledger.journal.bytes,
                cache_bytes=ledger.matrix.bytes,
                problems=problems,
            )

    def close(self) -> None:
        """Write what is written to the disk and give the folder back. Safe to repeat."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._worker.close(_CLOSING)
        with self._lock:
            self._ledger.journal.close()
        self._owner.close()

    def _present_or_forgotten(self, identity: int) -> bool:
        return identity in self._ledger.tombstones or self._ledger.catalogue.row(identity) is not None

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the memory is closed; open it again")

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
