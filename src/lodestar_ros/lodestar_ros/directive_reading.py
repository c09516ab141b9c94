"""A desk where texts wait for a language model on a worker."""

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

#: Returns what was read, or raises why it could not be.
Reading = Callable[[], Directive]


class Ticket(Protocol):
    """The goal that a text is read for."""

    @property
    def is_wanted(self) -> bool:
        """Return whether its text is still to be read."""
        ...


class ReadingDesk:
    """Read the texts of goals without keeping the loop waiting.

    parse(text) may take seconds and raises DirectiveError. cancel() ends the question that it waits for.
    """

    def __init__(self, parse: Callable[[str], Directive], cancel: Callable[[], None]) -> None:
        self._parse, self._cancel = parse, cancel
        self._lock = threading.Lock()
        self._asked: Any = None  # ticket whose question is under way
        self._closed = False
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._worker: QueueWorker | None = None

    def submit(self, ticket: Ticket, text: str) -> None:
        """Have a text read, unless its ticket is not wanted any more when it is its turn."""
        if self._worker is None:
            self._worker = QueueWorker("directives", self._work)
        self._worker.submit((ticket, text))

    def hurry(self, ticket: Ticket) -> None:
        """Wait no longer for the model's reading of a text."""
        with self._lock:
            asked = self._asked is not None and self._asked is ticket
        if asked:
            self._cancel()

    def take(self) -> list[tuple[Any, Reading]]:
        """Return the tickets read since the last call, also those that are not wanted any more."""
        done: list[tuple[Any, Reading]] = []
        while True:
            try:
                done.append(self._done.get_nowait())
            except queue.Empty:
                return done

    def close(self) -> None:
        """End the question under way and the worker; what waits is not read."""
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
        except Exception as error:  # raised again where the goal is started, which gives it its code
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
    """A desk for the language model that the configuration names; None where the grammar reads at once."""
    model = parts.directive_model(config, node.get_logger().warning)
    if model is None:
        return None
    desk = ReadingDesk(*model)
    node.on_close(desk.close)
    return desk
