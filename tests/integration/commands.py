"""Programs for a terminal, as processes whose words are kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from integration.bed import PATIENCE


class Command:
    """`python -m MODULE ARGUMENTS` in a session of its own; what it writes is kept line by line."""

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

    def until(self, condition: Callable[[], Any], what: str, timeout: float = PATIENCE) -> None:
        """A condition holds, looked at with every line; else the test fails with what was written."""
        with self._news:
            assert self._news.wait_for(condition, timeout), f"not within {timeout:.0f} s: {what}\n{self.text}"

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def ends(self, timeout: float = PATIENCE) -> int:
        """Its exit status."""
        status = self.process.wait(timeout)
        self._reader.join(5.0)
        return status

    def kill(self) -> None:
        """End it where it still runs."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
