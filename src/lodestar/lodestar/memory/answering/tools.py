"""Means of answering: ports to the store, the scene, the grid and what was looked at."""

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
    """Port of the store: nothing here can change it."""

    def search(self, request: Request) -> list[Hit]:
        """Return what passes the request's filters; see `MemoryStore.search`."""
        ...


class AnswerCancelled(Exception):
    """The answer was cancelled."""


def never() -> bool:
    """Return false: nobody can cancel the answer."""
    return False


@dataclass(frozen=True)
class Tools:
    """scene: entities, merges and regions; its owner keeps it up to date and does not change it during an answer.

    use_scene: whether entities of the scene answer; else only the selected evidence does, and the scene gives merges
    and rooms alone. select: None = that of the configuration. phrases: raises MissingPhrases where it cannot embed;
    fetch what that names, and ask again.
    grid, looks: None = no viewpoints, no coverage. shots: images that the memory keeps. cancelled: whether to stop;
    asked between pieces of work.
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
        """Raises AnswerCancelled where nobody waits any more."""
        if self.cancelled():
            raise AnswerCancelled("cancelled")


@dataclass(frozen=True)
class Shown:
    """Subject of a question with "this": read from its picture, or in view now.

    item: in words (`language.picture_goals`). entity_id: of the thing in view, 0 = not known.
    """

    item: Item
    entity_id: int = 0


def unit_rows(tools: Tools, phrases: Sequence[str]) -> np.ndarray:
    """Return the unit vectors (N, D) of phrases. Raises MissingPhrases, AnswerCancelled."""
    tools.check()
    return np.asarray(tools.phrases.vectors(tuple(phrases)), np.float32)
