"""Saved maps: grid, voxels and scene, in one folder or in memory.

Each node writes its own part. A process that holds all parts uses `SavedMap`. The files are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.grid.regions import RegionTracker
from lodestar.mapping import persistence as voxel_parts
from lodestar.mapping.config import VoxelConfig
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.plan_mapper import PlanMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.scene import persistence as scene_parts
from lodestar.scene.config import SceneConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.persistence import BadScene
from lodestar.scene.region_names import RegionNames
from lodestar.scene.scene_state import SceneState
from lodestar.storage.archive import Archive, kind_of, read_archive, write_archive
from lodestar.storage.snapshot import SnapshotFolder

#: Names of the parts in the folder.
SCENE, VOXELS, GRID, KEYFRAMES = "scene.lodestar", "voxels.lodestar", "grid.lodestar", "keyframes"
_GRIDS = {mapper.KIND: mapper.VERSION for mapper in (OctoMapper, ScanGridMapper)}


@dataclass(frozen=True)
class SaveConfig:
    """Number of saves of a map, and when a save is refused because the map has shrunk."""

    keep: int = 5  # saves of one map, the newest included; chosen
    least_share: float = 0.5  # of the last save's content, 0..1; a save with less is refused; chosen
    slack_entities: int = 5  # fewer entities that a save may have; chosen: noise of a small map
    slack_area: float = 10.0  # less m^2 of known free floor that a save may have; chosen: likewise

    def __post_init__(self) -> None:
        if self.keep < 1 or not 0.0 <= self.least_share <= 1.0:
            raise ValueError("keep must be at least 1 and least_share between 0 and 1")


def shrinkage(before: Mapping[str, Any], now: Mapping[str, Any], config: SaveConfig) -> str:
    """Return in words what a map lacks against the one saved before; "" if it may replace that one.

    Both are the meta of a save: `entities`, and `free_m2` if a grid is part of it.
    """
    less = []
    for name, unit, slack in (
        ("entities", "entities", config.slack_entities),
        ("free_m2", "m2 of known floor", config.slack_area),
    ):
        if name not in before or name not in now:
            continue
        was, is_now = float(before[name]), float(now[name])
        if is_now < config.least_share * was and was - is_now >= slack:
            less.append(f"{is_now:.0f} instead of {was:.0f} {unit}")
    return " and ".join(less)


@dataclass(frozen=True)
class Loaded:
    """The parts that continue a saved map. session_id: of both voxels and scene."""

    voxels: SemanticVoxelMap
    scene: SceneState
    map_id: int
    session_id: str


@dataclass(frozen=True)
class SavedMap:
    """An immutable map that several runs may continue. grid_kind: of the mapper that saved it."""

    grid_kind: str
    grid: Archive
    voxels: Archive
    scene: Archive

    @staticmethod
    def of(
        grid: PlanMapper, voxels: SemanticVoxelMap, scene: SceneDictionary, rooms: RegionTracker
    ) -> SavedMap:
        """Return the map of these parts as they are now."""
        return SavedMap(
            grid.KIND,
            Archive({}, grid.to_arrays()),
            Archive(*voxel_parts.map_to_arrays(voxels)),
            Archive(*scene_arrays(scene, rooms)),
        )

    def write(self, path: str | Path) -> int:
        """Write the map to a folder in one step; return its size in bytes. Raises BadFolder, OSError."""
        folder = SnapshotFolder(path)
        part = folder.begin()
        try:
            for name, kind, version, archive in self._parts():
                write_archive(part / name, kind, version, archive.meta, archive.arrays)
            return folder.commit(part, {name: self.scene.meta[name] for name in ("map_id", "entities")})
        except BaseException:
            folder.discard(part)
            raise

    def _parts(self) -> tuple[tuple[str, str, int, Archive], ...]:
        return (
            (GRID, self.grid_kind, _GRIDS[self.grid_kind], self.grid),
            (VOXELS, voxel_parts.KIND, voxel_parts.VERSION, self.voxels),
            (SCENE, scene_parts.KIND, scene_parts.VERSION, self.scene),
        )

    @staticmethod
    def read(path: str | Path) -> SavedMap:
        """Return the map written by `write`. Raises BadFolder, ForeignFile, OtherVersion, OSError."""
        part, _ = SnapshotFolder(path).open()
        kind, grid = read_grid(part / GRID)
        return SavedMap(
            kind,
            grid,
            read_archive(part / VOXELS, voxel_parts.KIND, voxel_parts.VERSION),
            read_archive(part / SCENE, scene_parts.KIND, scene_parts.VERSION),
        )

    def load(self, voxels: VoxelConfig, scene: SceneConfig, rooms: RegionTracker, now: float) -> Loaded:
        """Return new voxels and scene that continue this map; the ids of regions continue in `rooms`.

        now: seconds of the continuing run; no sighting is later. Raises ForeignFile if a part does not fit
        the configuration.
        """
        session = f"{str(self.voxels.meta.get('session_id', '')).split('+')[0]}+"
        fused = voxel_parts.map_from_arrays(self.voxels.meta, self.voxels.arrays, voxels, session, now)
        state = scene_parts.scene_from_arrays(self.scene.meta, self.scene.arrays, scene, now)
        state.names = restored_names(self.scene)
        restore_rooms(rooms, self.scene)
        return Loaded(fused, state, int(self.scene.meta["map_id"]), session)


def read_grid(path: Path) -> tuple[str, Archive]:
    """Return the kind of a saved grid, and the grid. Raises ForeignFile, OtherVersion, OSError."""
    kind = kind_of(path)
    return kind, read_archive(path, kind if kind in _GRIDS else OctoMapper.KIND, _GRIDS.get(kind, 0))


def scene_arrays(
    scene: SceneDictionary, rooms: RegionTracker
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return meta and arrays of the scene's part: entities, and regions with their ids."""
    meta, arrays = scene_parts.scene_to_arrays(scene)
    room_meta, room_arrays = rooms.to_arrays()
    with scene.lock:
        room_meta["regions_moved"] = scene.state.moved.tolist()
        room_meta["region_names"] = scene.state.names.to_meta()
    return meta | room_meta, arrays | room_arrays


def restored_names(part: Archive) -> RegionNames:
    """Operators' words for the regions. Raises BadScene."""
    try:
        return RegionNames.of_meta(part.meta)
    except (ValueError, TypeError) as error:
        raise BadScene(f"names of regions: {error.__class__.__name__}: {error}") from error


def restore_rooms(rooms: RegionTracker, part: Archive) -> None:
    """Continue the ids of regions. Raises BadScene."""
    try:
        rooms.restore(part.meta, part.arrays)
        rooms.move(np.asarray(part.meta.get("regions_moved", np.eye(4)), float))
    except (KeyError, ValueError, TypeError) as error:
        raise BadScene(f"regions: {error.__class__.__name__}: {error}") from error
