"""Sessions (scenes to be compared), made from a saved map in a folder or from a running scene."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from lodestar.assembly.config import MappingConfig, SceneDictionaryConfig
from lodestar.assembly.parts import plan_mapper_from, scene_dictionary
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.occupancy.scan_grid import ScanGridMapper
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.persistence import scene_part
from lodestar.scene.session_sights import SessionScene
from lodestar.storage.archive import Archive, ArchiveError
from lodestar.storage.saved_map import GRID, SavedMap
from lodestar.storage.snapshot import SnapshotFolder


def saved_session(
    path: str | Path, mapping: MappingConfig | None = None, config: SceneDictionaryConfig | None = None
) -> SessionScene:
    """Return the session that a saved map in a folder holds. Raises BadFolder, ForeignFile, OtherVersion,
    OSError.

    Without a grid that fits the configuration, the observed area and the rooms are unknown.
    """
    _, known = SnapshotFolder(path).open()
    saved, scene = SavedMap.read(path), scene_dictionary(config or SceneDictionaryConfig())
    saved.load(
        [scene_part(scene, lambda: np.inf, lambda one: scene.replace(one.state, one.map_id, one.session_id))]
    )
    while scene.flush().updated:
        pass
    grid = None if GRID not in saved.parts else _fitting_grid(saved.parts[GRID], mapping or MappingConfig())
    if grid is not None:
        scene.find_regions(grid)
    return SessionScene(
        scene.entities(), scene.map_id, scene.session_id, float(known.get("saved", np.nan)), scene.regions,
        scene.rooms, grid, scene.resolve,
    )  # fmt: skip


def _fitting_grid(archive: Archive, config: MappingConfig) -> OccupancyGrid2D | None:
    """Return the grid of a saved map; None if it does not fit the configuration."""
    fitting = replace(config, source="scan") if archive.kind == ScanGridMapper.KIND else config
    try:
        return plan_mapper_from(fitting, archive.kind, archive.arrays).project(0.0)
    except ArchiveError:
        return None


def running_session(mirror: SceneMirror, now: float, grid: OccupancyGrid2D | None = None) -> SessionScene:
    """Return the session of a running scene, copied from its mirror. now: seconds since the epoch."""
    return SessionScene(
        dict(mirror.entities), mirror.map_id, mirror.session_id, now, dict(mirror.regions), mirror.rooms, grid,
        mirror.resolve,
    )  # fmt: skip
