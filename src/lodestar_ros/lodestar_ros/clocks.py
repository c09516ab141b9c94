"""Clocks that stop or jump back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node

# s by which the wall clock must be set back to count; chosen: smaller steps disturb look-ups only briefly
WALL_STEP = 0.5


def on_jump(node: Node, callback: Callable[[], None]) -> Any:
    """Register a callback for a simulated clock that jumps back, starts or ends; keep the returned handle."""
    threshold = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True)
    return node.get_clock().create_jump_callback(threshold, post_callback=lambda _: callback())


class WallClockWatch:
    """Detects a wall clock that was set back, by comparison with the steady clock: ROS reports jumps of
    simulated time only.
    """

    def __init__(self) -> None:
        self._ahead = float("-inf")

    def went_back(self, now: float, steady: float) -> bool:
        """Return whether the clock was set back since the last call. now, steady: seconds of both clocks."""
        before, self._ahead = self._ahead, now - steady
        return self._ahead < before - WALL_STEP


class PatientClock:
    """The node's clock; after it has stood for `patience` seconds of real time, real time is added.

    An overloaded simulator slows the clock, and the decision loop waits for it; a killed simulator must not
    keep a directive open for ever. After such a stop this time stays ahead of the node's clock: use it for
    deadlines and timeouts only. Stamps of observations are compared with the node's clock. Thread-safe.
    """

    def __init__(
        self, read: Callable[[], float], patience: float, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._patience, self._steady = read, patience, steady
        self._lock = threading.Lock()
        self._last = read()
        self._moved = steady()
        self._ahead = 0.0  # s by which this time is ahead of the node's clock

    def now(self) -> float:
        """Return seconds; the value never goes back by more than the node's clock does."""
        with self._lock:
            value, real = self._read(), self._steady()
            standing = max(0.0, real - self._moved - self._patience)
            if value != self._last:
                self._ahead += standing
                self._last, self._moved, standing = value, real, 0.0
            return value + self._ahead + standing
