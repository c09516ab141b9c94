"""The rule for a process of the stack that dies; the starter and the launch files ask the same one."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from lodestar_bringup.process_spec import ProcessSpec

#: Exit status of a node with unusable parameters or packages: it would die again.
UNUSABLE = 2


@dataclass(frozen=True)
class RestartLimits:
    """Limits of restarting a process, in wall time."""

    delay: float = (
        0.5  # seconds before the restart; chosen: the kernel has freed its devices, and the log shows two
    )
    deaths: int = 3  # of one process within `window` that end the stack; chosen: a repeated fault
    window: float = 60.0  # seconds; chosen: above the time in which a node starts


class Supervision:
    """Record deaths and decide whether the process is restarted or the stack ends."""

    def __init__(self, specs: Sequence[ProcessSpec], limits: RestartLimits | None = None) -> None:
        self.limits = limits or RestartLimits()
        self._restart = {spec.name: spec.restart for spec in specs}
        self._needed = {spec.name: spec.needed for spec in specs}
        self._deaths: dict[str, deque[float]] = defaultdict(deque)

    def end_reason(self, name: str, returncode: int, now: float) -> str:
        """Return why a death ends the stack, or "" if the process is to be restarted after `delay`.

        One that is not needed ends it only where it cannot run as it was configured from the start.
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
        """Return s until a process is started again; longer where it is not needed and keeps dying."""
        keeps_dying = len(self._deaths[name]) >= self.limits.deaths
        return self.limits.window / self.limits.deaths if keeps_dying else self.limits.delay
