"""The grid's own part of a saved map."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lodestar.assembly import parts
from lodestar.assembly.config import MappingConfig
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.plan_mapper import PlanMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.scene.saved import read_grid
from lodestar.storage.archive import ForeignFile, write_archive
from lodestar_interfaces.action import LoadMap, SaveMap
from lodestar_ros.map_actions import Codes, MapError, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job


class GridFiles:
    """Serves ``~/save`` and ``~/load`` of the plan grid and what it is made of.

    current() is the mapper; replace(mapper) goes on with another; both are called with the lock held.
    """

    def __init__(
        self,
        node: LodestarNode,
        config: MappingConfig,
        lock: AbstractContextManager[Any],
        current: Callable[[], PlanMapper | None],
        replace: Callable[[OctoMapper | ScanGridMapper], None],
    ) -> None:
        self._config = config
        self._lock, self._current, self._replace = lock, current, replace
        serve(node, SaveMap, "~/save", self._save)
        serve(node, LoadMap, "~/load", self._load)

    def _save(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        path = _path(job)
        with self._lock:
            mapper = self._current()
            if mapper is None:
                raise MapError(Codes.NOTHING_TO_SAVE, "`mapping` has no grid of its own")
            arrays = mapper.to_arrays()
        return {"bytes_written": write_archive(path, mapper.KIND, mapper.VERSION, {}, arrays)}

    def _load(self, job: Job) -> dict[str, Any]:
        """On the worker of the action; the old map stays where the file is refused."""
        kind, archive = read_grid(_path(job))
        try:
            loaded = parts.plan_mapper_from(self._config, kind, archive.arrays)
        except ForeignFile as error:
            raise ForeignFile(f"{_path(job).name}: {error}") from error
        with self._lock:
            self._replace(loaded)
        return {}


def _path(job: Job) -> Path:
    if not job.request.path.strip():
        raise MapError(Codes.BAD_PATH, "no path was given")
    return Path(job.request.path).expanduser().absolute()
