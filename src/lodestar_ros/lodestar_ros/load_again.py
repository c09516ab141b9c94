"""Repetition of a map load after the death of the node that led it.

Without it, the parts of the map in different nodes could be of two maps.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rclpy.action import ActionClient
from unique_identifier_msgs.msg import UUID

from lodestar_interfaces.action import LoadMap
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.map_actions import Codes
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Refused

TRIES = 2  # most attempts of one load; chosen: a load that kills its leader again is not tried for ever
WAIT = 2.0  # s of real time between two checks; the first wait lets the node discover the others


class LoadAgain:
    """Notes a load on disk before it begins; a successor process repeats an unfinished one at its ``~/load``.

    The load is not repeated if another map was loaded since. Calls: ``~/load``.
    """

    def __init__(self, node: LodestarNode, checkpoints: Checkpointer) -> None:
        self._node, self._checkpoints = node, checkpoints
        self._lock = threading.RLock()  # guards the note
        self._unwritten: tuple[Any, ...] = ()  # the note and its text, if the disk was full
        self._goal = uuid.uuid4().bytes
        path, tries = self._due = self._noted()
        self._is_due = bool(path) and tries < TRIES
        self._client: Any = ActionClient(node, LoadMap, "~/load") if self._is_due else None
        node.steady_timer(WAIT, self._turn)

    @contextmanager
    def until_done(self, path: str, goal: bytes = b"") -> Iterator[None]:
        """Note the load of a map until the `with` block ends; a successor process repeats or reports it.

        goal: request id. Raises OSError; Refused for a repetition, if another map was loaded meanwhile.
        """
        before, tries = former = self._noted()
        if goal == self._goal and former != self._due:
            raise Refused(
                Codes.CANCELLED, f"the load of {path} is not repeated: another map was loaded since"
            )
        unfinished = self._checkpoints.notes.get("unfinished", "")
        tries = tries + 1 if before == path else 1
        again = "load it again" if tries >= TRIES else "it is loaded again now"
        self._note([path, tries], f"it was loading {path}: grid and things may be of two maps, {again}")
        try:
            yield
        except Exception:  # a failed load repairs nothing, so an earlier note is restored
            self._end(list(former) if before and before != path else None, unfinished)
            raise
        self._end(None, "")

    def _end(self, note: list[Any] | None, unfinished: str) -> None:
        """Replace the note of the load; if the disk is full, `_turn` writes it later. note: an earlier load,
        or None.
        """
        try:
            self._note(note, unfinished)
        except OSError:
            self._unwritten = (note, unfinished)

    def _note(self, note: list[Any] | None, unfinished: str) -> None:
        with self._lock:
            self._checkpoints.note(loading=note, unfinished=unfinished)
            self._unwritten = ()

    def _noted(self) -> tuple[str, int]:
        match (self._unwritten or (self._checkpoints.notes.get("loading"),))[0]:
            case [str(path), int(tries)]:
                return path, tries
        return "", 0

    def _turn(self) -> None:
        """Write a note that failed on a full disk, and send the goal that repeats a load.

        Runs on the executor.
        """
        with self._lock:
            if self._unwritten:
                self._end(*self._unwritten)
        noted = self._noted()
        self._is_due &= bool(noted[0])
        if self._is_due and noted == self._due and self._client.server_is_ready():
            self._is_due = False
            goal, name = LoadMap.Goal(path=noted[0]), UUID(uuid=list(self._goal))
            self._client.send_goal_async(goal, goal_uuid=name).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            self._node.get_logger().warning("the load is not repeated: another one is under way")
