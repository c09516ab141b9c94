"""Opens the memory's store for the node, and tries again if it cannot be used."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from lodestar.assembly.config import MemoryConfig
from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import StoreError
from lodestar.memory.store import MemoryStore, Statistics
from lodestar.storage.private import state_home
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.keyframe_client import KeyframeClient
from lodestar_ros.memory_feed import MemoryFeed
from lodestar_ros.node import LodestarNode

MEMORY_RETRY_PERIOD = 5.0  # s of real time before a store that cannot be opened is tried again; chosen

#: Names of the store's statistics in the diagnostics.
_REPORTED = (
    "records",
    "other_maps",
    "pending",
    "unembedded",
    "forgotten",
    "unerased",
    "store_bytes",
    "unreadable",
)


def placed(config: StoreConfig) -> StoreConfig:
    """Return the configuration with an absolute folder; a relative one is taken from the user's state folder."""
    folder = Path(config.folder).expanduser() if config.folder else Path("memory")
    return replace(config, folder=str(folder if folder.is_absolute() else state_home() / folder))


class MemoryKeeper:
    """Owns the store, on the feed's worker. A store that is locked, full, foreign or read-only is opened again later.

    store: None while it cannot be used; `problem` then holds the reason and remedy. exports: folder for
    `export_file`.
    """

    def __init__(
        self,
        node: LodestarNode,
        feed: MemoryFeed,
        config: MemoryConfig,
        book: RemotePhraseBook,
        images: KeyframeClient,
    ):
        self._node, self._feed, self._book, self._images = node, feed, book, images
        self._config = placed(config.store)
        self.exports = Path(self._config.folder).parent / "exports"
        self._next = 0.0
        self._told = ""
        self.store: MemoryStore | None = None
        self.problem = "the memory is being opened"
        self._statistics: Statistics | None = None
        self._show()
        node.on_close(self._close)

    def tick(self) -> None:
        """Open the store if that is due, and report its statistics. Runs on the feed's worker."""
        if self.store is None and time.monotonic() >= self._next:
            self._open()
        if self.store is not None:
            self._statistics = self.store.statistics()
        self._say()

    def _open(self) -> None:
        try:
            self.store = MemoryStore.open(self._config, self._embed, self._images.erase)
        except (StoreError, OSError) as error:
            self.problem = str(error)
            self._next = time.monotonic() + MEMORY_RETRY_PERIOD
        else:
            self.problem = ""
            self._feed.chain.use_store(self.store)

    def _embed(self, phrases: Sequence[str]) -> np.ndarray:
        """Return the vectors of phrases. Runs on the store's worker or on an answer's worker."""
        return self._book.vectors(phrases)

    def _say(self) -> None:
        problem = self.problem or self._feed.chain.problem
        statistics = self._statistics
        if problem:
            text = f"the memory cannot be used, and the search goes on without it: {problem}"
        elif statistics is not None and statistics.problems:
            text = f"remembering; {'; '.join(statistics.problems.values())}"
        else:
            text = f"remembering in {self._config.folder}"
        self._node.diagnostics.status(text, ok=text.startswith("remembering in"))
        if problem and problem != self._told:
            self._node.get_logger().warning(text)
        self._told = problem

    def _show(self) -> None:
        """Add the store's and the chain's counters to the diagnostics."""
        chain, value = self._feed.chain, self._node.diagnostics.value
        for name in _REPORTED:
            value(f"store.{name}", partial(self._statistic, name))
        value("waiting", lambda: chain.waiting)
        value("snapshots", lambda: len(chain.snapshots.snapshots))
        for name in ("kept", "overflow", "refused", "lost", "corrections"):
            value(f"memories.{name}", partial(chain.counts.__getitem__, name))
        for name in ("late", "duplicate", "out_of_order", "clock_set", "unplaced", "lost", "other_map"):
            value(f"segments.{name}", partial(chain.segmenter.counts.__getitem__, name))

    def _statistic(self, name: str) -> int:
        return 0 if self._statistics is None else int(getattr(self._statistics, name))

    def _close(self) -> None:
        self._images.close()
        self._feed.close()
        if self.store is not None:
            self.store.close()
