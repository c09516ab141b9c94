"""Memory of a group of processes, each shared page counted once (proportional set size)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil


def pss_mib(pid: int) -> float:
    """Return the proportional set size of one process, MiB; 0 where it has ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        return 0.0
    return 0.0


def summed_pss_mib(pids: Iterable[int]) -> float:
    """Return the summed PSS of processes and everything that they have started, MiB."""
    roots = set(pids)
    return sum(pss_mib(pid) for pid in roots | {child.pid for child in descendants_of(roots)})


def descendants_of(pids: Iterable[int]) -> list[psutil.Process]:
    """Return everything that processes have started and that still runs."""
    found: list[psutil.Process] = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            found += psutil.Process(pid).children(recursive=True)
    return found


class PssSampler:
    """Sample the summed PSS of processes on a thread and keep the peak.

    A sample walks every page table, some 0.1 s of the kernel's time for a stack: no more often than is needed.
    """

    def __init__(self, pids: Callable[[], list[int]], period: float = 10.0) -> None:
        self._pids = pids
        self._period = period
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None
        self._peak = 0.0

    @property
    def peak_mib(self) -> float:
        """The largest sum seen so far, MiB."""
        return self._peak

    def sample(self) -> float:
        """Take one sample now and return it, MiB."""
        value = summed_pss_mib(self._pids())
        self._peak = max(self._peak, value)
        return value

    def start(self) -> None:
        """Sample every period until `stop`."""
        if self._thread is None:
            self._halt.clear()
            self._thread = threading.Thread(target=self._run, name="pss-sampler", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop sampling; the peak stays readable."""
        self._halt.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while not self._halt.wait(self._period):
            self.sample()
