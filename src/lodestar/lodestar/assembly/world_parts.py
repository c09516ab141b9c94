"""Makes the parts of the world model.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lodestar.assembly.config import WorldModelConfig
from lodestar.scene.amendments import AmendmentRefused, Refusal
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import SceneDelta
from lodestar.storage.journal_file import JournalFile
from lodestar.worldmodel.amendments import Amendment
from lodestar.worldmodel.closed_ways import WayBook
from lodestar.worldmodel.events import WorldEvent
from lodestar.worldmodel.scene_edits import amend_scene
from lodestar.worldmodel.trace_sentences import Names
from lodestar.worldmodel.transactions import KIND, VERSION, Transactions
from lodestar.worldmodel.world_model import Problem, Reply, SceneWriter, WorldModel

JOURNAL = "world_model.journal"  # name of the file in its folder

_PROBLEMS = {
    Refusal.UNKNOWN_ENTITY: Problem.UNKNOWN_ENTITY,
    Refusal.STALE: Problem.CONFLICT,
    Refusal.BAD_REQUEST: Problem.BAD_REQUEST,
}


class LocalScene:
    """The write path in one process: amends a scene dictionary, and tells its deltas."""

    def __init__(self, scene: SceneDictionary, publish: Callable[[SceneDelta], None]) -> None:
        self._scene, self._publish = scene, publish

    def amend(self, amendments: Sequence[Amendment], answered: Callable[[Reply], None]) -> None:
        """Carry them out, or refuse all, before returning."""
        try:
            made = amend_scene(self._scene, amendments)
        except AmendmentRefused as refused:
            answered(Reply(problem=_PROBLEMS[refused.refusal], why=str(refused)))
            return
        self._publish(made.delta)
        answered(Reply(made.inverse))


def journal_file(folder: Path) -> JournalFile:
    """Return the journal in a folder, which is made where it is missing. Raises OSError, UnsafeFolder."""
    return JournalFile(folder / JOURNAL, KIND, VERSION)


def world_model(
    config: WorldModelConfig,
    writer: SceneWriter,
    tell: Callable[[WorldEvent], None],
    names: Names,
    journal: JournalFile | None = None,
) -> WorldModel:
    """Return the world model, which goes on from what its journal holds. tell: hears every event."""
    return WorldModel(Transactions(journal), writer, tell, WayBook(config.ways), names)
