"""Memory of a group of processes as proportional set size (PSS), which counts each shared page once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil


def pss_mib(pid: int) -> float:
    """Return the proportional set size of one process, MiB; 0 if it has ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        return 0.0
    return 0.0


def summed_pss_mib(pids: Iterable[int]) -> float:
    """Return the summed PSS of processes and their descendants, MiB."""
    roots = set(pids)
    return sum(pss_mib(pid) for pid in roots | {child.pid for child in descendants_of(roots)})


def descendants_of(pids: Iterable[int]) -> list[psutil.Process]:
    """Return all running descendants of processes."""
    found: list[psutil.Process] = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            found += psutil.Process(pid).children(recursive=True)
    return found


class PssSampler:
    """Samples the summed PSS of processes on a thread and keeps the peak.

    A sample walks all page tables, which takes about 0.1 s of kernel time for a stack: choose a long period.
    """

    def __init__(self, pids: Callable[[], list[int]], period: float = 10.0) -> None:
        self._pids = pids
        self._period = period
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None
        self._peak = 0.0

    @property
    def peak_mib(self) -> float:
        """Return the largest sum so far, MiB."""
        return self._peak

    def sample(self) -> float:
        """Take one sample now and return it, MiB."""
        value = summed_pss_mib(self._pids())
        self._peak = max(self._peak, value)
        return value

    def start(self) -> None:
        """Sample every `period` seconds until `stop`."""
        if self._thread is None:
            self._halt.clear()
            self._thread = threading.Thread(target=self._run, name="pss-sampler", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop sampling; the peak stays available."""
        self._halt.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while not self._halt.wait(self._period):
            self.sample()
