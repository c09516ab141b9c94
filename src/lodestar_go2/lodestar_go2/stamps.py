"""Stamps of the robot's streams in our own clock."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass


@dataclass(frozen=True)
class StampConfig:
    """Numbers of the repair; chosen."""

    window: float = 10.0  # s over which the smallest delay is taken for the offset of the clocks
    restart: float = 1.0  # s by which a stamp runs back to be a restart of the robot's clock
    max_delay: float = 1.0  # s behind the newest; a message that is later is dropped


class StampRepair:
    """Maps the stamps of one stream to our clock, by a stated rule per fault.

    | fault | rule |
    |---|---|
    | another clock | the smallest difference to the time of arrival within the window is its offset |
    | a stamp that repeats | dropped |
    | a stamp that runs back, less than `restart` | dropped: it is late |
    | a stamp that runs back further | the robot's clock has started anew: the offset is found again |
    | a stamp of zero | the time of arrival stands for it |
    """

    def __init__(self, config: StampConfig | None = None) -> None:
        self._config = config or StampConfig()
        self._newest: float | None = None
        self._given: float | None = None  # newest stamp that we have given out
        self._delays: deque[tuple[float, float]] = deque()
        self.counts: Counter[str] = Counter()

    @property
    def offset(self) -> float:
        """Return seconds by which our clock is ahead of the robot's; 0 before the first message."""
        return min((delay for _, delay in self._delays), default=0.0)

    def repaired(self, stamp: float, arrival: float) -> float | None:
        """Return a stamp in our clock, ascending; None where the message is to be dropped.

        stamp: seconds of the robot's clock. arrival: seconds of our clock.
        """
        if stamp <= 0.0:
            self.counts["without_stamp"] += 1
            return self._ascending(arrival)
        if self._newest is not None and stamp <= self._newest:
            if stamp == self._newest:
                self.counts["repeated"] += 1
                return None
            if self._newest - stamp < self._config.restart:
                self.counts["late"] += 1
                return None
            self.counts["clock_restarts"] += 1
            self._delays.clear()
        self._newest = stamp
        self._note(arrival, arrival - stamp)
        mapped = stamp + self.offset
        if arrival - mapped > self._config.max_delay:
            self.counts["late"] += 1
            return None
        return self._ascending(mapped)

    def _note(self, arrival: float, delay: float) -> None:
        """Keep the smallest delays of the window: a delay that a later, smaller one follows is never the minimum."""
        while self._delays and self._delays[-1][1] >= delay:
            self._delays.pop()
        self._delays.append((arrival, delay))
        while arrival - self._delays[0][0] > self._config.window:
            self._delays.popleft()

    def _ascending(self, stamp: float) -> float | None:
        if self._given is not None and stamp <= self._given:
            self.counts["not_ascending"] += 1
            return None
        self._given = stamp
        return stamp
