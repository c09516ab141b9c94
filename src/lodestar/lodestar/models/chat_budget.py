"""Budget of tokens and cost per task for the language model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from lodestar.models.config import SpendingConfig

CHARACTERS_PER_TOKEN = 4.0  # per token of English text; rule of thumb if the endpoint reports no counts
# per token of UTF-8 outside ASCII; rather overestimates: a Chinese character is one or two tokens
BYTES_PER_TOKEN = 2.0
TOKENS_PER_IMAGE = 1100  # tokens of a 1024 x 768 image in high detail, by OpenAI's tiles


class Spending:
    """Counter of one task's tokens and cost. Thread-safe.

    Tokens reserved for pending questions count as spent.
    """

    def __init__(self, config: SpendingConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._sent = self._received = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of this task so far."""
        with self._lock:
            return self._sent + self._received

    @property
    def cost(self) -> float:
        """Return the cost of this task so far, in the currency of the prices."""
        with self._lock:
            return self._cost(self._sent, self._received)

    def reserve(self, sent: int, received: int) -> str:
        """Reserve tokens for a question. Returns "" if allowed, else a sentence with the reason."""
        config = self._config
        with self._lock:
            tokens = self._sent + self._received + sent + received
            cost = self._cost(self._sent + sent, self._received + received)
            if config.tokens and tokens > config.tokens:
                return f"the task's {config.tokens} tokens are used up"
            if config.cost and cost > config.cost:
                return f"the task's budget of {config.cost:g} is used up"
            self._sent += sent
            self._received += received
            return ""

    def settle(self, reserved: tuple[int, int], used: tuple[int, int]) -> None:
        """Replace a question's reserved tokens by those it used. Both are (sent, received)."""
        with self._lock:
            self._sent = max(self._sent - reserved[0] + used[0], 0)
            self._received = max(self._received - reserved[1] + used[1], 0)

    def _cost(self, sent: int, received: int) -> float:
        config = self._config
        return (sent * config.price_sent + received * config.price_received) / 1e6


def tokens_in(text: str) -> float:
    """Return an estimate of a text's tokens that is rather too high than too low, in any language."""
    if text.isascii():
        return len(text) / CHARACTERS_PER_TOKEN
    plain = len(text.encode("ascii", "ignore"))
    other = len(text.encode("utf-8", "surrogatepass")) - plain
    return plain / CHARACTERS_PER_TOKEN + other / BYTES_PER_TOKEN


def tokens_of(messages: Sequence[dict[str, Any]], schema_characters: int = 0) -> int:
    """Return an estimate of the tokens of a request's messages and schema."""
    tokens, pictures = schema_characters / CHARACTERS_PER_TOKEN, 0
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part["type"] == "text":
                tokens += tokens_in(part["text"])
            else:
                pictures += 1
    return int(tokens) + 1 + pictures * TOKENS_PER_IMAGE
