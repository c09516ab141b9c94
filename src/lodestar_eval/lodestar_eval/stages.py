"""Processor time of a run by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class StageClock:
    """Sum of the calling thread's processor time per named stage, seconds.

    Work of other threads is not included; reading the whole process's time would cost up to 0.2 ms a call, a quarter
    of the measured time.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the processor time of the block to stage `name`. Stages do not nest."""
        begin = time.thread_time()
        try:
            yield
        finally:
            self.add(name, time.thread_time() - begin)

    def add(self, name: str, seconds: float, calls: int = 1) -> None:
        """Add `seconds` to stage `name`."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.calls[name] = self.calls.get(name, 0) + calls

    def milliseconds_per_call(self) -> dict[str, float]:
        """Return the mean processor time of one call by stage, ms."""
        return {name: 1e3 * total / self.calls[name] for name, total in self.seconds.items()}

    @staticmethod
    def total(clocks: list[Mapping[str, tuple[float, int]]]) -> StageClock:
        """Return one clock with the sum of several `totals()`."""
        whole = StageClock()
        for clock in clocks:
            for name, (seconds, calls) in clock.items():
                whole.add(name, seconds, calls)
        return whole

    def totals(self) -> dict[str, tuple[float, int]]:
        """Return seconds and calls by stage; small and picklable."""
        return {name: (self.seconds[name], self.calls[name]) for name in self.seconds}
