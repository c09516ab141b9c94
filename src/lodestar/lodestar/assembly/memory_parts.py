"""Makes what answers questions from memory.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.answering.agent import AnswerModel
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.config import AnsweringConfig, AnswerModelConfig
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.tools import Memories, Tools, never
from lodestar.memory.evidence import Selection, bottleneck_evidence
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
    select: Selection = bottleneck_evidence,
    cancelled: Callable[[], bool] = never,
) -> Answerer:
    """Return what answers over a store, a scene that does not change meanwhile, and the floor; see `Tools`."""
    tools = Tools(memories, phrases, scene, select, use_scene, grid, looks, cancelled)
    return Answerer(tools, config)


def answer_model(config: AnswerModelConfig, warn: Callable[[str], None] = _log.warning) -> AnswerModel | None:
    """Return the language model that answers where memory is not sure; None where none is configured."""
    return None if config.adapter == "offline" else AnswerModel(config, warn)
