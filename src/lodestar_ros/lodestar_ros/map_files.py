"""The whole map to a folder and back: the scene's own part, and those of the voxels and keyframes by their nodes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.grid.regions import RegionTracker
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.export import entities_to_json
from lodestar.scene.persistence import KIND, VERSION, scene_from_arrays, scene_to_arrays
from lodestar.storage.archive import read_archive, write_archive, write_file
from lodestar.storage.snapshot import SnapshotFolder
from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_ros.map_actions import Codes, MapError, RemoteAction, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job

TIMEOUT = 120.0  # s for another node's part
SCENE, VOXELS, KEYFRAMES = "scene.lodestar", "voxels.lodestar", "keyframes"


class MapFiles:
    """Serves ``~/save``, ``~/load`` and ``~/export``.

    Calls: ``save_voxels``, ``load_voxels``, ``export_voxels``, ``save_keyframes``, ``load_keyframes``.
    on_worker(function): has it called on the thread that updates the scene. loaded(): called there after a load.
    """

    def __init__(
        self,
        node: LodestarNode,
        scene: SceneDictionary,
        rooms: RegionTracker,
        on_worker: Callable[[Callable[[], None]], None],
        loaded: Callable[[Any], None],
    ) -> None:
        self._node, self._scene, self._rooms = node, scene, rooms
        self._on_worker, self._loaded = on_worker, loaded
        self._save_voxels = RemoteAction(node, SaveMap, "save_voxels")
        self._load_voxels = RemoteAction(node, LoadMap, "load_voxels")
        self._export_voxels = RemoteAction(node, ExportMap, "export_voxels")
        self._save_keyframes = RemoteAction(node, SaveMap, "save_keyframes")
        self._load_keyframes = RemoteAction(node, LoadMap, "load_keyframes")
        self._busy = threading.Lock()
        serve(node, SaveMap, "~/save", lambda job: self._alone(job, self._save))
        serve(node, LoadMap, "~/load", lambda job: self._alone(job, self._load))
        serve(node, ExportMap, "~/export", lambda job: self._alone(job, self._export))

    def _alone(self, job: Job, work: Callable[[Job], dict[str, Any]]) -> dict[str, Any]:
        if not self._busy.acquire(blocking=False):
            raise MapError(Codes.BUSY, "another map is being saved, loaded or exported")
        try:
            return work(job)
        finally:
            self._busy.release()

    def _save(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        if not len(self._scene):
            raise MapError(Codes.NOTHING_TO_SAVE, "the scene is empty so far")
        folder = SnapshotFolder(job.request.path)
        part = folder.begin()
        try:
            self._need(self._save_voxels).call(job, TIMEOUT, path=str(part / VOXELS))
            job.feedback(SaveMap.Feedback(progress=0.6))
            meta = self._write_scene(part / SCENE)
            if self._save_keyframes.is_there:
                self._save_keyframes.call(job, TIMEOUT, path=str(part / KEYFRAMES))
            job.feedback(SaveMap.Feedback(progress=0.9))
            if job.cancel_requested:
                raise MapError(Codes.CANCELLED, "cancelled")
            written = folder.commit(part, {"map_id": meta["map_id"], "entities": meta["entities"]})
        except BaseException:
            folder.discard(part)
            raise
        return {"bytes_written": written, "entity_count": meta["entities"]}

    def _need(self, remote: RemoteAction) -> RemoteAction:
        if not remote.is_there:
            raise MapError(Codes.UNKNOWN, f"nobody serves {remote.name}: is semantic_voxels up?")
        return remote

    def _write_scene(self, path: Path) -> dict[str, Any]:
        meta, arrays = scene_to_arrays(self._scene)
        arrays["region_mask"] = self._rooms.mask
        meta |= {"region_origin": list(self._rooms.origin), "regions_used": self._rooms.used}
        write_archive(path, KIND, VERSION, meta, arrays)
        return meta

    def _load(self, job: Job) -> dict[str, Any]:
        """On the worker of the action. What cannot be loaded is found out before anything changes."""
        part, _ = SnapshotFolder(job.request.path).open()
        archive = read_archive(part / SCENE, KIND, VERSION)
        meta = archive.meta
        state = scene_from_arrays(meta, archive.arrays, self._scene.config, self._node.now)
        job.feedback(LoadMap.Feedback(progress=0.3))
        before = self._scene.session_id
        self._need(self._load_voxels).call(job, TIMEOUT, path=str(part / VOXELS))
        if (part / KEYFRAMES).is_dir() and self._load_keyframes.is_there:
            self._load_keyframes.call(job, TIMEOUT, path=str(part / KEYFRAMES))
        job.feedback(LoadMap.Feedback(progress=0.8))
        done = threading.Event()

        def replace() -> None:
            try:
                self._rooms.mask = np.asarray(archive.arrays["region_mask"], np.uint16)
                x, y = meta["region_origin"]
                self._rooms.origin, self._rooms.used = (float(x), float(y)), int(meta["regions_used"])
                self._loaded(self._scene.replace(state, int(meta["map_id"]), str(meta["session_id"]), before))
            finally:
                done.set()

        self._on_worker(replace)
        if not done.wait(TIMEOUT):
            raise MapError(Codes.UNKNOWN, "the scene is too busy to go on from the file")
        return {"map_id": int(meta["map_id"]), "entity_count": int(meta["entities"])}

    def _export(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        path, form = job.request.path, job.request.format
        if form == ExportMap.Goal.FORMAT_JSON:
            if not path.strip():
                raise MapError(Codes.BAD_PATH, "no path was given")
            text = entities_to_json(self._scene.entities().values(), self._scene.regions.values())
            return {"bytes_written": write_file(Path(path).expanduser().absolute(), [text.encode()])}
        result = self._need(self._export_voxels).call(job, TIMEOUT, path=path, format=form)
        return {"bytes_written": result.bytes_written}
