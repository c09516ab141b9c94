"""Waits and times of tests on a machine that does other things too.

A wait is for an event, with one bound that only a hang exceeds. A bound of time leaves out how long the processes that
it is about were ready to run and waited for a core.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

#: Seconds; fifteen nodes start within 60 s on two cores that do as much other work.
PATIENCE = 240.0


def wait_for(condition: Callable[[], T], what: str | Callable[[], str], every: float = 0.02) -> T:
    """Return the first truthy value of a condition. Fails with what was waited for: a text, or a function for it."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(late(what() if callable(what) else what))
        time.sleep(every)
    return value


#: Functions that tell of processes under test, "" = nothing to tell.
WITNESSES: list[Callable[[], str]] = []


def late(what: str) -> str:
    """Return the message of a wait that ended without its event, with what the witnesses tell."""
    return "\n".join(
        [f"not within {PATIENCE:.0f} s: {what}", *filter(None, (tells() for tells in WITNESSES))]
    )


@dataclass(frozen=True)
class Moment:
    """A time, and how long the threads of some processes had waited for a core until then."""

    at: float  # s, monotonic
    waited: dict[int, float]  # s, by process
    _since: dict[int, float] = field(default_factory=dict, compare=False)  # s since then, at the last look

    @classmethod
    def now(cls, pids: Iterable[int] = ()) -> Moment:
        """Return this moment of some processes and of the test's own."""
        return cls(time.monotonic(), _waited([os.getpid(), *pids]))

    def waits(self) -> float:
        """Return seconds since then in which threads of these processes waited for a core, all together.

        Of an ended process these are its waits until the last call.
        """
        for pid, until_now in _waited(self.waited).items():
            self._since[pid] = max(self._since.get(pid, 0.0), until_now - self.waited[pid])
        return sum(self._since.values())

    def until(self, later: float) -> float:
        """Return seconds until a time (monotonic) before now, without waits for a core."""
        return later - self.at - self.waits()

    def passed(self) -> float:
        """Return seconds until now, without waits for a core."""
        return self.until(time.monotonic())


def _waited(pids: Iterable[int]) -> dict[int, float]:
    """Return seconds that the threads of processes were ready to run and did not. Nothing of ended processes."""
    found = dict.fromkeys(pids, 0.0)
    for pid in found:
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):  # the thread has ended
                found[pid] += int(file.read_text().split()[1]) / 1e9
    return found
