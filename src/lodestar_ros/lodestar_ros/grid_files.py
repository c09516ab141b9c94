"""The grid's own part of a saved map."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lodestar.mapping.octomap import KIND, VERSION, OctoMapper
from lodestar.storage.archive import ForeignFile, read_archive, write_archive
from lodestar_interfaces.action import LoadMap, SaveMap
from lodestar_ros.map_actions import Codes, MapError, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job


class GridFiles:
    """Serves ``~/save`` and ``~/load`` of the octree and the grid.

    current() is the mapper; replace(mapper) goes on with another; both are called with the lock held.
    """

    def __init__(
        self,
        node: LodestarNode,
        lock: AbstractContextManager[Any],
        current: Callable[[], OctoMapper],
        replace: Callable[[OctoMapper], None],
    ) -> None:
        self._lock, self._current, self._replace = lock, current, replace
        serve(node, SaveMap, "~/save", self._save)
        serve(node, LoadMap, "~/load", self._load)

    def _save(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        path = _path(job)
        with self._lock:
            arrays = self._current().to_arrays()
        return {"bytes_written": write_archive(path, KIND, VERSION, {}, arrays)}

    def _load(self, job: Job) -> dict[str, Any]:
        """On the worker of the action; the old map stays where the file is refused."""
        archive = read_archive(_path(job), KIND, VERSION)
        try:
            loaded = OctoMapper.from_arrays(archive.arrays, self._current().config)
        except (KeyError, ValueError, AttributeError) as error:
            raise ForeignFile(f"{_path(job).name}: {error}") from error
        with self._lock:
            self._replace(loaded)
        return {}


def _path(job: Job) -> Path:
    if not job.request.path.strip():
        raise MapError(Codes.BAD_PATH, "no path was given")
    return Path(job.request.path).expanduser().absolute()
