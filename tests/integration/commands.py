"""Command-line programs run as processes, with their output recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from waiting import PATIENCE, late


class Command:
    """`python -m MODULE ARGUMENTS` run in its own session; its output is stored by lines."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self.lines: list[str] = []
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", module, *arguments],
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def until(self, condition: Callable[[], Any], what: str) -> None:
        """Wait until a condition holds, checked at every output line; on timeout fail with the output."""
        with self._news:
            assert self._news.wait_for(condition, PATIENCE), late(f"{what}\n{self.text}")

    def interrupt(self) -> None:
        """Send SIGINT, like Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def ends(self) -> int:
        """Wait for its end and return the exit status."""
        status = self.process.wait(PATIENCE)
        self._reader.join(5.0)
        return status

    def kill(self) -> None:
        """Kill the process if it still runs."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
