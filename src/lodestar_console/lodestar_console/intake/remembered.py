"""The newest memories, requested only while a page shows them."""

from __future__ import annotations

from typing import Any

from lodestar_console.board.board import Board
from lodestar_console.intake import knowledge
from lodestar_console.web.stack_port import Wishes
from lodestar_interfaces.srv import ManageMemory
from lodestar_ros.node import LodestarNode

PERIOD = 3.0  # s between two requests


class MemoryWatch:
    """Show the page's part ``memories`` while a page wants it. Calls: ``manage_memory``."""

    def __init__(self, node: LodestarNode, board: Board) -> None:
        self._board = board
        self.wishes = Wishes()  # replaced as a whole, by any thread
        self._client = node.create_client(ManageMemory, "manage_memory")
        self._asked: Any = None
        self._waited = 0  # timer periods since the last request
        node.steady_timer(PERIOD, self._ask)

    def _ask(self) -> None:
        self._waited += 1
        waits = self._asked is not None and not self._asked.done() and self._waited < 10
        if not self.wishes.memories or waits or not self._client.service_is_ready():
            return
        self._waited = 0
        request = ManageMemory.Request(what=ManageMemory.Request.LIST)
        self._asked = self._client.call_async(request)
        self._asked.add_done_callback(self._take)

    def _take(self, future: Any) -> None:
        told = future.result() if future.exception() is None else None
        if told is not None and not told.error_code:
            self._board.replace("memories", *knowledge.memories(told))
