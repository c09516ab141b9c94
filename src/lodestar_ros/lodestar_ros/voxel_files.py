"""The voxel map's own part of a saved map, and what it exports for other programs."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lodestar.mapping.export import write_glb, write_instance_ply
from lodestar.mapping.persistence import KIND, VERSION, map_from_arrays, map_to_arrays
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.storage.archive import read_archive, write_archive
from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_ros.map_actions import Codes, MapError, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job


class VoxelFiles:
    """Serves ``~/save``, ``~/load`` and ``~/export``. current() is the map; replace(map) goes on with another."""

    def __init__(
        self,
        node: LodestarNode,
        current: Callable[[], SemanticVoxelMap],
        replace: Callable[[SemanticVoxelMap], None],
    ) -> None:
        self._node, self._current, self._replace = node, current, replace
        serve(node, SaveMap, "~/save", self._save)
        serve(node, LoadMap, "~/load", self._load)
        serve(node, ExportMap, "~/export", self._export)

    def _save(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        meta, arrays = map_to_arrays(self._current())
        written = write_archive(_path(job), KIND, VERSION, meta, arrays)
        return {"bytes_written": written, "entity_count": meta["instances"]}

    def _load(self, job: Job) -> dict[str, Any]:
        """On the worker of the action; a session of its own goes on with the file's, so followers start anew."""
        archive = read_archive(_path(job), KIND, VERSION)
        session = f"{str(archive.meta.get('session_id', '')).split('+')[0]}+{uuid.uuid4().hex[:6]}"
        config = self._current().config
        loaded = map_from_arrays(archive.meta, archive.arrays, config, session, self._node.now)
        self._replace(loaded)
        return {"map_id": loaded.map_id, "entity_count": len(loaded.instances())}

    def _export(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        writers = {ExportMap.Goal.FORMAT_PLY: write_instance_ply, ExportMap.Goal.FORMAT_GLB: write_glb}
        form = job.request.format
        if form not in writers:
            raise MapError(Codes.BAD_FORMAT, f"unknown format {form!r}; use ply, glb or json")
        return {"bytes_written": writers[form](self._current(), _path(job))}


def _path(job: Job) -> Path:
    if not job.request.path.strip():
        raise MapError(Codes.BAD_PATH, "no path was given")
    return Path(job.request.path).expanduser().absolute()
