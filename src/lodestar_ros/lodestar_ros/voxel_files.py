"""The voxel map's part of a saved map, its checkpoints, and its exports."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

from lodestar.assembly import parts
from lodestar.assembly.config import SemanticVoxelsConfig
from lodestar.assembly.shared import SharedConfig
from lodestar.mapping.export import write_glb, write_instance_ply
from lodestar.mapping.persistence import KIND, VERSION, voxel_part, voxels_from
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.storage.archive import Archive
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.saved_map import base_session, next_session
from lodestar_interfaces.action import ExportMap
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import Codes, MapError, PartServer, path_of, serve
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
        self._checkpoints = Checkpointer(node, checkpoints, {KIND: VERSION})
        replace(self._checkpoints.restore(self._resumed) or self._empty())
        self.note_ids()
        self._part = voxel_part(config.voxels, current, self._put, lambda: node.now, self._outlive)
        PartServer(node, self._part, lambda: len(current().instances()))
        serve(node, ExportMap, "~/export", self._export)

    def keep(self, changed: Callable[[], object]) -> None:
        """Take checkpoints from now on; changed: see `Checkpointer.keep`."""
        self._checkpoints.keep(self._part.capture, changed)

    def note_ids(self) -> None:
        """Note the ids assigned so far, so that a successor does not reuse them; call this before publishing them."""
        voxels = self._current()
        self._checkpoints.note(session=base_session(voxels.session_id), next_id=voxels.next_id)

    def _empty(self) -> SemanticVoxelMap:
        """Return an empty map; after a restart its ids continue those of the predecessor."""
        notes = self._checkpoints.notes
        session = next_session(str(notes["session"])) if notes else uuid.uuid4().hex[:12]
        voxels = parts.voxel_map(self._config, self._shared, session)
        voxels.reserve_ids(int(notes.get("next_id", 1)))
        return voxels

    def _resumed(self, archive: Archive) -> SemanticVoxelMap:
        """Return the predecessor's map in the next session of its name; the odometry is the same."""
        voxels = voxels_from(archive, self._config.voxels, math.inf, resumes=True)
        notes = self._checkpoints.notes
        if notes.get("session") == base_session(voxels.session_id):
            voxels.reserve_ids(int(notes["next_id"]))
        return voxels

    def _put(self, voxels: SemanticVoxelMap) -> Callable[[], None]:
        """Take a loaded map into use; return what takes that back, in a session that followers have not heard."""
        former = self._current()
        self._replace(voxels)

        def take_back() -> None:
            former.session_id = next_session(former.session_id)
            self._replace(former)

        return take_back

    def _outlive(self) -> None:
        """Have a successor go on with the map in use. Raises OSError."""
        self.note_ids()
        self._checkpoints.take_now()

    def _export(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        writers = {ExportMap.Goal.FORMAT_PLY: write_instance_ply, ExportMap.Goal.FORMAT_GLB: write_glb}
        form = job.request.format
        if form not in writers:
            raise MapError(Codes.BAD_FORMAT, f"unknown format {form!r}; use ply, glb or json")
        return {"bytes_written": writers[form](self._current(), path_of(job), replace=job.request.force)}
