"""Times of decision epochs, from the request to the experts to the goal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from lodestar.selection.decisions import Decision, Outcome


class EpochTimes:
    """Processor seconds per decision epoch with the experts in sequence: an upper bound for parallel nodes."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._thought: dict[int, float] = {}
        self._tick = 0.0

    def thought(self, epoch: int, seconds: float) -> None:
        """Add the processor seconds of one expert's answer in this epoch."""
        self._thought[epoch] = self._thought.get(epoch, 0.0) + seconds

    @contextmanager
    def tick(self) -> Iterator[None]:
        """Measure a tick of the loop; its time is added to the decisions made in it."""
        began = time.thread_time()
        yield
        self._tick = time.thread_time() - began

    def decided(self, decision: Decision) -> None:
        """Store the epoch's seconds, of experts and newest tick, if the decision is new (pending)."""
        if decision.outcome is Outcome.PENDING:
            self.seconds.append(self._thought.pop(decision.epoch, 0.0) + self._tick)
            self._thought = {epoch: s for epoch, s in self._thought.items() if epoch > decision.epoch}
