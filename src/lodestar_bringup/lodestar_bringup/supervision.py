"""Rules for restarting a process of the stack that dies, or ending the stack; for starter and launch
files.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from lodestar_bringup.process_spec import ProcessSpec

#: Exit status of a node with invalid parameters or missing packages, which would die again.
UNUSABLE = 2


@dataclass(frozen=True)
class RestartLimits:
    """Delay before a restart, and number of deaths in a time window that ends the stack; seconds of wall
    time.
    """

    # seconds before the restart; chosen: the kernel has freed its devices, and the log shows two starts
    delay: float = 0.5
    deaths: int = 3  # deaths of one process within `window` that end the stack; chosen: a repeated fault
    window: float = 60.0  # seconds; chosen: longer than a node takes to start


class Supervision:
    """Records deaths and decides whether the process is restarted or the stack ends."""

    def __init__(self, specs: Sequence[ProcessSpec], limits: RestartLimits | None = None) -> None:
        self.limits = limits or RestartLimits()
        self._restart = {spec.name: spec.restart for spec in specs}
        self._needed = {spec.name: spec.needed for spec in specs}
        self._deaths: dict[str, deque[float]] = defaultdict(deque)

    def end_reason(self, name: str, returncode: int, now: float) -> str:
        """Return why a death ends the stack, or "" if the process must be restarted after `delay`.

        The death of a process that the stack does not need ends it only if the process cannot start with its
        configuration.
        """
        if not self._restart[name]:
            return f"{name} is never restarted automatically"
        needed = self._needed[name]
        if returncode == UNUSABLE and (needed or name not in self._deaths):
            return f"{name} cannot run with its configuration (exit status 2)"
        recent = self._deaths[name]
        recent.append(now)
        while recent[0] < now - self.limits.window:
            recent.popleft()
        if needed and len(recent) >= self.limits.deaths:
            return f"{name} died {len(recent)} times within {self.limits.window:.0f} s"
        return ""

    def delay(self, name: str) -> float:
        """Return the seconds until a process is restarted; longer if the process keeps dying."""
        keeps_dying = len(self._deaths[name]) >= self.limits.deaths
        return self.limits.window / self.limits.deaths if keeps_dying else self.limits.delay
