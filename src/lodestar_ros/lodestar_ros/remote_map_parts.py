"""Parts of the map that other nodes have, asked by the node that saves and loads the whole map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lodestar_interfaces.action import LoadMap, SaveMap
from lodestar_ros.map_actions import PATIENCE, TIMEOUT, Codes, MapError, RemoteAction
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job


class RemotePart:
    """A part of the map that another node has. is_optional: see `MapPart`. required: the node must be up."""

    def __init__(
        self, node: LodestarNode, name: str, owner: str, *, actions: str, is_optional: bool, required: bool
    ) -> None:
        self.name, self.is_optional, self.required = name, is_optional, required
        self.saving = RemoteAction(node, SaveMap, f"save_{actions}", owner)
        self.loading = RemoteAction(node, LoadMap, f"load_{actions}", owner)
        self.log = node.get_logger()

    def asked_by(self, job: Job) -> BoundPart:
        """Return the part for one save or load."""
        return BoundPart(self, job)

    def is_there(self, action: RemoteAction, job: Job) -> bool:
        """Return whether the node is up. Raises MapError where it must be and is not."""
        there = action.is_there(job, PATIENCE if self.required else 0.0)
        if self.required and not there:
            raise MapError(Codes.UNKNOWN, f"{action.owner} is not up; see its log")
        return there


@dataclass(frozen=True)
class BoundPart:
    """A remote part during one save or load; see `MapPart`."""

    remote: RemotePart
    job: Job

    @property
    def name(self) -> str:
        """Return the name of its file or folder."""
        return self.remote.name

    @property
    def is_optional(self) -> bool:
        """Return whether it stays as it is where a saved map lacks it."""
        return self.remote.is_optional

    def save(self, path: Path) -> None:
        """Have its node write it, if the node is up. Raises MapError."""
        if self.remote.is_there(self.remote.saving, self.job):
            self.remote.saving.call(self.job, TIMEOUT, path=str(path))

    def prepare(self, path: Path) -> RemoteReplacement | None:
        """Have its node prepare it; None where the node is not up. Raises MapError."""
        if not self.remote.is_there(self.remote.loading, self.job):
            return None
        prepared = RemoteReplacement(self)
        try:
            prepared.notes = tuple(prepared.call(LoadMap.Goal.PREPARE, path).left_out)
        except MapError as error:
            if error.code in (Codes.CANCELLED, Codes.UNKNOWN, Codes.NODE_LOST):  # it may have been prepared
                prepared.undo()
            raise
        return prepared


class RemoteReplacement:
    """A part that another node has prepared; see `Replacement`."""

    def __init__(self, part: BoundPart) -> None:
        self._part = part
        self._swapped = False  # or it may be
        self.notes: tuple[str, ...] = ()

    def call(self, stage: int, path: Path | str = "", *, undoes: bool = False) -> Any:
        """Have the node do a stage. Raises MapError."""
        action, job = self._part.remote.loading, self._part.job
        return action.call(job, TIMEOUT, undoes=undoes, path=str(path), stage=stage)

    def swap(self) -> None:
        """See `Replacement.swap`."""
        self._swapped = True
        self.call(LoadMap.Goal.SWAP)

    def undo(self) -> None:
        """See `Replacement.undo`."""
        try:
            self.call(LoadMap.Goal.UNDO, undoes=True)
        except MapError:
            if self._swapped:  # otherwise a node that died has nothing to go back from
                raise

    def finish(self) -> None:
        """See `Replacement.finish`."""
        try:
            self.call(LoadMap.Goal.FINISH, undoes=True)
        except MapError as error:  # its successor goes on with what was taken into use
            self._part.remote.log.warning(f"after the load: {error}")
