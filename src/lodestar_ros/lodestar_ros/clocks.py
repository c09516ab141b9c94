"""The decision loop's clock, which continues after the node's clock has stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class PatientClock:
    """The node's clock; after it has stood for `patience` seconds of real time, real time is added.

    An overloaded simulator slows the clock, and the loop waits for it; a killed simulator must not keep a directive
    open for ever. After such a stop this time stays ahead of the node's clock: use it for deadlines and timeouts
    only. Facts carry stamps of the node's clock and are compared with stamps. Any thread may read it.
    """

    def __init__(
        self,
        read: Callable[[], float],
        patience: float,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._patience, self._steady = read, patience, steady
        self._lock = threading.Lock()
        self._last = read()
        self._moved = steady()
        self._ahead = 0.0  # s by which this time is ahead of the node's clock

    def now(self) -> float:
        """Return seconds; the value never goes back by more than the node's clock does."""
        with self._lock:
            value, real = self._read(), self._steady()
            standing = max(0.0, real - self._moved - self._patience)
            if value != self._last:
                self._ahead += standing
                self._last, self._moved, standing = value, real, 0.0
            return value + self._ahead + standing
