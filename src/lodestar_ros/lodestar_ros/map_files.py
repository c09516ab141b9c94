"""Saving and loading of the whole map: the scene's own part, and those of grid, voxels and keyframes by their nodes."""

from __future__ import annotations

import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lodestar.assembly import scene_parts
from lodestar.grid.regions import RegionTracker
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.export import entities_to_json
from lodestar.scene.persistence import KIND, VERSION, scene_from_arrays
from lodestar.scene.scene_part import (
    GRID,
    KEYFRAMES,
    SCENE,
    VOXELS,
    SaveConfig,
    restore_rooms,
    scene_arrays,
    shrinkage,
)
from lodestar.storage.archive import Archive, meta_of, read_archive, write_archive, write_file
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.private import UnsafeFolder
from lodestar.storage.snapshot import SnapshotFolder
from lodestar.worldmodel.scene_journal import SceneJournal
from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import Codes, MapError, RemoteAction, path_of, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError
from lodestar_ros.workers import Job

TIMEOUT = 120.0  # s for another node's part
PATIENCE = 3.0  # s to wait for a required node


class MapFiles:
    """Serve ``~/save``, ``~/load`` and ``~/export``, and take checkpoints of the scene's own part.

    journal: of amendments, replayed over the checkpoint.

    Calls: ``save_voxels``, ``load_voxels``, ``export_voxels``; if they are served, ``save_grid``, ``load_grid``,
    ``save_keyframes``, ``load_keyframes``.
    on_worker(function): calls it on the thread that updates the scene. loaded(): called there after a load.
    """

    def __init__(
        self,
        node: LodestarNode,
        scene: SceneDictionary,
        rooms: RegionTracker,
        on_worker: Callable[[Callable[[], None]], None],
        loaded: Callable[[Any], None],
        saving: SaveConfig,
        checkpoints: CheckpointConfig,
    ) -> None:
        self._node, self._scene, self._rooms, self._saving = node, scene, rooms, saving
        self._resumed = 0  # revision of the checkpoint that the scene goes on from
        self._checkpoints = Checkpointer(node, checkpoints, KIND, VERSION)
        self.journal = self._journal(checkpoints)
        self._checkpoints.restore(self._resume)
        self.journal.replay(scene, self._resumed)
        for problem in self.journal.problems:
            node.get_logger().warning(f"journal of amendments: {problem}")
        self._checkpoints.keep(lambda: scene_arrays(scene, rooms), lambda: (scene.session_id, scene.revision))
        self._on_worker, self._loaded = on_worker, loaded
        self._save_voxels = RemoteAction(node, SaveMap, "save_voxels", "semantic_voxels")
        self._load_voxels = RemoteAction(node, LoadMap, "load_voxels", "semantic_voxels")
        self._export_voxels = RemoteAction(node, ExportMap, "export_voxels", "semantic_voxels")
        self._others = {  # optional parts of a map: their save and load actions
            GRID: (
                RemoteAction(node, SaveMap, "save_grid", "mapping"),
                RemoteAction(node, LoadMap, "load_grid", "mapping"),
            ),
            KEYFRAMES: (
                RemoteAction(node, SaveMap, "save_keyframes", "keyframes"),
                RemoteAction(node, LoadMap, "load_keyframes", "keyframes"),
            ),
        }
        self._busy = threading.Lock()
        self._doing = ""  # the current request
        for action_type, name, work in (
            (SaveMap, "save", self._save),
            (LoadMap, "load", self._load),
            (ExportMap, "export", self._export),
        ):
            serve(node, action_type, f"~/{name}", partial(self._alone, name, work))

    def hurry(self) -> None:
        """Have the next checkpoint taken soon; from any thread."""
        self._checkpoints.hurry()

    def _journal(self, config: CheckpointConfig) -> SceneJournal:
        """Return the journal of amendments in the folder of the run; without a folder nothing outlives the process."""
        if not (config.folder and config.run):
            return SceneJournal()
        try:
            file = scene_parts.journal_file(Path(config.folder), config.run)
        except (OSError, UnsafeFolder) as error:
            raise ParameterError(f"checkpoint.folder: {error}") from error
        self._node.on_close(file.close)
        for problem in file.problems:
            self._node.get_logger().warning(f"journal of amendments: {problem}")
        return SceneJournal(file)

    def _resume(self, archive: Archive) -> bool:
        """Continue with a predecessor's checkpoint of this run."""
        meta = archive.meta
        state = scene_from_arrays(meta, archive.arrays, self._scene.config, math.inf, resumes=True)
        restore_rooms(self._rooms, archive)
        self._scene.resume(state, int(meta["map_id"]), str(meta["session_id"]))
        self._resumed = int(meta["revision"])
        return True

    def _alone(self, name: str, work: Callable[[Job], dict[str, Any]], job: Job) -> dict[str, Any]:
        if not self._busy.acquire(blocking=False):
            raise MapError(Codes.BUSY, f"{self._doing} is under way; try again when it is done")
        try:
            self._doing = f"a {name} ({job.request.path})"
            return work(job)
        finally:
            self._busy.release()

    def _save(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        if not len(self._scene):
            raise MapError(Codes.NOTHING_TO_SAVE, "the scene is still empty")
        folder = SnapshotFolder(job.request.path, self._saving.keep)
        before = {} if job.request.force else folder.meta()
        self._refuse_loss(folder, before, {"entities": len(self._scene)})
        part = folder.begin()
        try:
            self._need(job, self._save_voxels).call(job, TIMEOUT, path=str(part / VOXELS))
            job.feedback(SaveMap.Feedback(progress=0.6))
            meta = self._write_scene(part / SCENE)
            for name, (save, _) in self._others.items():
                if save.is_there(job):
                    save.call(job, TIMEOUT, path=str(part / name))
            job.feedback(SaveMap.Feedback(progress=0.9))
            if job.cancel_requested:
                raise MapError(Codes.CANCELLED, "cancelled")
            known = {"map_id": meta["map_id"], "entities": meta["entities"], "saved": time.time()}
            if (part / GRID).exists():
                known["free_m2"] = float(meta_of(part / GRID)["free_m2"])
            self._refuse_loss(folder, before, known)
            written = folder.commit(part, known)
        except BaseException:
            folder.discard(part)
            raise
        return {"bytes_written": written, "entity_count": meta["entities"]}

    def _refuse_loss(self, folder: SnapshotFolder, before: dict[str, Any], known: dict[str, Any]) -> None:
        """Raise MapError if the current map lacks much of the saved one."""
        less = shrinkage(before, known, self._saving)
        if less:
            raise MapError(
                Codes.SMALLER_MAP,
                f"this map would replace the one in {folder.path} with {less}: it was not saved. Did a node die? "
                "Save it to another folder, or replace that map with --force (`force` of SaveMap)",
            )

    def _need(self, job: Job, remote: RemoteAction) -> RemoteAction:
        if not remote.is_there(job, PATIENCE):
            raise MapError(Codes.UNKNOWN, f"{remote.owner} is not up; see its log")
        return remote

    def _write_scene(self, path: Path) -> dict[str, Any]:
        meta, arrays = scene_arrays(self._scene, self._rooms)
        write_archive(path, KIND, VERSION, meta, arrays)
        return meta

    def _load(self, job: Job) -> dict[str, Any]:
        """On the worker of the action. Checks all parts before anything changes."""
        part, _ = SnapshotFolder(job.request.path).open()
        archive = read_archive(part / SCENE, KIND, VERSION)
        meta = archive.meta
        state = scene_from_arrays(meta, archive.arrays, self._scene.config, self._node.now)
        restore_rooms(scene_parts.region_tracker(), archive)
        job.feedback(LoadMap.Feedback(progress=0.3))
        before = self._scene.session_id
        voxels = self._need(job, self._load_voxels)
        with self._others_loaded(job, part):
            voxels.call(job, TIMEOUT, path=str(part / VOXELS))
        job.feedback(LoadMap.Feedback(progress=0.8))
        done = threading.Event()

        def replace() -> None:
            try:
                restore_rooms(self._rooms, archive)
                self._loaded(self._scene.replace(state, int(meta["map_id"]), str(meta["session_id"]), before))
            finally:
                done.set()

        self._on_worker(replace)
        if not done.wait(TIMEOUT):
            raise MapError(
                Codes.UNKNOWN, "the scene dictionary is too busy to take over the loaded map; load it again"
            )
        self._checkpoints.take_now()
        self.journal.clear()
        return {"map_id": int(meta["map_id"]), "entity_count": int(meta["entities"])}

    @contextmanager
    def _others_loaded(self, job: Job, part: Path) -> Iterator[None]:
        """Load grid and keyframes of the folder; restore the previous ones if the block fails."""
        undo: list[tuple[RemoteAction, Path]] = []
        with tempfile.TemporaryDirectory(prefix="lodestar_load_") as kept:
            try:
                for name, (save, load) in self._others.items():
                    if (part / name).exists() and load.is_there(job):
                        save.call(job, TIMEOUT, path=str(Path(kept) / name))
                        undo.append((load, Path(kept) / name))
                        try:
                            load.call(job, TIMEOUT, path=str(part / name))
                        except MapError as error:
                            if error.code not in (Codes.CANCELLED, Codes.UNKNOWN, Codes.NODE_LOST):
                                undo.pop()  # the load was rejected without a change
                            raise
                yield
            except BaseException:
                for load, path in reversed(undo):
                    try:
                        load.call(job, TIMEOUT, undoes=True, path=str(path))
                    except MapError as error:
                        self._node.get_logger().error(
                            f"{load.owner} could not go back to what it had: {error}"
                        )
                raise

    def _export(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        path, form, force = path_of(job), job.request.format, job.request.force
        if not force and os.path.lexists(path):
            raise MapError(
                Codes.FILE_EXISTS, f"{path} is there already; replace it with --force (`force` of ExportMap)"
            )
        if form == ExportMap.Goal.FORMAT_JSON:
            text = entities_to_json(self._scene.entities().values(), self._scene.regions.values())
            return {"bytes_written": write_file(path, [text.encode()], replace=force)}
        voxels = self._need(job, self._export_voxels)
        result = voxels.call(job, TIMEOUT, path=str(path), format=form, force=force)
        return {"bytes_written": result.bytes_written}
