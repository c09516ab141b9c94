"""The memory's store as the node has it: opened when it can be, and tried again while it cannot."""

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

#: Of the statistics of the store.
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
    """Return the configuration with its folder; one that is not absolute lies in the user's state folder."""
    folder = Path(config.folder).expanduser() if config.folder else Path("memory")
    return replace(config, folder=str(folder if folder.is_absolute() else state_home() / folder))


class MemoryKeeper:
    """Own the store, on the feed's worker. A store that is locked, full, foreign or read-only is tried again.

    store: None while it cannot be used; problem says why and what to do. exports: folder for `export_file`.
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
        beside = Path(self._config.folder).parent / "exports"
        self.exports = Path(config.exports).expanduser().absolute() if config.exports else beside
        self._retry = config.retry_period
        self._next = 0.0
        self._told = ""
        self.store: MemoryStore | None = None
        self.problem = "the memory is being opened"
        self._statistics: Statistics | None = None
        self._show()
        node.on_close(self._close)

    def tick(self) -> None:
        """Open the store if it is due, and look at it. On the feed's worker."""
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
            self._next = time.monotonic() + self._retry
        else:
            self.problem = ""
            self._feed.chain.use_store(self.store)

    def _embed(self, phrases: Sequence[str]) -> np.ndarray:
        """On the store's worker, or on that of an answer."""
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
        """Report the state in the diagnostics."""
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
