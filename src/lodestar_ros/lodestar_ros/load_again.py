"""A load of the whole map outlives the node that leads it: its successor does it again, so that no parts are mixed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rclpy.action import ActionClient

from lodestar_interfaces.action import LoadMap
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.node import LodestarNode

TRIES = 2  # of one load; chosen: one that kills its leader again is not tried for ever
WAIT = 2.0  # s of real time after the start, until the other nodes are discovered


class LoadAgain:
    """Notes a load before it begins, and sends it to this node's own ``~/load`` where a predecessor died in it.

    Calls: ``~/load``.
    """

    def __init__(self, node: LodestarNode, checkpoints: Checkpointer) -> None:
        self._node, self._checkpoints = node, checkpoints
        path, tries = self._noted()
        if path and tries < TRIES:
            self._client = ActionClient(node, LoadMap, "~/load")
            self._timer = node.steady_timer(WAIT, lambda: self._send(path))

    @contextmanager
    def until_done(self, path: str) -> Iterator[None]:
        """Have a successor repeat the load of this path, or say so, unless the block ends. Raises OSError."""
        before, tries = self._noted()
        tries = tries + 1 if before == path else 1
        again = "load it again" if tries >= TRIES else "it is loaded again now"
        words = f"it was loading {path}: grid and things may be of two maps, {again}"
        self._checkpoints.note(loading=[path, tries])
        try:
            with self._checkpoints.until_done(words):
                yield
        except Exception:
            self._end()
            raise
        self._end()

    def _end(self) -> None:
        """Note that this process has lived to see the load's end."""
        with suppress(OSError):  # a full disk: a successor repeats it in vain
            self._checkpoints.note(loading=None)

    def _noted(self) -> tuple[str, int]:
        match self._checkpoints.notes.get("loading"):
            case [str(path), int(tries)]:
                return path, tries
        return "", 0

    def _send(self, path: str) -> None:
        if not self._client.server_is_ready():
            return  # at the next turn of the timer
        self._timer.cancel()
        self._client.send_goal_async(LoadMap.Goal(path=path)).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            self._node.get_logger().warning("the load is not repeated: another one is under way")
