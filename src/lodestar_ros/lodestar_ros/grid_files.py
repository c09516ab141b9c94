"""The grid's own part of a saved map, and its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.parts import plan_mapper_from
from lodestar.mapping.grid_file import VERSIONS, Mapper, grid_archive, grid_part, resume_odometry
from lodestar.storage.archive import Archive
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import PartServer
from lodestar_ros.node import LodestarNode


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
        current: Callable[[], Mapper],
        replace: Callable[[Mapper], None],
        changed: Callable[[], object],
    ) -> None:
        self._config = config
        self._node, self._lock, self._current, self._replace = node, lock, current, replace
        mapper = current()
        files = Checkpointer(node, checkpoints, {mapper.KIND: VERSIONS[mapper.KIND]})
        restored = files.restore(lambda archive: resume_odometry(self._fitting(archive), archive))
        if restored is not None:
            self._put(restored)
        part = grid_part(self._capture, self._fitting, self._put, files.take_now)
        files.keep(part.capture, changed)
        PartServer(node, part)

    def _capture(self) -> Archive:
        with self._lock:
            return grid_archive(self._current(), self._node.now)

    def _fitting(self, archive: Archive) -> Mapper:
        return plan_mapper_from(self._config, archive.kind, archive.arrays)

    def _put(self, mapper: Mapper) -> Callable[[], None]:
        """Take a mapper into use; return what takes that back."""
        with self._lock:
            former = self._current()
            self._replace(mapper)

        def take_back() -> None:
            with self._lock:
                self._replace(former)

        return take_back
