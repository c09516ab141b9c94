"""Parts of the map in other nodes, as seen by the node that saves and loads the whole map."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

from lodestar.storage.replacement import Replacement, unchanged, undone_by
from lodestar_interfaces.action import LoadMap, SaveMap
from lodestar_ros.map_actions import PATIENCE, TIMEOUT, Codes, RemoteAction
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job, Refused


class RemotePart:
    """A part of the map in another node; `asked_by` binds it to a job, and makes it a `MapPart`.

    actions: names of the actions that save and load it. is_optional: see `MapPart`. required: the node must
    be running.
    """

    def __init__(
        self,
        node: LodestarNode,
        name: str,
        owner: str,
        *,
        actions: tuple[str, str],
        is_optional: bool,
        required: bool,
    ) -> None:
        self.name, self.is_optional, self.required = name, is_optional, required
        self.saving = RemoteAction(node, SaveMap, actions[0], owner)
        self.loading = RemoteAction(node, LoadMap, actions[1], owner)
        self.log = node.get_logger()
        self._job: Any = None

    def asked_by(self, job: Job) -> RemotePart:
        """Return a copy of this part of the map whose requests belong to one save or load, `job`."""
        asked = copy(self)
        asked._job = job
        return asked

    def is_there(self, action: RemoteAction, job: Job) -> bool:
        """Return whether the node is running. Raises Refused if it is required and not running."""
        there = action.is_there(job, PATIENCE if self.required else 0.0)
        if self.required and not there:
            raise Refused(Codes.UNKNOWN, f"{action.owner} is not up; see its log")
        return there

    def save(self, path: Path) -> None:
        """Save the part, if its node is running. Raises Refused."""
        if self.is_there(self.saving, self._job):
            self.saving.call(self._job, TIMEOUT, path=str(path))

    def prepare(self, path: Path) -> Replacement:
        """Load the part in the stages of `Replacement`. Raises Refused.

        If its node is not running, the part is not loaded, and that is reported.
        """
        if not self.is_there(self.loading, self._job):
            told = f"{self.name} was not loaded: {self.loading.owner} is not up"
            yield from unchanged(*((told,) if path.exists() else ()))
            return
        swapped = False  # True if the node may already use the new part

        def undo() -> None:
            try:
                self._call(LoadMap.Goal.UNDO)
            except Refused:
                if swapped:  # a restarted node that has swapped nothing needs no undo
                    raise

        with undone_by(undo):
            yield tuple(self._call(LoadMap.Goal.PREPARE, path=str(path)).left_out)
            swapped = True
            self._call(LoadMap.Goal.SWAP)
            yield ()
        try:
            self._call(LoadMap.Goal.FINISH)
        except Refused as error:  # the restarted node continues with the new part
            self.log.warning(f"after the load: {error}")

    def _call(self, stage: int, **goal: str) -> Any:
        """Execute a stage of the load in the node. Raises Refused."""
        ends = stage in (LoadMap.Goal.UNDO, LoadMap.Goal.FINISH)
        return self.loading.call(self._job, TIMEOUT, undoes=ends, stage=stage, **goal)
