"""Client that fills a phrase book (phrase -> text embedding) from the embedder, and retries until it has a
model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from lodestar.models.phrases import DEFAULT_CAPACITY, PhraseBook
from lodestar_interfaces.srv import EmbedTexts
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_sensors import vectors_from_msg

BATCH = 128  # phrases per request
RETRY = 0.1  # s between two attempts
ANSWER_TIMEOUT = 10.0  # s after which a request counts as lost


class EmbedderClient:
    """Sends one request at a time without blocking; `on_filled` is called on the executor after phrases were added."""

    def __init__(
        self, node: Node, book: PhraseBook, on_filled: Callable[[], None] | None = None, name: str = "embed"
    ) -> None:
        self._node = node
        self._book = book
        self._on_filled = on_filled
        self._client = node.create_client(EmbedTexts, name)
        self._wanted: dict[str, None] = {}
        self._asked: tuple[str, ...] = ()
        self._asked_at = 0.0
        self._timer = node.create_timer(RETRY, self._ask, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def pending(self) -> int:
        """Return the number of requested phrases without a vector."""
        return len(self._wanted)

    def request(self, phrases: Iterable[str]) -> None:
        """Request the vectors of phrases that the book lacks. Executor only."""
        missing = self._book.missing(phrases)
        self._wanted.update(dict.fromkeys(missing))
        if missing:
            self._ask()

    def want(self, phrases: Iterable[str]) -> None:
        """Request vectors from any thread; the executor sends the request within `RETRY` seconds."""
        self._wanted.update(dict.fromkeys(phrases))

    def _ask(self) -> None:
        lost = time.monotonic() - self._asked_at > ANSWER_TIMEOUT
        if not self._wanted or (self._asked and not lost) or not self._client.service_is_ready():
            return
        self._asked = tuple(self._wanted)[:BATCH]
        self._asked_at = time.monotonic()
        asked = self._asked
        future = self._client.call_async(EmbedTexts.Request(phrases=list(asked)))
        future.add_done_callback(lambda done: self._on_answer(asked, done))

    def _on_answer(self, asked: tuple[str, ...], future: Any) -> None:
        if asked is not self._asked:
            return
        self._asked = ()
        response = future.result() if future.exception() is None else None
        if response is None or response.error_code == EmbedTexts.Response.MODEL_UNAVAILABLE:
            return  # the timer retries
        for phrase in asked:
            self._wanted.pop(phrase, None)
        if response.error_code != 0:
            self._node.get_logger().warning(f"text embedder: {response.error_msg}", throttle_duration_sec=5.0)
            return
        try:
            self._book.add(asked, vectors_from_msg(response.embeddings), response.model)
        except (BadMessage, ValueError) as error:
            self._node.get_logger().error(f"bad answer from the text embedder: {error}")
            return
        if self._on_filled is not None:
            self._on_filled()
        self._ask()


class RemotePhraseBook(PhraseBook):
    """A phrase book (phrase -> text embedding) that fetches missing embeddings; `vectors` blocks for up to
    `patience` seconds (0 = not at all).

    For worker threads only. Raises MissingPhrases if the embedder does not answer in time; the vectors still
    arrive later.
    """

    def __init__(self, patience: float = 0.8, capacity: int = DEFAULT_CAPACITY) -> None:
        super().__init__(capacity=capacity)
        self._patience = patience
        self._client: EmbedderClient | None = None

    def connect(self, node: Node) -> EmbedderClient:
        """Create the client on this node."""
        self._client = EmbedderClient(node, self)
        return self._client

    def hurry(self) -> None:
        """Wait for no embedding any more: a node that closes receives none."""
        self._patience = 0.0

    def vectors(self, phrases: Sequence[str]) -> np.ndarray:
        missing = self.missing(phrases)
        if missing and self._client is not None:
            self._client.want(missing)
            began = time.monotonic()
            while self.missing(missing) and time.monotonic() - began < self._patience:
                time.sleep(0.02)
        return super().vectors(phrases)
