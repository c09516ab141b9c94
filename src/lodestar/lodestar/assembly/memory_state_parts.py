"""Makes what a memory keeps up to date beside the memories themselves: snapshots, and where the camera looked."""

from __future__ import annotations

from lodestar.memory.answering.config import AnsweringConfig
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.config import SnapshotConfig
from lodestar.memory.snapshot_upkeep import SnapshotUpkeep


def snapshot_upkeep(config: SnapshotConfig) -> SnapshotUpkeep:
    """Return what selects the images that stand for all entities; it knows none yet."""
    return SnapshotUpkeep(config)


def floor_looks(config: AnsweringConfig) -> FloorLooks:
    """Return what keeps where the camera looked, for the share of the floor in answers; it has no looks yet."""
    return FloorLooks(config.coverage)
