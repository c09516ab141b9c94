"""The grid's own part of a saved map, and its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from lodestar.assembly import mapping_parts
from lodestar.assembly.config import MappingConfig
from lodestar.mapping.grid_archive import read_grid
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.plan_mapper import PlanMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.storage.archive import Archive, ForeignFile, write_archive
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_interfaces.action import LoadMap, SaveMap
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import path_of, serve
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job


class GridFiles:
    """Serve ``~/save`` and ``~/load`` of the plan grid and its mapper, and take checkpoints.

    current() is the mapper; replace(mapper) continues with another, at once if a predecessor in this run has saved one;
    both are called with the lock held. changed(): see `Checkpointer.keep`.
    """

    def __init__(
        self,
        node: LodestarNode,
        config: MappingConfig,
        checkpoints: CheckpointConfig,
        lock: AbstractContextManager[Any],
        current: Callable[[], PlanMapper],
        replace: Callable[[OctoMapper | ScanGridMapper], None],
        changed: Callable[[], object],
    ) -> None:
        self._node, self._config = node, config
        self._lock, self._current, self._replace = lock, current, replace
        mapper = current()
        self._kind, self._version = mapper.KIND, mapper.VERSION
        self._checkpoints = Checkpointer(node, checkpoints, self._kind, self._version)
        restored = self._checkpoints.restore(self._resumed)
        if restored is not None:
            with lock:
                replace(restored)
        self._checkpoints.keep(self._part, changed)
        serve(node, SaveMap, "~/save", self._save)
        serve(node, LoadMap, "~/load", self._load)

    def _part(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return meta and arrays of the current mapper."""
        with self._lock:
            mapper = self._current()
            meta: dict[str, Any] = {"free_m2": mapper.project(self._node.now).free_area}
            if mapper.map_from_odom is not None:
                meta["map_from_odom"] = mapper.map_from_odom.tolist()
            return meta, mapper.to_arrays()

    def _resumed(self, archive: Archive) -> OctoMapper | ScanGridMapper:
        """Return the predecessor's mapper; the odometry is the same, so a jump since then is applied."""
        mapper = mapping_parts.plan_mapper_from(self._config, self._kind, archive.arrays)
        if "map_from_odom" in archive.meta:
            mapper.resume_odometry(np.array(archive.meta["map_from_odom"], np.float64).reshape(4, 4))
        return mapper

    def _save(self, job: Job) -> dict[str, Any]:
        """On the worker of the action."""
        return {"bytes_written": write_archive(path_of(job), self._kind, self._version, *self._part())}

    def _load(self, job: Job) -> dict[str, Any]:
        """On the worker of the action; the old map stays if the file is rejected."""
        path = path_of(job)
        kind, archive = read_grid(path)
        try:
            loaded = mapping_parts.plan_mapper_from(self._config, kind, archive.arrays)
        except ForeignFile as error:
            raise ForeignFile(f"{path.name}: {error}") from error
        with self._lock:
            self._replace(loaded)
        self._checkpoints.take_now()
        return {}
