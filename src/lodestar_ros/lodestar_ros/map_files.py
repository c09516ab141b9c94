"""Saving and loading of the whole map: the scene's own part, and the parts of the grid, voxel and keyframe nodes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from lodestar.assembly.scene_chain import SceneChain
from lodestar.scene.export import entities_to_json
from lodestar.scene.persistence import KIND, VERSION, SavedScene
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.files import write_file
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.private import UnsafeFolder
from lodestar.storage.replacement import exchange
from lodestar.storage.saved_map import (
    GRID,
    KEYFRAMES,
    VOXELS,
    WAYS,
    MapPart,
    SaveConfig,
    load_map,
    save_map,
    shrinkage,
)
from lodestar.storage.snapshot import SnapshotFolder
from lodestar.worldmodel.scene_journal import Request, journal_of_run
from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_interfaces.srv import GetInstances
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.load_again import LoadAgain
from lodestar_ros.map_actions import PATIENCE, TIMEOUT, Codes, RemoteAction, done_on, path_of, put_on, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError
from lodestar_ros.remote_map_parts import RemotePart
from lodestar_ros.services import ServiceCaller
from lodestar_ros.workers import Job, Refused


class MapFiles:
    """Serves ``~/save``, ``~/load`` and ``~/export``, and takes checkpoints of the scene's own part.

    Calls: ``save_voxels``, ``load_voxels``, ``export_voxels``; if they are served, ``save_grid``, ``load_grid``,
    ``save_keyframes``, ``load_keyframes``, ``save_ways``, ``load_ways``.
    on_worker(function): calls it on the thread that updates the scene. loaded(delta): called there with the first delta
    of a loaded scene.
    """

    def __init__(
        self,
        node: LodestarNode,
        chain: SceneChain,
        on_worker: Callable[[Callable[[], None]], None],
        loaded: Callable[[Any], None],
        saving: SaveConfig,
        checkpoints: CheckpointConfig,
    ) -> None:
        self._node, self._chain, self._saving = node, chain, saving
        self._scene = scene = chain.dictionary
        self._checkpoints = Checkpointer(node, checkpoints, {KIND: VERSION})
        journal = self._journal(checkpoints)
        self._checkpoints.restore(chain.resume)
        for problem in chain.replay(journal):
            node.get_logger().warning(f"journal of amendments: {problem}")
        self._on_worker, self._loaded = on_worker, loaded
        self._part = chain.part(lambda: node.now, self._checkpoints.take_now, self._put_scene)
        self._checkpoints.keep(
            self._part.capture, lambda: (scene.session_id, scene.revision, scene.names_changed)
        )
        self._voxels = RemotePart(
            node,
            VOXELS,
            "semantic_voxels",
            actions=("save_voxels", "load_voxels"),
            is_optional=False,
            required=True,
        )
        self._others = tuple(
            RemotePart(node, name, owner, actions=actions, is_optional=is_optional, required=False)
            for name, owner, actions, is_optional in (
                (KEYFRAMES, "keyframes", ("save_keyframes", "load_keyframes"), True),
                (GRID, "mapping", ("save_grid", "load_grid"), True),
                (WAYS, "world_model", ("save_ways", "load_ways"), False),
            )
        )
        self._voxel_pages = ServiceCaller(node, GetInstances, "get_instances", PATIENCE)
        node.on_close(self._voxel_pages.close)
        self._voxel_session = ""  # when the newest load began
        self._export_voxels = RemoteAction(node, ExportMap, "export_voxels", "semantic_voxels")
        self._again = LoadAgain(node, self._checkpoints)
        self._busy = threading.Lock()
        self._doing = ""  # the current request, in words
        for action_type, name, work in (
            (SaveMap, "save", self._save),
            (LoadMap, "load", self._load),
            (ExportMap, "export", self._export),
        ):
            serve(node, action_type, f"~/{name}", partial(self._alone, name, work))

    def hurry(self) -> None:
        """Take the next checkpoint soon. Safe to call from any thread."""
        self._checkpoints.hurry()

    def take_now(self) -> None:
        """Take a checkpoint before returning. Raises OSError."""
        self._checkpoints.take_now()

    def _journal(self, config: CheckpointConfig) -> JournalFile[Request] | None:
        """Return the journal of amendments in the run's folder; None without a folder, and then nothing
        survives the process.
        """
        if not (config.folder and config.run):
            return None
        try:
            file = journal_of_run(Path(config.folder), config.run)
        except (OSError, UnsafeFolder) as error:
            raise ParameterError(f"checkpoint.folder: {error}") from error
        self._node.on_close(file.close)
        return file

    def _alone(self, name: str, work: Callable[[Job], dict[str, Any]], job: Job) -> dict[str, Any]:
        if not self._busy.acquire(blocking=False):
            raise Refused(Codes.BUSY, f"{self._doing} is under way; try again when it is done")
        try:
            self._doing = f"a {name} ({job.request.path})"
            return work(job)
        finally:
            self._busy.release()

    def _save(self, job: Job) -> dict[str, Any]:
        """Save the whole map; return fields of the result. Runs on the action's worker."""
        if not len(self._scene):
            raise Refused(Codes.NOTHING_TO_SAVE, "the scene is still empty")
        folder = SnapshotFolder(job.request.path, self._saving.keep)
        before = {} if job.request.force else folder.meta()

        def check(known: Mapping[str, Any]) -> None:
            if job.cancel_requested:
                raise Refused(Codes.CANCELLED, "cancelled")
            less = shrinkage(before, known)
            if less:
                raise Refused(
                    Codes.SMALLER_MAP,
                    f"this map would replace the one in {folder.path} with {less}: it was not saved. Did a node die? "
                    "Save it to another folder, or replace that map with --force (`force` of SaveMap)",
                )

        parts: tuple[MapPart, ...] = (
            self._voxels.asked_by(job),
            self._part,
            *(other.asked_by(job) for other in self._others),
        )
        written, known = save_map(folder, parts, {"saved": time.time()}, check)
        return {"bytes_written": written, "entity_count": known["entities"]}

    def _load(self, job: Job) -> dict[str, Any]:
        """Load the whole map; return fields of the result. Runs on the action's worker.

        The scene is replaced first, because it must expect the instances of the other voxel map.
        """
        others = (*self._others, self._voxels)
        parts: tuple[MapPart, ...] = (self._part, *(other.asked_by(job) for other in others))
        journal = exchange(lambda _: self._chain.journal.clear(), None)
        page = self._voxel_pages.call(page_size=1)
        self._voxel_session = "" if page is None else page.instances.session_id
        with self._again.until_done(job.request.path, job.goal_id):
            _, left_out = load_map(job.request.path, parts, [("journal of amendments", journal)])
        self._tell_followers()
        return {
            "map_id": self._scene.map_id,
            "entity_count": len(self._scene.state.records),
            "left_out": list(left_out),
        }

    def _put_scene(self, saved: SavedScene) -> Callable[[], None]:
        """Put a scene into use and return its undo function. Runs on the action's worker."""

        def use(saved: SavedScene) -> Callable[[], None]:
            take_back = self._chain.use(saved)
            self._scene.retire(self._voxel_session)  # the scene may not have heard it yet
            return take_back

        take_back = put_on(self._on_worker, use, "scene_dictionary")(saved)

        def undo() -> None:
            take_back()
            self._tell_followers()

        return undo

    def _tell_followers(self) -> None:
        """Publish the loaded scene, and wait for that; a worker that is far behind does it later."""
        self._on_worker(lambda: self._loaded(self._scene.flush()))
        with suppress(Refused):
            done_on(self._on_worker, lambda: None, "scene_dictionary")

    def _export(self, job: Job) -> dict[str, Any]:
        """Export the entities or the voxels to a file; return fields of the result. Runs on the action's worker."""
        path, form, force = path_of(job), job.request.format, job.request.force
        if not force and os.path.lexists(path):
            raise Refused(
                Codes.FILE_EXISTS, f"{path} is there already; replace it with --force (`force` of ExportMap)"
            )
        if form == ExportMap.Goal.FORMAT_JSON:
            text = entities_to_json(self._scene.entities().values(), self._scene.regions.values())
            return {"bytes_written": write_file(path, [text.encode()], replace=force)}
        self._voxels.is_there(self._export_voxels, job)
        result = self._export_voxels.call(job, TIMEOUT, path=str(path), format=form, force=force)
        return {"bytes_written": result.bytes_written}
