"""How long decisions take: from the question to the experts to the goal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from lodestar.selection.decision_log import Decision, Outcome


class EpochTimes:
    """Processor seconds per decision epoch, as if the experts worked one after the other: an upper bound of what
    nodes need that work side by side.
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._thought: dict[int, float] = {}
        self._tick = 0.0

    def thought(self, epoch: int, seconds: float) -> None:
        """An expert needed so long for its answer to this epoch's question."""
        self._thought[epoch] = self._thought.get(epoch, 0.0) + seconds

    @contextmanager
    def tick(self) -> Iterator[None]:
        """What the loop does within is counted to the decisions that come out of it."""
        began = time.thread_time()
        yield
        self._tick = time.thread_time() - began

    def decided(self, decision: Decision) -> None:
        """The decision came out of the newest tick."""
        if decision.outcome is Outcome.PENDING:
            self.seconds.append(self._thought.pop(decision.epoch, 0.0) + self._tick)
            self._thought = {epoch: s for epoch, s in self._thought.items() if epoch > decision.epoch}
