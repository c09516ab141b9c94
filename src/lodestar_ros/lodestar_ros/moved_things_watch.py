"""Periodic comparison of the scene with the map as it was loaded."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.scene.moved_things import MovedThings, SeenElsewhere
from lodestar.scene.records import SceneDelta
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import LatestWorker


class MovedThingsWatch:
    """Compare on a thread of its own; archive and publish on the worker that publishes the scene's changes."""

    def __init__(
        self,
        node: LodestarNode,
        moved: MovedThings | None,
        period: float,
        submit: Callable[[Callable[[], None]], None],
        publish: Callable[[SceneDelta], None],
    ) -> None:
        self._submit, self._publish, self._archived = submit, publish, 0
        if moved is None:
            return
        worker: LatestWorker[MovedThings] = LatestWorker("moved", self._compare, node.diagnostics.error)
        node.on_close(worker.close)
        node.steady_timer(period, lambda: worker.submit(moved))
        node.diagnostics.value("archived.seen_elsewhere", lambda: self._archived)

    def _compare(self, moved: MovedThings) -> None:
        """On the thread of the comparison."""
        found = moved.find()
        if found.ids:
            self._submit(lambda: self._archive(moved, found))

    def _archive(self, moved: MovedThings, found: SeenElsewhere) -> None:
        """On the worker."""
        for delta in moved.archive(found):
            self._archived += 1
            self._publish(delta)
