"""Construction of the experts' reasoner from the configuration."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from lodestar.language.background_reasoner import BackgroundReasoner
from lodestar.language.config import ReasonerConfig
from lodestar.language.model_reasoner import ModelReasoner
from lodestar.language.reasoner import OfflineReasoner, Reasoner
from lodestar.models.chat import OpenAiChat

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReasonerHandle:
    """A reasoner with functions for its owner. tokens(): tokens used in the current task. close(): stops the
    reasoner. discarded(): number of answers about another image than the one in the question.
    """

    reasoner: Reasoner
    tokens: Callable[[], int]
    close: Callable[[], None]
    discarded: Callable[[], int] = lambda: 0


def make_reasoner(config: ReasonerConfig, warn: Callable[[str], None] = _log.warning) -> ReasonerHandle:
    """Return the configured reasoner. It always answers at once; a language model runs in a background
    thread.
    """
    if not config.asks_model:
        return ReasonerHandle(OfflineReasoner(), lambda: 0, lambda: None)
    chat = OpenAiChat(config.chat)
    inner = ModelReasoner(chat, prompt=config.prompt, warn=warn)
    reasoner = BackgroundReasoner(inner, prompt=config.prompt)
    return ReasonerHandle(reasoner, lambda: chat.spending.tokens, reasoner.close, lambda: inner.discarded)
