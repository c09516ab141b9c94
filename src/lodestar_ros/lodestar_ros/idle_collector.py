"""Full garbage collections at times of the node's own choice.

A full collection stops every thread, and takes as long as there are objects: 0.2 to 0.4 s at 30,000 entities, in which
no heartbeat leaves. Collections of the younger generations take milliseconds and stay automatic.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

NEVER = 1_000_000_000  # collections of the middle generation until a full one
PERIOD = 60.0  # s between two full collections


class IdleCollector:
    """Takes full collections over from Python until `close`."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady, self._before = steady, gc.get_threshold()
        gc.set_threshold(self._before[0], self._before[1], NEVER)
        self._collected = steady()

    def rest(self) -> None:
        """To be called while a pause harms nobody: collects if the last full collection is `PERIOD` ago."""
        if self._steady() - self._collected >= PERIOD:
            gc.collect()
            self._collected = self._steady()

    def close(self) -> None:
        """Give full collections back."""
        gc.set_threshold(*self._before)
