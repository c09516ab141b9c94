"""Diagnostics that each node publishes once a second: input age and rate, latency, drops, memory."""

from __future__ import annotations

import math
import os
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from lodestar_ros import qos

INPUT_MAX_AGE = 5.0  # s behind the node's clock; an older message is late; chosen
INPUT_MAX_AHEAD = 5.0  # s before the node's clock; a later stamp is from the future; chosen

PERIOD = 1.0  # s between two messages
LISTENED_FOR = 0.1  # s until the first message, a tenth of the period; chosen
ERROR_HOLDS = 60.0  # s for which an error keeps the status at a warning; chosen
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class InputConfig:
    """Number of ascending stamps below the newest one after which an input counts as restarted."""

    restart_after: int = 10  # ascending stamps below the newest, after which the source was restarted; chosen


class InputMonitor:
    """Counts an input's messages and decides which to drop: future, late, duplicate, or out of order.

    restarts: number of restarts of the source: its stamps went back and ascended from there.
    """

    def __init__(self, name: str, config: InputConfig = InputConfig()) -> None:
        self.name = name
        self.received = self.restarts = 0
        self.drops: Counter[str] = Counter()
        self.age = 0.0  # s, age of the newest message when it arrived
        self._config = config
        self._newest: float | None = None
        self._regressed: list[float] = []
        self._arrivals: deque[float] = deque(maxlen=50)

    def accept(self, stamp: float, now: float) -> bool:
        """Return whether to use a message; stamp and now in seconds of the node's clock."""
        self.arrived()
        self.age = now - stamp
        if now > 0.0 and -self.age > INPUT_MAX_AHEAD:  # a simulated clock reads 0 before it begins
            return self.drop("future")
        if self._newest is not None and stamp == self._newest:
            return self.drop("duplicate")
        if self._newest is not None and stamp < self._newest:
            if not self._regressed or stamp > self._regressed[-1]:
                self._regressed.append(stamp)
            else:
                self._regressed = [stamp]
            if len(self._regressed) <= self._config.restart_after:
                return self.drop("out_of_order")
            self.restarts += 1
        elif self.age > INPUT_MAX_AGE:
            self._newest = stamp
            return self.drop("late")
        self._regressed = []
        self._newest = stamp
        return True

    def arrived(self) -> None:
        """Count a message whose stamp is not checked."""
        self.received += 1
        self._arrivals.append(time.monotonic())

    def drop(self, reason: str) -> bool:
        """Count a dropped message; return False, for the caller to return."""
        self.drops[reason] += 1
        return False

    def restart_clock(self) -> None:
        """Forget the newest stamp, because the clock went back: the next message may have any stamp."""
        self._newest = None
        self._regressed = []

    def values(self) -> dict[str, str]:
        now = time.monotonic()
        span = now - self._arrivals[0] if self._arrivals else 0.0
        rate = len(self._arrivals) / span if span > 0.0 else 0.0
        silent = now - self._arrivals[-1] if self._arrivals else float("inf")
        values = {
            f"{self.name}.received": str(self.received),
            f"{self.name}.rate_hz": f"{rate:.1f}",
            f"{self.name}.age_s": f"{self.age:.3f}",
            f"{self.name}.silent_s": f"{silent:.1f}",
            f"{self.name}.dropped": str(sum(self.drops.values())),
        }
        return values | {f"{self.name}.dropped.{reason}": str(count) for reason, count in self.drops.items()}


class Diagnostics:
    """Publishes one DiagnosticStatus per second of wall time, also while the simulated clock stands.

    The first one is published as soon as there is a subscriber, so that a restarted node is seen at once.
    identity: returns the `hardware_id` to publish; see twins.py.
    """

    def __init__(self, node: Node, identity: Callable[[], str] = lambda: "") -> None:
        self._node, self._identity = node, identity
        self._inputs: dict[str, InputMonitor] = {}
        self._values: dict[str, Callable[[], object]] = {}
        self._errors = 0
        self._last: tuple[float, str] = (-math.inf, "")  # time (monotonic) and text of the last error
        self._status: tuple[int, str] = (DiagnosticStatus.OK, "running")
        self._notice: tuple[float, str] = (0.0, "")  # end (monotonic) and text of the notice
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENT)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD, self._publish, clock=steady)
        self._first = node.create_timer(LISTENED_FOR, self._publish_first, clock=steady)

    def input(self, name: str, config: InputConfig = InputConfig()) -> InputMonitor:
        """Return the monitor of an input, created on first use."""
        if name not in self._inputs:
            self._inputs[name] = InputMonitor(name, config)
        return self._inputs[name]

    def value(self, name: str, read: Callable[[], object]) -> None:
        """Report the result of `read` under a name; `read` is called on the executor and must not block."""
        self._values[name] = read

    def status(self, text: str, *, ok: bool = True) -> None:
        """Set the text of the node's status; ok=False makes it a warning."""
        self._status = (DiagnosticStatus.OK if ok else DiagnosticStatus.WARN, text)

    def notice(self, text: str, seconds: float) -> None:
        """Show a warning beside the status for this number of seconds."""
        self._notice = (time.monotonic() + seconds, text)

    def error(self, error: Exception) -> None:
        """Log and count an error; the node keeps running, and its status warns for `ERROR_HOLDS` seconds."""
        text = f"{error.__class__.__name__}: {error}"
        self._errors += 1
        self._last = time.monotonic(), text[:200]
        self._node.get_logger().error(text, throttle_duration_sec=1.0)

    def restart_clock(self) -> None:
        for monitor in self._inputs.values():
            monitor.restart_clock()

    def _publish_first(self) -> None:
        """Publish before the end of the first period if there is a subscriber by now."""
        if self._publisher.get_subscription_count() > 0:
            self._publish()

    def _publish(self) -> None:
        self._first.cancel()
        level, text = self._status
        values: dict[str, object] = {"memory_mib": f"{resident_mib():.1f}"}
        for monitor in self._inputs.values():
            values |= monitor.values()
        for name, read in self._values.items():
            try:
                values[name] = read()
            except Exception as error:  # the error concerns one value; the others are published
                values[name] = f"{error.__class__.__name__}: {error}"
                self.error(error)
        until, notice = self._notice
        if time.monotonic() < until:
            level, text = DiagnosticStatus.WARN, f"{notice}; {text}"
        if self._errors:
            values["errors"] = self._errors
        at, last = self._last
        if time.monotonic() - at < ERROR_HOLDS:
            level, text = DiagnosticStatus.WARN, f"{text}; {last}"
        status = DiagnosticStatus(level=level, name=self._node.get_name(), message=text)
        status.hardware_id = self._identity()
        status.values = [KeyValue(key=key, value=_text(value)) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def resident_mib() -> float:
    """Return the resident memory of this process, MiB; 0 if unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE / 2**20
    except OSError:
        return 0.0
