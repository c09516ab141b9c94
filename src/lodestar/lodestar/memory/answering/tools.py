"""Data sources of answers: memory store, scene, grid, images and record of the floor that was looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.items import Item
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.shots import Shot
from lodestar.memory.evidence.selection import Selection
from lodestar.memory.requests import Hit, Request
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror


class Memories(Protocol):
    """Read-only interface to the memory store."""

    def search(self, request: Request) -> list[Hit]:
        """Return the memories that pass the request's filters; see `MemoryStore.search`."""


class AnswerCancelled(Exception):
    """Raised if the answer was cancelled."""


def never() -> bool:
    """Return False; the default of `Tools.cancelled` for answers that cannot be cancelled."""
    return False


@dataclass(frozen=True)
class Tools:
    """Data sources of an answer.

    scene: entities, merges and regions; its owner keeps it up to date and does not change it during an
    answer. use_scene: whether answers may use entities of the scene; if not, they use only the memories
    selected as evidence, and the scene for merges and rooms. select: rule to select evidence, None =
    Information Bottleneck. phrases: text vectors; raises MissingPhrases for phrases without one. grid, looks:
    None = no viewpoints, no coverage. shots: stored images. cancelled: called between steps; True stops the
    answer.
    """

    memories: Memories
    phrases: PhraseBook
    scene: SceneMirror
    select: Selection | None = None
    use_scene: bool = True
    grid: OccupancyGrid2D | None = None
    looks: FloorLooks | None = None
    shots: Sequence[Shot] = ()
    cancelled: Callable[[], bool] = never

    def check(self) -> None:
        """Raise AnswerCancelled if the answer was cancelled."""
        if self.cancelled():
            raise AnswerCancelled("cancelled")


@dataclass(frozen=True)
class Shown:
    """Object meant by "this" in a question, taken from the question's picture or from the current view.

    item: its description (`language.picture_goals`). entity_id: of the object in view, 0 = unknown.
    """

    item: Item
    entity_id: int = 0


def unit_rows(tools: Tools, phrases: Sequence[str]) -> np.ndarray:
    """Return the unit text vectors (N, D) of N phrases. Raises MissingPhrases, AnswerCancelled."""
    tools.check()
    return np.asarray(tools.phrases.vectors(tuple(phrases)), np.float32)
