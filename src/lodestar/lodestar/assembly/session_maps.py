"""Sessions to compare: a saved map of a folder, or a mirror of a running scene."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from lodestar.assembly.config import MappingConfig, SceneDictionaryConfig
from lodestar.assembly.mapping_parts import plan_mapper_from
from lodestar.assembly.scene_parts import region_tracker, scene_dictionary
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.grid_archive import read_grid
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.persistence import KIND, VERSION, scene_from_arrays
from lodestar.scene.scene_part import GRID, SCENE, restore_rooms, restored_names
from lodestar.scene.session_sights import SessionScene
from lodestar.storage.archive import ArchiveError, read_archive
from lodestar.storage.snapshot import SnapshotFolder


def saved_session(
    path: str | Path,
    mapping: MappingConfig | None = None,
    config: SceneDictionaryConfig | None = None,
) -> SessionScene:
    """Return the session that a saved map holds. Raises BadFolder, ForeignFile, OtherVersion, OSError.

    Without a grid that fits the configuration, what was looked at and the rooms are unknown.
    """
    part, known = SnapshotFolder(path).open()
    archive = read_archive(part / SCENE, KIND, VERSION)
    scene = scene_dictionary(config or SceneDictionaryConfig())
    state = scene_from_arrays(archive.meta, archive.arrays, scene.config, np.inf)
    state.names = restored_names(archive)
    session, map_id = str(archive.meta["session_id"]), int(archive.meta["map_id"])
    scene.replace(state, map_id, session, "")
    while scene.flush().updated:
        pass
    grid = _saved_grid(part / GRID, mapping or MappingConfig())
    rooms = region_tracker()
    restore_rooms(rooms, archive)
    if grid is not None:
        scene.find_regions(grid, rooms)
    return SessionScene(
        scene.entities(), map_id, session, float(known.get("saved", np.nan)), scene.regions, scene.rooms, grid,
        scene.resolve,
    )  # fmt: skip


def _saved_grid(path: Path, config: MappingConfig) -> OccupancyGrid2D | None:
    """Return the grid of a saved map; None where it has none that fits."""
    if not path.is_file():
        return None
    try:
        kind, archive = read_grid(path)
        fitting = replace(config, source="scan") if kind == ScanGridMapper.KIND else config
        return plan_mapper_from(fitting, kind, archive.arrays).project(0.0)
    except ArchiveError:
        return None


def running_session(mirror: SceneMirror, now: float, grid: OccupancyGrid2D | None = None) -> SessionScene:
    """Return the session that a mirror of the scene follows. now: seconds since the epoch."""
    return SessionScene(
        dict(mirror.entities), mirror.map_id, mirror.session_id, now, dict(mirror.regions), mirror.rooms, grid,
        mirror.resolve,
    )  # fmt: skip
