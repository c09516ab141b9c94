"""A console with a scripted stack that advances on its own thread."""

from __future__ import annotations

import threading
import time

from lodestar_console.board.board import Board
from lodestar_console.web.console import Console, ConsoleConfig
from scripted_robot.building import PERIOD, THINGS
from scripted_robot.stack import ScriptedStack


class ScriptedConsole:
    """A console with a scripted stack that advances on its own thread."""

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
        """Stop the script and the console."""
        self._ended.set()
        self._thread.join()
        self.console.close()
