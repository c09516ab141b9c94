"""The voxel map's part of a saved map, its checkpoints, and its exports."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from lodestar.assembly.voxel_chain import VoxelChain
from lodestar.mapping.export import write_glb, write_instance_ply
from lodestar.mapping.persistence import KIND, VERSION
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.saved_map import next_session
from lodestar_interfaces.action import ExportMap
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import Codes, PartServer, path_of, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job, Refused


class VoxelFiles:
    """Serves ``~/save``, ``~/load`` and ``~/export``, and takes checkpoints, after restoring a predecessor's
    checkpoint.

    lock: held while maps are swapped.
    """

    def __init__(
        self,
        node: LodestarNode,
        chain: VoxelChain,
        checkpoints: CheckpointConfig,
        lock: AbstractContextManager[Any],
    ) -> None:
        self._chain, self._lock = chain, lock
        self._checkpoints = Checkpointer(node, checkpoints, {KIND: VERSION})
        notes = self._checkpoints.notes
        if self._checkpoints.restore(lambda archive: chain.resume(archive, notes)) is None and notes:
            chain.succeed(notes)
        self.note_ids()
        self._part = chain.part(lambda: node.now, self._outlive, self._put)
        PartServer(node, self._part, lambda: len(chain.map.instances()))
        serve(node, ExportMap, "~/export", self._export)

    def keep(self, changed: Callable[[], object]) -> None:
        """Start taking checkpoints; changed: see `Checkpointer.keep`."""
        self._checkpoints.keep(self._part.capture, changed)

    def note_ids(self) -> None:
        """Note the ids assigned so far, so that a successor does not reuse them; call this before publishing them."""
        self._checkpoints.note(**self._chain.notes)

    def _put(self, voxels: SemanticVoxelMap) -> Callable[[], None]:
        """Put a loaded map into use and return the undo function, which restores the old map in a new session."""
        with self._lock:
            former, take_back = self._chain.map, self._chain.use(voxels)

        def undo() -> None:
            with self._lock:
                former.session_id = next_session(former.session_id)
                take_back()

        return undo

    def _outlive(self) -> None:
        """Take a checkpoint of the map in use for a successor. Raises OSError."""
        self.note_ids()
        self._checkpoints.take_now()

    def _export(self, job: Job) -> dict[str, Any]:
        """Export the map to a file; return fields of the result. Runs on the action's worker."""
        writers = {ExportMap.Goal.FORMAT_PLY: write_instance_ply, ExportMap.Goal.FORMAT_GLB: write_glb}
        form = job.request.format
        if form not in writers:
            raise Refused(Codes.BAD_FORMAT, f"unknown format {form!r}; use ply, glb or json")
        return {"bytes_written": writers[form](self._chain.map, path_of(job), replace=job.request.force)}
