"""A worker thread for converting messages, so that the executor is not blocked by large scenes."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable

Work = Callable[[], None]


class KeyedWorker:
    """A worker thread with a queue. New work replaces waiting work of the same key; work without a key runs in order.

    on_error(error) is called on the thread after an exception; the thread continues.
    """

    def __init__(self, name: str, on_error: Callable[[Exception], None]) -> None:
        self._waiting: OrderedDict[str, Work] = OrderedDict()
        self._condition = threading.Condition()
        self._numbers = itertools.count()
        self._closing = False
        self._on_error = on_error
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Work, key: str = "") -> None:
        """Queue work for the thread, without waiting for it."""
        with self._condition:
            self._waiting[key or f"#{next(self._numbers)}"] = work
            self._condition.notify()

    @property
    def waiting(self) -> int:
        """Return the number of queued work items."""
        return len(self._waiting)

    def close(self) -> None:
        """End the thread after its current work."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._thread.join(2.0)

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._waiting and not self._closing:
                    self._condition.wait()
                if self._closing:
                    return
                _, work = self._waiting.popitem(last=False)
            try:
                work()
            except Exception as error:
                self._on_error(error)
