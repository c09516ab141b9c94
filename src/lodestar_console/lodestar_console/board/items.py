"""A growing part of the page: a table of items by id, each with the revision of its last change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from typing import Any

from lodestar_console import protocol

MOST_REMOVED = 5_000  # removed ids kept; a client behind them receives all items

Key = int | str


class ItemTable:
    """Items in order of their last change. most: largest number; beyond it the longest unchanged item is dropped."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._most = most
        self._items: OrderedDict[Key, tuple[int, Any]] = OrderedDict()
        self._removed: OrderedDict[Key, int] = OrderedDict()
        self._revision = 0
        self._complete_since = 0  # oldest revision for which the removed ids are known
        self._shared: tuple[int, int, Any] | None = None  # cached answer of `since`, shared by clients

    def __len__(self) -> int:
        return len(self._items)

    @property
    def revision(self) -> int:
        """Return the revision of the last change, 0 = none yet."""
        return self._revision

    def get(self, key: Key) -> Any | None:
        """Return an item by id, None = absent."""
        found = self._items.get(key)
        return None if found is None else found[1]

    def values(self) -> list[Any]:
        """Return all items, longest unchanged first."""
        with self._lock:
            return [item for _, item in self._items.values()]

    def change(self, items: Mapping[Any, Any], removed: tuple[Key, ...] = ()) -> None:
        """Add or replace items by id and remove others, as one revision. Equal items do not count as changed."""
        with self._lock:
            news = {key: item for key, item in items.items() if self._items.get(key, (0, None))[1] != item}
            gone = [key for key in removed if key in self._items and key not in news]
            if not news and not gone:
                return
            self._revision += 1
            for key, item in news.items():
                self._items[key] = self._revision, item
                self._items.move_to_end(key)
                self._removed.pop(key, None)
            over = len(self._items) - self._most
            gone += [key for key in islice(self._items, max(over, 0)) if key not in gone]
            for key in gone:
                del self._items[key]
                self._removed[key] = self._revision
                self._removed.move_to_end(key)
            while len(self._removed) > MOST_REMOVED:
                _, at = self._removed.popitem(last=False)
                self._complete_since = at

    def replace_all(self, items: Mapping[Any, Any]) -> None:
        """Replace all items."""
        self.change(items, tuple(key for key in list(self._items) if key not in items))

    def since(self, revision: int) -> tuple[int, int, list[bytes], list[Key]] | None:
        """Return (revision, previous, changed items as JSON, removed ids) since a revision; None = unchanged.

        previous: revision that the changes apply to. If the ids removed since `revision` are no longer known,
        all items are returned, and previous is 0.
        """
        with self._lock:
            if revision == self._revision:
                return None
            whole = revision <= 0 or revision < self._complete_since or revision > self._revision
            start = 0 if whole else revision
            if self._shared is not None and self._shared[:2] == (self._revision, start):
                return self._shared[2]
            news: list[Any] = []
            for at, item in reversed(self._items.values()):
                if at <= start:
                    break
                news.append(item)
            removed: list[Key] = []
            if not whole:
                for key, at in reversed(self._removed.items()):
                    if at <= start:
                        break
                    removed.append(key)
            now = self._revision
        answer = now, start, [protocol.encode(item) for item in reversed(news)], removed
        with self._lock:
            self._shared = now, start, answer
        return answer
