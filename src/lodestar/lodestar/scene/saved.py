"""Saved maps: grid, voxels and scene, in one folder or in memory.

Each node writes its own part. A process that holds all parts uses `SavedMap`. The files are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lodestar.grid.regions import RegionTracker
from lodestar.mapping import persistence as voxel_parts
from lodestar.mapping.config import VoxelConfig
from lodestar.mapping.grid_archive import GRID_VERSIONS, read_grid
from lodestar.mapping.plan_mapper import PlanMapper
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.scene import persistence as scene_parts
from lodestar.scene.config import SceneConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.scene_part import GRID, SCENE, VOXELS, restore_rooms, restored_names, scene_arrays
from lodestar.scene.scene_state import SceneState
from lodestar.storage.archive import Archive, read_archive, write_archive
from lodestar.storage.snapshot import SnapshotFolder


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
            (GRID, self.grid_kind, GRID_VERSIONS[self.grid_kind], self.grid),
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
