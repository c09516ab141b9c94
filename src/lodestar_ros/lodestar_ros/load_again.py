"""A load of the whole map outlives the node that leads it: its successor does it again, so that no parts are mixed."""

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

TRIES = 2  # of one load; chosen: one that kills its leader again is not tried for ever
WAIT = 2.0  # s of real time between two looks; after the start, until the other nodes are discovered


class LoadAgain:
    """Notes a load before it begins, and sends it to this node's own ``~/load`` where a predecessor died in it.

    It is not repeated once another map was loaded. Calls: ``~/load``.
    """

    def __init__(self, node: LodestarNode, checkpoints: Checkpointer) -> None:
        self._node, self._checkpoints = node, checkpoints
        self._lock = threading.RLock()  # of the note
        self._unwritten: tuple[Any, ...] = ()  # the note and the words, where the disk was full
        self._goal = uuid.uuid4().bytes
        path, tries = self._due = self._noted()
        self._is_due = bool(path) and tries < TRIES
        self._client: Any = ActionClient(node, LoadMap, "~/load") if self._is_due else None
        node.steady_timer(WAIT, self._turn)

    @contextmanager
    def until_done(self, path: str, goal: bytes = b"") -> Iterator[None]:
        """Have a successor repeat the load of this path, or say so, unless the block ends. goal: id of the request.

        Raises OSError; Refused for a repetition, if another map was loaded meanwhile.
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
        except Exception:  # a load that failed has repaired nothing
            self._end(list(former) if before and before != path else None, unfinished)
            raise
        self._end(None, "")

    def _end(self, note: list[Any] | None, unfinished: str) -> None:
        """Note that this process has lived to see the load's end; on a full disk later. note: of a former load."""
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
        """On the executor: write what a full disk refused, and send what is to be repeated."""
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
