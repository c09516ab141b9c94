"""The memory store's only worker thread, so that callbacks do not wait.

It makes data durable, embeds texts, fills the index, erases forgotten content and thins old memories.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.errors import BadMemory, StoreError
from lodestar.memory.record_json import checked_vector
from lodestar.memory.retention import Candidates, thinned
from lodestar.memory.rows import Rows
from lodestar.memory.vector_index import VectorIndex

Embed = Callable[[Sequence[str]], np.ndarray]


STORE_THIN_TO = 0.9  # share of max_records left by a thinning, 0..1; chosen: it runs seldom
STORE_EMBED_BATCH = 64  # texts per call of the embedder; the embedder's own batch


class Upkeep:
    """Worker thread of a memory: embeds texts, fills the index, saves, and erases forgotten content.

    Failures are reported in `problems` and retried; no data is lost. embed: phrases -> (N, D) unit rows; None
    = only vectors that callers pass with their memories are used. on_erased: gets the names of keyframes that
    only forgotten memories referred to; None = their erasure waits until the store is opened with a callback.
    """

    def __init__(
        self,
        rows: Rows,
        index: VectorIndex,
        embed: Embed | None,
        on_erased: Callable[[Sequence[ImageName]], None] | None,
    ) -> None:
        self._rows, self._index, self._config = rows, index, rows.config
        self._embed, self._on_erased = embed, on_erased
        self.problems: dict[str, str] = {}
        self._retry_at: dict[str, float] = {}
        self._saved_at = 0.0
        self._counted = -1  # value of the database's `changes` at the last check for retention
        self._turns = 0
        self._erasing: set[int] = set()  # ids of forgotten memories that were passed to the index
        self._ending = False
        self._called = threading.Event()
        self._done = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="memory_upkeep", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def flush(self, timeout: float, until: Callable[[], bool] | None = None) -> bool:
        """Wait until no work is left, or until the condition `until` holds; return whether that was reached.

        `problems` gives the reason if not.
        """
        ends = time.monotonic() + timeout
        self._retry_at.clear()
        while True:
            with self._done:
                turn = self._turns + 2  # the current turn may have begun before this call
                while self._turns < turn and time.monotonic() < ends and self._thread.is_alive():
                    self._called.set()
                    self._done.wait(min(1.0, ends - time.monotonic()))
            if (until or self._idle)():
                return True
            if self.problems or time.monotonic() >= ends or not self._thread.is_alive():
                return False

    def close(self, timeout: float) -> None:
        """Stop the thread after one more turn of work, and close the index."""
        self._ending = True
        self._called.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        if not self._thread.is_alive():
            self._guarded("milvus", self._index.close)

    def _idle(self) -> bool:
        """Return whether no work is left, apart from embedding without an embedder."""
        waits = self._embed is not None and self._rows.unembedded(1)
        return not waits and not self._index.waiting and not self._rows.unfinished()

    def _run(self) -> None:
        while not self._ending:
            more = self._turn()
            with self._done:
                self._turns += 1
                self._done.notify_all()
            if not more:
                self._called.wait(self._config.flush_interval)
            self._called.clear()
        self._turn()
        with self._done:
            self._turns += 2
            self._done.notify_all()

    def _turn(self) -> bool:
        """Do a bounded part of each kind of pending work. Returns whether more work can be done now."""
        self._guarded("database", self._keep)
        more = bool(self._guarded("embedder", self._embed_some))
        more |= bool(self._guarded("milvus", self._index.work_off))
        self._guarded("images", self._finish_forgetting)
        return more and not self._ending

    def _guarded(self, department: str, work: Callable[[], bool | None]) -> bool | None:
        """Return the result of the work.

        If it raises, a problem is reported under the name `department`, and the work is retried later.
        """
        if time.monotonic() < self._retry_at.get(department, 0.0):
            return False
        try:
            result = work()
        except (
            Exception
        ) as error:  # an injected embedder or callback, Milvus or the disk must not end the worker
            told = str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"
            self.problems[department] = told
            self._retry_at[department] = time.monotonic() + self._config.retry
            return False
        self.problems.pop(department, None)
        return result

    def _keep(self) -> None:
        if time.monotonic() - self._saved_at >= self._config.sync_interval or self._ending:
            self._rows.database.save()
            self._saved_at = time.monotonic()
        if self._counted != (changes := self._rows.database.changes):
            if (count := self._rows.count()) > self._config.max_records:
                self._thin(count - int(self._config.max_records * STORE_THIN_TO))
            self._counted = changes

    def _embed_some(self) -> bool:
        texts = {} if self._embed is None else self._rows.unembedded(STORE_EMBED_BATCH)
        if not texts or self._embed is None:
            return False
        vectors = np.asarray(self._embed(list(texts.values())), np.float32)
        if vectors.shape != (len(texts), self._config.dimension):
            raise BadMemory(
                f"the text model gave vectors of shape {vectors.shape} for {len(texts)} texts, not "
                f"({len(texts)}, {self._config.dimension}): set the dimension of the memory to that of the model"
            )
        checked = {i: checked_vector(v, self._config.dimension) for i, v in zip(texts, vectors)}
        for identity in self._rows.embed(checked.items()):
            self._index.put(identity, checked[identity])
        return len(texts) == STORE_EMBED_BATCH

    def _finish_forgetting(self) -> None:
        """Erase forgotten content from all files, then the images, and record it. Raises StoreError."""
        gone = self._rows.unfinished()
        self._index.remove([i for i in gone if i not in self._erasing], forgotten=True)
        self._erasing = set(gone)
        if not gone:
            return
        self._rows.database.erase()
        images = self._rows.loose_images()
        if images and self._on_erased is None:
            raise StoreError(
                f"{len(images)} images of forgotten memories are not erased: nobody here erases images; the robot "
                "does with its next start"
            )
        if images and self._on_erased is not None:
            self._on_erased(images)
        self._rows.finish([] if self._index.unerased else gone, images)

    def _thin(self, surplus: int) -> None:
        """Drop `surplus` old memories, redundant ones first."""
        found = self._rows.aged(self._config.full_time, self._config.long_time)
        if not found:
            return
        identities = np.array([row[0] for row in found], np.int64)
        _, groups = np.unique([row[3] for row in found], return_inverse=True)
        candidates = Candidates(
            identities,
            groups,
            np.array([row[1:3] for row in found], float),
            [frozenset(map(int, row[4].split(","))) if row[4] else frozenset() for row in found],
            lambda members: self._vectors(identities[members]),
        )
        gone = self._rows.drop(thinned(candidates, surplus).tolist())
        self._index.remove(gone)

    def _vectors(self, identities: np.ndarray) -> np.ndarray:
        """Return the vectors (N, D) of memories, zero for those without one."""
        found = np.zeros((len(identities), self._config.dimension), np.float32)
        place = {int(identity): k for k, identity in enumerate(identities)}
        for part, vectors in self._rows.vectors(identities):
            found[[place[int(identity)] for identity in part]] = vectors
        return found
