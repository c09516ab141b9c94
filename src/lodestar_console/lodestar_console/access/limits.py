"""Limits of rates: a bucket of requests for everybody."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MOST_BUCKETS = 1000  # the longest unused one goes


@dataclass(frozen=True)
class Rate:
    """So many a second in the long run, and so many at once."""

    per_second: float
    burst: float


REQUESTS = Rate(20.0, 40.0)  # of one session; a page pings twice a second
ENTRIES = Rate(0.5, 20.0)  # refused attempts to come in, of one address
CALLS = Rate(5.0, 20.0)  # of one agent
STOPS = Rate(0.2, 10.0)  # of one session in the journal; all are sent on


class Buckets:
    """Token buckets by key; bounded, whoever asks."""

    def __init__(self, rate: Rate, most: int = MOST_BUCKETS) -> None:
        self._rate, self._most = rate, most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key -> tokens, and when

    def allow(self, key: str, now: float, cost: float = 1.0) -> bool:
        """Return whether one more is allowed now, and count it if so."""
        left = self.left(key, now)
        allowed = left >= cost
        self._left[key] = (left - cost if allowed else left, now)
        self._left.move_to_end(key)
        while len(self._left) > self._most:
            self._left.popitem(last=False)
        return allowed

    def left(self, key: str, now: float) -> float:
        """Return how many are allowed now."""
        tokens, at = self._left.get(key, (self._rate.burst, now))
        return min(self._rate.burst, tokens + max(now - at, 0.0) * self._rate.per_second)
