"""Rate limit for requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Rate limiter: allows a number of requests per minute, evenly spaced; 0 = unlimited. Thread-safe.

    clock: returns seconds, monotonic.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = 60.0 / per_minute if per_minute > 0.0 else 0.0
        self._clock, self._next = clock, float("-inf")
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Return whether a request is allowed now, and count it if so."""
        with self._lock:
            now = self._clock()
            if now < self._next:
                return False
            self._next = now + self._interval
            return True
