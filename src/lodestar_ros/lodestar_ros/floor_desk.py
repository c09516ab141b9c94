"""Floors of the mapping node: detects a change of floor and publishes it for other nodes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from std_msgs.msg import String

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.floor_archive import SavedFloors
from lodestar.assembly.floor_stack import FloorStack
from lodestar.assembly.plan_chain import PlanChain
from lodestar.floors.records import Passage, PassageKind
from lodestar_ros import qos
from lodestar_ros.building_input import text_of
from lodestar_ros.map_source import PosedMessage
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import QueueWorker

BACKLOG = 100  # most messages that wait; further ones are dropped; chosen: people send a few a minute


class FloorDesk:
    """Keeps the floors of the building for the mapping node, and publishes them.

    Publishes: ``~/building`` (JSON, latched, on changes). Subscribes: ``goal_selector/passage`` (JSON of
    `PassageDesk`).
    stack: `FloorStack` with one mapper per floor; it is changed under `lock`.
    """

    def __init__(
        self, node: LodestarNode, chain: PlanChain, config: MappingConfig, lock: AbstractContextManager[Any]
    ) -> None:
        base = 0.0 if config.source == "scan" else config.octomap.floor.base_height
        self.stack = FloorStack(config.floors, chain, base)
        self._publisher = node.create_publisher(String, "~/building", qos.LATCHED)
        self._node, self._lock = node, lock
        self._news = QueueWorker("floors", self._take, node.diagnostics.error)
        node.on_close(self._news.close)
        node.listen(String, "goal_selector/passage", self._on_passage, qos.EVENT)

    def _on_passage(self, message: String) -> None:
        """Queue the message for the worker, because the lock may be held while a scan is mapped or a map is
        saved.
        """
        if self._news.waiting >= BACKLOG:
            self._node.diagnostics.input("goal_selector/passage").drop("backlog")
            return
        self._news.submit((message.data, self._node.now))

    def _take(self, news: tuple[str, float]) -> None:
        """Apply a queued message. Runs on the worker, in order of arrival."""
        text, now = news
        with self._lock:
            try:
                take_news(self.stack, json.loads(text), now)
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                why = f"{error.__class__.__name__}: {error}"
                self._node.get_logger().warning(f"goal_selector/passage is refused, {text[:80]!r}: {why}")
                return
            self.say()

    def takes(self, item: PosedMessage) -> bool:
        """Update the floors with the poses of base and sensor; return whether a scan may be mapped at this
        pose.
        """
        moved = self.stack.follow(item.map_from_odom, item.odom_from_sensor, item.stamp)
        if self.stack.observe(item.stamp, item.map_from_odom @ item.odom_from_base) or moved:
            self.say()
        return not self.stack.rests

    def putting(
        self, now: Callable[[], float], lock: AbstractContextManager[Any], shown: Callable[[], None]
    ) -> Callable[[SavedFloors], Callable[[], None]]:
        """Return a function that puts a saved map into use under `lock` and returns its undo function; both
        call shown().
        """

        def changed(change: Callable[[], Any]) -> Any:
            with lock:
                came = change()
                self.say()
                shown()
                return came

        def put(saved: SavedFloors) -> Callable[[], None]:
            take_back = changed(lambda: self.stack.use(saved, now))
            return lambda: changed(take_back)

        return put

    def say(self) -> None:
        """Publish the current floors."""
        self._publisher.publish(String(data=text_of(self.stack.building)))


def take_news(stack: FloorStack, news: dict[str, Any], now: float) -> None:
    """Apply a message of the goal selector to the floors.

    Keys: `cross` a passage that is being taken (0 = none), `failed` a passage with `why`, `lift` x, y, yaw of its door,
    `level` of the robot's floor, `arrived` level after a lift. Raises KeyError, TypeError, ValueError, OverflowError
    for anything else and for unknown levels; then nothing has changed.
    """
    building = stack.building
    if "cross" in news:
        stack.cross(next((one for one in building.passages if one.id == news["cross"]), None))
    elif "failed" in news:
        stack.failed(int(news["failed"]), str(news["why"]))
    elif "arrived" in news:
        stack.arrive(now, news["arrived"])
    elif "lift" in news:
        x, y, yaw = (float(value) for value in news["lift"])
        if building.here is None or not np.isfinite([x, y, yaw]).all():
            raise ValueError("a lift is told of where the floor is not known")
        stack.name(Passage(0, PassageKind.LIFT, (x, y), (x, y), yaw, lower=building.here.id))
    else:
        stack.say_level(news["level"])
