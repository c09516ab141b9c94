"""Makes what answers questions from memory.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from lodestar.assembly.config import MemoryConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.likely_questions import LikelyQuestions
from lodestar.memory.answering.agent import ModelAnswerer, make_answer_chat
from lodestar.memory.answering.agent_tools import Pictures
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.config import AgentConfig, AnsweringConfig
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.tools import Memories, Tools, never
from lodestar.memory.evidence import Selection
from lodestar.memory.records import Memory
from lodestar.memory.vision_captions import VisionCaptions, make_vision_captions
from lodestar.models.chat import OpenAiChat
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror

_log = logging.getLogger(__name__)


def answerer(
    memories: Memories,
    phrases: PhraseBook,
    scene: SceneMirror,
    config: AnsweringConfig | None = None,
    *,
    grid: OccupancyGrid2D | None = None,
    looks: FloorLooks | None = None,
    use_scene: bool = True,
    select: Selection | None = None,
    cancelled: Callable[[], bool] = never,
) -> Answerer:
    """Return what answers over a store, a scene that does not change meanwhile, and the floor; see `Tools`."""
    tools = Tools(memories, phrases, scene, select, use_scene, grid, looks, cancelled)
    return Answerer(tools, config)


def likely_questions(phrases: PhraseBook, config: AnsweringConfig | None = None) -> LikelyQuestions:
    """Return what finds the plain question behind other words; it computes vectors when it is first asked."""
    return LikelyQuestions(lambda said: phrases.vectors(tuple(said)), (config or AnsweringConfig()).likely)


def answer_chat(config: AgentConfig) -> OpenAiChat | None:
    """Return the language model that may answer, None where none is configured. Nothing is connected to yet."""
    return make_answer_chat(config)


def model_answerer(
    offline: Answerer,
    chat: OpenAiChat,
    config: AgentConfig,
    *,
    pictures: Pictures | None = None,
    warn: Callable[[str], None] = _log.warning,
    begin: Callable[[], None] = lambda: None,
) -> ModelAnswerer:
    """Return what asks the language model where the offline answer is not sure.

    begin: called before the model is asked. See `ModelAnswerer` for the others.
    """

    def start() -> None:
        chat.begin_task()
        begin()

    return ModelAnswerer(chat, offline, config, pictures=pictures, warn=warn, begin=start, cancel=chat.cancel)


def segment_captions(
    config: MemoryConfig, image_of: Callable[[Memory], bytes]
) -> tuple[VisionCaptions, OpenAiChat] | None:
    """Return a vision model that captions segments, and its chat; None where none is configured."""
    return make_vision_captions(config.captions, image_of)
