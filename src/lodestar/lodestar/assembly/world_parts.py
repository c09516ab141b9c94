"""Makes the parts of the world model.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lodestar.assembly.config import WorldModelConfig
from lodestar.scene.mirror import SceneMirror
from lodestar.storage.journal_file import JournalFile
from lodestar.worldmodel.closed_ways import WayBook
from lodestar.worldmodel.events import WorldEvent
from lodestar.worldmodel.skills import skills_with
from lodestar.worldmodel.transactions import KIND, OLDER, VERSION, Line, Transactions
from lodestar.worldmodel.validation import TraceValidator, World
from lodestar.worldmodel.world_model import SceneWriter, WorldModel

JOURNAL = "world_model.journal"  # name of the file in its folder


def journal_file(folder: Path) -> JournalFile[Line]:
    """Return the journal in a folder, which is made where it is missing. Raises OSError, UnsafeFolder."""
    return JournalFile(folder / JOURNAL, KIND, VERSION, Line, OLDER)


def trace_validator(config: WorldModelConfig, world: World) -> TraceValidator:
    """Return the checker of traces against what a world knows; that of the decision loop has the same limits.

    It also knows the skills of `skills_file`. Raises BadSkills.
    """
    return TraceValidator(world, config.validation, skills_with(config.skills_file))


def world_model(
    config: WorldModelConfig,
    writer: SceneWriter,
    tell: Callable[[WorldEvent], None],
    mirror: SceneMirror,
    journal: JournalFile[Line] | None = None,
) -> WorldModel:
    """Return the world model, which goes on from what its journal holds. tell: hears every event. Raises BadSkills."""
    return WorldModel(
        Transactions(journal),
        writer,
        tell,
        WayBook(config.ways),
        mirror.name_of,
        skills_with(config.skills_file),
        mirror,
        config.validation,
    )
