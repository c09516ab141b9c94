"""Checkpoints of a running node's state, and notices of a node's restart."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from lodestar.storage.archive import Archive, ArchiveError
from lodestar.storage.checkpoint import Checkpoint, CheckpointConfig
from lodestar.storage.private import UnsafeFolder
from lodestar_interfaces.msg import NodeRestart
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError
from lodestar_ros.workers import LatestWorker

NOTICE = 60.0  # s for which diagnostics warn after a restart
POLL = 0.5  # s between two checks for a due checkpoint

T = TypeVar("T")


class Checkpointer:
    """Saves a node's state for its successor process in the same run, on its own worker. versions: see `Checkpoint`.

    Publishes ``restarts`` (latched) if this process is such a successor. Raises ParameterError for a folder that is
    not private.
    """

    def __init__(
        self, node: LodestarNode, config: CheckpointConfig, versions: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self._node, self._config = node, config
        try:
            self._files = Checkpoint(config, node.get_name(), versions)
        except (UnsafeFolder, OSError) as error:
            raise ParameterError(f"checkpoint.folder: {error}") from error
        self._restarts = node.create_publisher(NodeRestart, "restarts", qos.LATCHED)
        self._taking = threading.Lock()
        self._collect: Callable[[], Archive] | None = None
        self._kept: object = None  # `changed()` of the last checkpoint
        self._taken = 0.0  # real time of the last checkpoint, 0 before the first
        self._due = time.monotonic() + config.interval
        self._bytes, self._seconds = 0, 0.0
        self._hurried = False

    @property
    def notes(self) -> Mapping[str, Any]:
        """Return the facts that this process and its predecessors noted."""
        return self._files.notes

    def note(self, **values: Any) -> None:
        """Write facts to disk for a successor process. unfinished: a sentence for the successor's restart notice."""
        self._files.note(**values)

    def restore(self, build: Callable[[Archive], T]) -> T | None:
        """Return `build(archive, age)` of the predecessor's checkpoint, or None if there is none or it cannot be used.

        Publishes the notice of a restart if the node has run before in this run.
        """
        if not self._files.restarted:
            return None
        made, age = None, 0.0
        try:
            kept = self._files.read()
            if kept is not None:
                made, age = build(kept.archive), kept.age
        except (ArchiveError, OSError) as error:
            self._node.diagnostics.error(error)
        with_what = f"with a map of {age:.0f} s ago" if made is not None else "with an empty map"
        self.say_back(with_what, restored=made is not None, age=age)
        return made

    def say_back(self, with_what: str, *, restored: bool, age: float = 0.0) -> None:
        """Publish the notice of a restart, if the node has run before in this run.

        with_what: restored state, as text.
        """
        if not self._files.restarted:
            return
        name = self._node.get_name()
        text = "; ".join(
            filter(None, (f"{name} died and came back {with_what}", self.notes.get("unfinished")))
        )
        message = NodeRestart(node=name, restored=restored, age=age, text=text)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._restarts.publish(message)
        self._node.get_logger().warning(text)
        self._node.diagnostics.notice(text, NOTICE)
        self._node.diagnostics.value("restarted", lambda: with_what)

    def keep(self, collect: Callable[[], Archive], changed: Callable[[], object]) -> None:
        """Save the result of `collect` whenever `changed` returns another value than at the last checkpoint.

        collect: called on a worker. changed: called on the executor, cheap.
        """
        if not self._files.enabled:
            return
        self._collect = collect
        worker: LatestWorker = LatestWorker("checkpoint", self._take, self._node.diagnostics.error)
        self._node.on_close(worker.close)

        def look() -> None:
            now = changed()
            under_way = self._due == float("inf")
            due = time.monotonic() >= self._due or (self._hurried and not under_way)
            if due and now != self._kept and not worker.busy:
                self._due, self._hurried = float("inf"), False  # no further checkpoint until this one is done
                worker.submit(now)

        self._node.steady_timer(min(POLL, self._config.interval), look)
        self._node.diagnostics.value("checkpoint.age_s", self._age)
        self._node.diagnostics.value("checkpoint.bytes", lambda: self._bytes)
        self._node.diagnostics.value("checkpoint.latency_s", lambda: self._seconds)

    def hurry(self) -> None:
        """Take the next checkpoint within `POLL` seconds, or after one under way, so that a change is not lost."""
        self._hurried = True

    def take_now(self) -> None:
        """Take a checkpoint before returning, for example after a map was loaded. Call on a worker."""
        if self._collect is not None:
            self._take(None)

    def _take(self, changed: object) -> None:
        with self._taking:
            start = time.monotonic()
            try:
                if self._collect is not None:
                    self._bytes = self._files.write(self._collect())
                    self._kept, self._taken = changed, time.monotonic()
            finally:
                self._seconds = time.monotonic() - start
                rest = self._seconds * (1.0 / self._config.share - 1.0)
                self._due = time.monotonic() + max(self._config.interval, rest)

    def _age(self) -> object:
        return round(time.monotonic() - self._taken, 1) if self._taken else "none yet"
