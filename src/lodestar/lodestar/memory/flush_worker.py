"""The one worker of the store: fsync, embedding, Milvus, erasure and retention, so that no callback waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import BadMemory, StoreError
from lodestar.memory.index_upkeep import IndexUpkeep
from lodestar.memory.ledger import Ledger
from lodestar.memory.record_json import checked_vector
from lodestar.memory.records import ImageName
from lodestar.memory.retention import Candidates, protected, thinned

Embed = Callable[[Sequence[str]], np.ndarray]
_REWRITE_SHARE = (
    0.3  # of a segment's lines that are not needed, from which it is written anew after a thinning
)


class FlushWorker:
    """A thread that works off `Ledger.work`. What fails is told in `problems` and tried again; nothing is lost by it.

    embed: phrases -> (N, D) unit rows; None = vectors are only given. on_erased: gets the names of keyframes that only
    forgotten memories referred to.
    """

    def __init__(
        self,
        ledger: Ledger,
        lock: threading.RLock,
        upkeep: IndexUpkeep,
        embed: Embed | None,
        on_erased: Callable[[Sequence[ImageName]], None] | None,
    ) -> None:
        self._ledger, self._lock, self._upkeep = ledger, lock, upkeep
        self._embed, self._on_erased = embed, on_erased
        self._config: StoreConfig = ledger.config
        self.problems: dict[str, str] = {}
        self._retry_at: dict[str, float] = {}
        self._synced_at = 0.0
        self._sweep = False
        self._turns = 0
        self._ending = False
        self._called = threading.Event()
        self._done = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="memory_flush", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def flush(self, timeout: float) -> bool:
        """Wait until all is embedded, in Milvus and erased. Returns whether it is; `problems` says why not."""
        ends = time.monotonic() + timeout
        self._retry_at.clear()
        while True:
            self._upkeep.hurry()
            with self._done:
                until = self._turns + 2  # the turn that runs now may have begun before the call
                self._called.set()
                while self._turns < until and time.monotonic() < ends:
                    self._done.wait(ends - time.monotonic())
            if self.idle:
                return True
            if self.problems or time.monotonic() >= ends or not self._thread.is_alive():
                return False

    def close(self, timeout: float) -> None:
        """End the thread after one last turn."""
        self._ending = True
        self._called.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        with self._lock:
            self._ledger.journal.sync()
        if not self._thread.is_alive():
            self._guarded("milvus", lambda: self._upkeep.close(self.idle))

    @property
    def idle(self) -> bool:
        """Return whether nothing is left to do but what nobody can do without an embedder."""
        with self._lock:
            work = self._ledger.work
            waits = bool(work.unembedded) and self._embed is not None
            rest = work.unwritten or work.undeleted or work.unerased or self._ledger.unfinished()
            return not waits and not rest and self._upkeep.ready

    def _run(self) -> None:
        while not self._ending:
            more = self._turn()
            with self._done:
                self._turns += 1
                self._done.notify_all()
            if self._called.is_set():
                self._called.clear()
                continue
            if not more:
                self._called.wait(self._config.flush_interval)
        self._turn()
        with self._done:
            self._turns += 2
            self._done.notify_all()

    def _turn(self) -> bool:
        """Do a bounded part of the work. Returns whether more can be done at once."""
        self._guarded("journal", self._keep_journal)
        more = bool(self._guarded("embedder", self._embed_some))
        more |= bool(self._guarded("milvus", self._upkeep.work_off))
        self._guarded("images", self._finish_forgetting)
        return more and not self._ending

    def _guarded(self, department: str, work: Callable[[], bool | None]) -> bool | None:
        """Return what the work returns; what it raises is told and the work is tried again later."""
        if time.monotonic() < self._retry_at.get(department, 0.0):
            return False
        try:
            result = work()
        except (
            Exception
        ) as error:  # an injected embedder or callback, Milvus or the disk: none may end the worker
            told = str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"
            self.problems[department] = told
            self._retry_at[department] = time.monotonic() + self._config.retry
            return False
        self.problems.pop(department, None)
        return result

    def _keep_journal(self) -> None:
        journal = self._ledger.journal
        if time.monotonic() - self._synced_at >= self._config.sync_interval:
            journal.sync()
            self._synced_at = time.monotonic()
        if journal.full:
            with self._lock:
                journal.roll()
            journal.sync_entries()
        with self._lock:
            surplus = self._ledger.catalogue.alive - self._config.max_records
        if surplus > 0:
            self._thin()
        while self._ledger.work.unerased:
            self._rewrite(min(self._ledger.work.unerased))
        if self._sweep:
            for number in journal.sealed():
                self._rewrite(number, _REWRITE_SHARE)
            self._sweep = False

    def _embed_some(self) -> bool:
        if self._embed is None:
            return False
        with self._lock:
            rows = list(islice(self._ledger.work.unembedded, self._config.embed_batch))
            lines = [self._ledger.journal.read(self._ledger.catalogue.place(row)) for row in rows]
        if not rows:
            return False
        texts = [str(line["memory"]["text"]) for line in lines]
        vectors = np.asarray(self._embed(texts), np.float32)
        if vectors.shape != (len(rows), self._config.dimension):
            raise BadMemory(
                f"the text model gave vectors of shape {vectors.shape} for {len(rows)} texts, not "
                f"({len(rows)}, {self._config.dimension}): set the dimension of the memory to that of the model"
            )
        checked = [checked_vector(vector, self._config.dimension) for vector in vectors]
        for row, vector in zip(rows, checked):
            with self._lock:  # one by one, so that `add` waits for one line at most
                if row in self._ledger.work.unembedded:
                    self._ledger.set_vector(row, vector)
        return len(rows) == self._config.embed_batch

    def _finish_forgetting(self) -> None:
        """Erase the images of forgotten memories once Milvus has erased the rest, and note it."""
        with self._lock:
            left = self._ledger.unfinished()
            waits = self._ledger.work.unpurged
        if not left or waits:
            return
        with self._lock:  # a memory that was added meanwhile may refer to one of them
            images = sorted(
                image
                for image in {image for tombstone in left.values() for image in tombstone.images}
                if not self._ledger.catalogue.refers_to(image)
            )
        if images and self._on_erased is not None:
            self._on_erased(images)
        with self._lock:
            for identity in left:
                self._ledger.erased(identity)

    def _thin(self) -> None:
        config, catalogue = self._config, self._ledger.catalogue
        with self._lock:
            columns = catalogue.rows.copy()
            lasting, entities, now = catalogue.lasting(), catalogue.entities(), self._ledger.now
        kept = protected(columns, lasting, now, config) | ~columns["there"]
        rows = np.flatnonzero(~kept)
        surplus = int(columns["there"].sum()) - int(config.max_records * config.thin_to)
        if not len(rows) or surplus <= 0:
            return
        rows = rows[np.argsort(columns["end"][rows], kind="stable")]
        group = columns[rows]
        numbers = (group["map"].astype(np.int64) * 1024 + group["floor"]) * 65536
        numbers += group["source"].astype(np.int64) * 256 + group["event"]
        candidates = Candidates(
            rows,
            numbers,
            np.column_stack([group["x"], group["y"]]),
            [frozenset(entities.get(int(row), ())) for row in rows],
            lambda members: self._vectors(rows[members]),
        )
        gone = thinned(candidates, surplus, config)
        for begin in range(0, len(gone), 200):  # in parts, so that `add` waits for milliseconds
            with self._lock:
                there = catalogue.rows["there"]
                pinned = catalogue.rows["pinned"]
                self._ledger.drop(
                    int(row) for row in gone[begin : begin + 200] if there[row] and not pinned[row]
                )
        self._sweep = True

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        found = np.zeros((len(rows), self._config.dimension), np.float32)
        for k, row in enumerate(map(int, rows)):
            vector = self._upkeep.vector(row)
            if vector is not None:
                found[k] = vector
        return found

    def _rewrite(self, number: int, share: float = 0.0) -> None:
        """Write a segment without what is not needed, if that is more than a share of its lines."""
        journal = self._ledger.journal
        if number not in journal.sealed():
            with self._lock:
                journal.roll()
        self._ledger.work.unerased.discard(number)
        try:
            kept, lost = self._ledger.content(number)
            if lost <= share * (len(kept) + lost) and (share or not lost):
                return
            path, places = journal.prepare(number, kept)
            with self._lock:
                journal.replace(number, path, empty=not kept)
                self._ledger.moved(number, kept, places)
        except (StoreError, OSError):
            self._ledger.work.unerased.add(number)
            raise
        journal.sync_entries()
