"""Rate limits as token buckets."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MOST_BUCKETS = 1000  # beyond it the least recently used bucket is dropped


@dataclass(frozen=True)
class Rate:
    """A rate limit: average requests per second, and burst size."""

    per_second: float
    burst: float


REQUESTS = Rate(20.0, 40.0)  # per session; a page pings twice a second
ENTRIES = Rate(0.5, 20.0)  # failed logins per address
CALLS = Rate(5.0, 20.0)  # tool calls per agent
STOPS = Rate(0.2, 10.0)  # journal entries per session; all STOPs are sent


class Buckets:
    """Token buckets by key, in bounded number."""

    def __init__(self, rate: Rate, most: int = MOST_BUCKETS) -> None:
        self._rate, self._most = rate, most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key -> tokens, time (s)

    def allow(self, key: str, now: float, cost: float = 1.0) -> bool:
        """Return whether a request is allowed now, and deduct its cost if so."""
        left = self.left(key, now)
        allowed = left >= cost
        self._left[key] = (left - cost if allowed else left, now)
        self._left.move_to_end(key)
        while len(self._left) > self._most:
            self._left.popitem(last=False)
        return allowed

    def left(self, key: str, now: float) -> float:
        """Return the number of requests allowed now."""
        tokens, at = self._left.get(key, (self._rate.burst, now))
        return min(self._rate.burst, tokens + max(now - at, 0.0) * self._rate.per_second)
