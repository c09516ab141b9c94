"""Pacing of simulated time by real time, and measurement of its delay."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pacer:
    """Limit simulated time to `factor` times real time; 0 = no limit.

    `wait` forgets a delay above `SLACK`: simulated time stays late, and no step is skipped. `clock` and
    `sleep` default to those of `time`.
    """

    SLACK = 0.05  # s of delay that later steps may catch up
    MAX_LATE = 0.2  # s of delay that one longer step may catch up; a larger delay remains

    def __init__(
        self,
        factor: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ):
        if factor < 0.0:
            raise ValueError(f"real_time_factor is {factor}; give 0 for as fast as possible, or more")
        self.overruns = 0
        self._factor = factor
        self._clock, self._sleep = clock, sleep
        self._reference: tuple[float, float] | None = None  # (real, simulated) seconds
        self._window: tuple[float, float] | None = None

    def wait(self, simulated: float) -> None:
        """Block until simulated time may reach `simulated` seconds."""
        now = self._clock()
        if self._reference is None:
            self._reference = self._window = (now, simulated)
        if self._factor == 0.0:
            return
        ahead = self._reference[0] + (simulated - self._reference[1]) / self._factor - now
        if ahead > 0.0:
            self._sleep(ahead)
        elif ahead < -self.SLACK:
            self.overruns += 1
            self._reference = (now, simulated)

    def behind(self, simulated: float) -> float:
        """Return the seconds by which simulated time lags behind, from 0 to `MAX_LATE`."""
        if self._reference is None or self._factor == 0.0:
            return 0.0
        due = self._reference[1] + (self._clock() - self._reference[0]) * self._factor
        return min(max(0.0, due - simulated), self.MAX_LATE)

    def report(self, simulated: float) -> float | None:
        """Return the real-time factor since the last report, once per real second; None in between."""
        now = self._clock()
        if self._window is None or now - self._window[0] < 1.0:
            return None
        factor = (simulated - self._window[1]) / (now - self._window[0])
        self._window = (now, simulated)
        return factor
