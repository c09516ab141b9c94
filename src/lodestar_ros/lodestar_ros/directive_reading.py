"""Queue of directive texts that a language model reads on a worker."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Protocol

from lodestar.assembly import parts
from lodestar.assembly.config import GoalSelectorConfig
from lodestar.language.directive import Directive
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import QueueWorker

#: Returns the directive that was read, or raises the error of reading.
Reading = Callable[[], Directive]


class Ticket(Protocol):
    """Interface of the goal whose text is read by the model; a text is skipped once its goal is withdrawn."""

    @property
    def is_wanted(self) -> bool:
        """Return whether the text must still be read."""


class ReadingDesk:
    """Reads the texts of goals on a worker, so that the decision loop need not wait.

    parse(text) may take seconds and raises DirectiveError. cancel() aborts the model's request under way.
    """

    def __init__(self, parse: Callable[[str], Directive], cancel: Callable[[], None]) -> None:
        self._parse, self._cancel = parse, cancel
        self._lock = threading.Lock()
        self._asked: Any = None  # ticket whose text is being read
        self._closed = False
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._worker: QueueWorker | None = None

    def submit(self, ticket: Ticket, text: str) -> None:
        """Queue a text; it is skipped if its ticket is no longer wanted when its turn comes."""
        if self._worker is None:
            self._worker = QueueWorker("directives", self._work)
        self._worker.submit((ticket, text))

    def hurry(self, ticket: Ticket) -> None:
        """Abort the model's request for this ticket, if it is under way."""
        with self._lock:
            asked = self._asked is not None and self._asked is ticket
        if asked:
            self._cancel()

    def take(self) -> list[tuple[Any, Reading]]:
        """Return (ticket, reading) of the texts read since the last call, also of tickets that are no longer wanted."""
        done: list[tuple[Any, Reading]] = []
        while True:
            try:
                done.append(self._done.get_nowait())
            except queue.Empty:
                return done

    def close(self) -> None:
        """Abort the request under way and end the worker; queued texts are not read."""
        with self._lock:
            self._closed, asked = True, self._asked is not None
        if asked:
            self._cancel()
        if self._worker is not None:
            self._worker.close()

    def _work(self, item: tuple[Ticket, str]) -> None:
        ticket, text = item
        with self._lock:
            if self._closed or not ticket.is_wanted:
                return
            self._asked = ticket
        try:
            directive = self._parse(text)
        except Exception as error:
            # raised again when the goal is started, where it is mapped to an error code
            self._done.put((ticket, _raising(error)))
        else:
            self._done.put((ticket, lambda: directive))
        finally:
            with self._lock:
                self._asked = None


def _raising(error: Exception) -> Reading:
    def reading() -> Directive:
        raise error

    return reading


def make_reading_desk(node: LodestarNode, config: GoalSelectorConfig) -> ReadingDesk | None:
    """Return a `ReadingDesk` for the configured language model; None if none is configured."""
    model = parts.directive_model(config, node.get_logger().warning)
    if model is None:
        return None
    desk = ReadingDesk(*model)
    node.on_close(desk.close)
    return desk
