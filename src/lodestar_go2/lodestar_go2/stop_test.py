"""Stop test before the first walk: a short turn, a stop request, and a check that the robot stands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from lodestar_go2.sport import STOP, SportRequest, move

STOP_TEST_PATIENCE = 3.0  # s for go2_guard to answer before the turn; chosen
STOP_TEST_TURN = 0.4  # rad/s, turn on the spot; chosen
STOP_TEST_LASTS = 0.8  # s of turning; chosen
STOP_TEST_BOUND = 1.0  # s from the first request to stop until the robot stands; chosen
STOP_TEST_SETTLE = 0.3  # s for which the robot must stand: stepping legs rest between two steps; chosen

PERIOD = 0.1  # s between two requests


@dataclass(frozen=True)
class StopTestConfig:
    """Requirement of the stop test before the robot walks."""

    required: bool = False  # the robot walks only after the test was passed since the start of go2_base


class Phase(Enum):
    """Progress or result of the stop test."""

    NEVER = "not tested since the start"
    ASKING = "testing: waits for go2_guard"
    TURNING = "testing: turns"
    STOPPING = "testing: stops"
    PASSED = "passed"
    FAILED = "FAILED"
    VOID = "no result"


class StopTest:
    """Turns the robot for a moment, stops it and observes whether it stands. now: seconds of real time."""

    def __init__(self, config: StopTestConfig | None = None) -> None:
        self.config = config or StopTestConfig()
        self.phase = Phase.NEVER
        self._why = ""
        self._since = self._stopped = self._moved_at = 0.0
        self._sent = -math.inf
        self._moved = False

    @property
    def active(self) -> bool:
        """Return whether the test runs."""
        return self.phase in (Phase.ASKING, Phase.TURNING, Phase.STOPPING)

    @property
    def result(self) -> str:
        """Return the progress or the result, in words."""
        return f"{self.phase.value}: {self._why}" if self._why else self.phase.value

    def begin(self, now: float) -> None:
        """Start the test from the beginning."""
        self.phase, self._why, self._moved, self._sent = Phase.ASKING, "", False, -math.inf
        self._since = now

    def cancel(self, why: str) -> None:
        """Cancel a running test without a result."""
        if self.active:
            self.phase, self._why = Phase.VOID, why

    def step(self, moving: bool, guarded: bool, now: float) -> list[SportRequest]:
        """Return the requests that are due now.

        moving: whether the robot's own state shows motion. guarded: whether go2_guard confirms requests.
        """
        if self.phase is Phase.ASKING:
            if guarded:
                self.phase, self._since = Phase.TURNING, now
            elif now - self._since > STOP_TEST_PATIENCE:
                self.cancel("go2_guard hears nothing of go2_base")
                return []
        if self.phase is Phase.TURNING:
            self._moved |= moving
            if now - self._since > STOP_TEST_LASTS:
                self.phase, self._stopped, self._moved_at, self._sent = Phase.STOPPING, now, now, -math.inf
        elif self.phase is Phase.STOPPING:
            if moving:
                self._moved_at = now
            late = self._moved_at - self._stopped > STOP_TEST_BOUND
            if late or now - self._moved_at >= STOP_TEST_SETTLE:
                self._judge(late, self._moved_at - self._stopped)
                return [STOP]
        if now - self._sent < PERIOD:
            return []
        self._sent = now
        return [move((0.0, 0.0, STOP_TEST_TURN)) if self.phase is Phase.TURNING else STOP]

    def _judge(self, late: bool, seconds: float) -> None:
        """Set the result. late: the robot moved after the bound. seconds: from the first stop to the last motion."""
        if late:
            self.phase = Phase.FAILED
            self._why = f"it still moved {seconds:.1f} s after StopMove: use the remote control, and do not let it walk"
        elif not self._moved:
            self.phase, self._why = Phase.VOID, "it did not move, so that nothing could be stopped"
        else:
            self.phase, self._why = Phase.PASSED, f"it stood {seconds:.2f} s after StopMove"
