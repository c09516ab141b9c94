"""A console around the script, which goes on by itself."""

from __future__ import annotations

import threading
import time

from lodestar_console.board.board import Board
from lodestar_console.scripted.building import PERIOD, THINGS
from lodestar_console.scripted.stack import ScriptedStack
from lodestar_console.web.console import Console, ConsoleConfig


class ScriptedConsole:
    """A console around a script that goes on by itself."""

    def __init__(self, config: ConsoleConfig, points: int = 4000, objects: int = len(THINGS)) -> None:
        self.board = Board("Scripted", time.time)
        self.stack = ScriptedStack(self.board, points, objects)
        self.console = Console(self.board, self.stack, config)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="script", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(PERIOD):
            self.stack.step()

    def close(self) -> None:
        """End the script and the console."""
        self._ended.set()
        self._thread.join()
        self.console.close()
