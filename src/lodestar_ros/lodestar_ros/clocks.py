"""Time for decisions that must end even where the clock has died."""

from __future__ import annotations

import time
from collections.abc import Callable


class PatientClock:
    """The node's clock, which counts as running again when it has stood for `patience` seconds of real time.

    A simulator that is overloaded slows the clock and is waited for; one that was killed must not keep a directive
    open for ever.
    """

    def __init__(
        self,
        read: Callable[[], float],
        patience: float,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._patience, self._steady = read, patience, steady
        self._last = read()
        self._moved = steady()
        self._borrowed = 0.0  # s that were counted while the clock stood

    @property
    def standing(self) -> float:
        """Seconds of real time for which the clock has stood beyond the patience."""
        return max(0.0, self._steady() - self._moved - self._patience)

    def now(self) -> float:
        """Seconds; never goes back by more than the node's clock does."""
        value, real = self._read(), self._steady()
        if value != self._last:
            self._borrowed += max(0.0, real - self._moved - self._patience)
            self._last, self._moved = value, real
        return value + self._borrowed + self.standing
