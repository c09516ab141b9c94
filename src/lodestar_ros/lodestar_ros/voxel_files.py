"""The voxel map's part of a saved map, its checkpoints, and its exports."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

from lodestar.assembly import voxel_parts
from lodestar.assembly.config import SemanticVoxelsConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.mapping.export import write_glb, write_instance_ply
from lodestar.mapping.persistence import KIND, VERSION, map_from_arrays, map_to_arrays
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.storage.archive import Archive, read_archive, write_archive
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import Codes, MapError, path_of, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job


class VoxelFiles:
    """Serve ``~/save``, ``~/load`` and ``~/export``, and take checkpoints.

    replace(map) is called with the map to use: the initial one at once, a loaded one on a worker.
    """

    def __init__(
        self,
        node: LodestarNode,
        config: SemanticVoxelsConfig,
        shared: SharedConfig,
        checkpoints: CheckpointConfig,
        current: Callable[[], SemanticVoxelMap],
        replace: Callable[[SemanticVoxelMap], None],
    ) -> None:
        self._node, self._config, self._shared = node, config, shared
        self._current, self._replace = current, replace
        self._checkpoints = Checkpointer(node, checkpoints, KIND, VERSION)
        replace(self._checkpoints.restore(self._resumed) or self._empty())
        self.note_ids()
        serve(node, SaveMap, "~/save", self._save)
        serve(node, LoadMap, "~/load", self._load)
        serve(node, ExportMap, "~/export", self._export)

    def keep(self, changed: Callable[[], object]) -> None:
        """Take checkpoints from now on; changed: see `Checkpointer.keep`."""
        self._checkpoints.keep(lambda: map_to_arrays(self._current()), changed)

    def note_ids(self) -> None:
        """Note the ids assigned so far, so that a successor does not reuse them; call this before publishing them."""
        voxels = self._current()
        self._checkpoints.note(session=_base(voxels.session_id), next_id=voxels.next_id)

    def _empty(self) -> SemanticVoxelMap:
        """Return an empty map; after a restart its ids continue those of the predecessor."""
        notes = self._checkpoints.notes
        session = _next_session(str(notes["session"])) if notes else uuid.uuid4().hex[:12]
        voxels = voxel_parts.voxel_map(self._config, self._shared, session)
        voxels.reserve_ids(int(notes.get("next_id", 1)))
        return voxels

    def _resumed(self, archive: Archive) -> SemanticVoxelMap:
        """Return the predecessor's map in the next session of its name; the odometry is the same."""
        session = _next_session(str(archive.meta.get("session_id", "")))
        voxels = map_from_arrays(
            archive.meta, archive.arrays, self._config.voxels, session, math.inf, resumes=True
        )
        notes = self._checkpoints.notes
        if notes.get("session") == _base(session):
            voxels.reserve_ids(int(notes["next_id"]))
        return voxels

    def _save(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        meta, arrays = map_to_arrays(self._current())
        written = write_archive(path_of(job), KIND, VERSION, meta, arrays)
        return {"bytes_written": written, "entity_count": meta["instances"]}

    def _load(self, job: Job) -> dict[str, Any]:
        """On the worker of the action; a new session continues the file's, so followers start anew."""
        archive = read_archive(path_of(job), KIND, VERSION)
        session = _next_session(str(archive.meta.get("session_id", "")))
        loaded = map_from_arrays(archive.meta, archive.arrays, self._config.voxels, session, self._node.now)
        self._replace(loaded)
        self.note_ids()
        self._checkpoints.take_now()
        return {"map_id": loaded.map_id, "entity_count": len(loaded.instances())}

    def _export(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        writers = {ExportMap.Goal.FORMAT_PLY: write_instance_ply, ExportMap.Goal.FORMAT_GLB: write_glb}
        form = job.request.format
        if form not in writers:
            raise MapError(Codes.BAD_FORMAT, f"unknown format {form!r}; use ply, glb or json")
        return {"bytes_written": writers[form](self._current(), path_of(job), replace=job.request.force)}


def _base(session: str) -> str:
    """Return the name that all sessions of one map share."""
    return session.split("+")[0]


def _next_session(session: str) -> str:
    """Return the name of a session that continues another's map."""
    return f"{_base(session)}+{uuid.uuid4().hex[:6]}"
