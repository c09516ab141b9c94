"""Makes what answers from the memory.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from lodestar.assembly.config import MemoryConfig
from lodestar.memory.answering.agent import ModelAnswerer, make_answer_chat
from lodestar.memory.answering.agent_tools import Pictures
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.tools import Tools
from lodestar.models.chat import OpenAiChat

_log = logging.getLogger(__name__)


def answer_chat(config: MemoryConfig) -> OpenAiChat | None:
    """Return the language model that may answer, None where none is configured. Nothing is connected to yet."""
    return make_answer_chat(config.agent)


def answerer(
    config: MemoryConfig,
    tools: Tools,
    chat: OpenAiChat | None = None,
    *,
    pictures: Pictures | None = None,
    warn: Callable[[str], None] = _log.warning,
    begin: Callable[[], None] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Answerer | ModelAnswerer:
    """Return what answers typed questions: offline, or with the language model where the offline answer is not sure.

    begin: called before the model is asked. See `ModelAnswerer` for the others.
    """
    offline = Answerer(tools, config.answering)
    if chat is None:
        return offline

    def start() -> None:
        chat.begin_task()
        begin()

    return ModelAnswerer(
        chat,
        offline,
        config.agent,
        pictures=pictures,
        warn=warn,
        begin=start,
        cancel=chat.cancel,
        stopped=stopped,
    )
