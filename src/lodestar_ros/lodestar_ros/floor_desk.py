"""Floors in nodes: the mapping node notices a change of floor and says it; others hear it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np
from std_msgs.msg import String

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.floor_archive import SavedFloors
from lodestar.assembly.floor_stack import FloorStack
from lodestar.assembly.plan_chain import PlanChain
from lodestar.floors.records import Building, Hint, from_json, to_json
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode


class FloorDesk:
    """The floors of the mapping node. Publishes: ``~/building`` (JSON, latched, when it has changed).

    stack: one mapper per floor, in the chain's place.
    """

    def __init__(self, node: LodestarNode, chain: PlanChain, config: MappingConfig) -> None:
        base = 0.0 if config.source == "scan" else config.octomap.floor.base_height
        self.stack = FloorStack(config.floors, chain, base)
        self._publisher = node.create_publisher(String, "~/building", qos.LATCHED)

    def takes(self, stamp: float, map_from_base: np.ndarray) -> bool:
        """Hear where the base is, (4, 4); return whether the plan takes turns there."""
        if self.stack.observe(stamp, map_from_base):
            self.say()
        return not self.stack.rests

    def putting(
        self, now: Callable[[], float], lock: AbstractContextManager[Any], shown: Callable[[], None]
    ) -> Callable[[SavedFloors], Callable[[], None]]:
        """Return what takes a saved map into use under `lock`, and returns what takes that back; both call shown()."""

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
        """Publish the floors as they are now."""
        self._publisher.publish(String(data=text_of(self.stack.building)))


class BuildingInput:
    """The newest floors, as `FloorDesk` says them. Subscribes: ``mapping/building``. A malformed message is dropped."""

    def __init__(self, node: LodestarNode, take: Callable[[Building], None]) -> None:
        self._node, self._take = node, take
        self._lock = threading.Lock()
        node.listen(String, "mapping/building", self._on_building, qos.LATCHED)

    def _on_building(self, message: String) -> None:
        building = building_of(message.data)
        if building is None:
            self._node.get_logger().warning("mapping/building holds no floors")
            return
        with self._lock:
            self._take(building)


def text_of(building: Building) -> str:
    """Return the text of a message that tells of floors, for `building_of`."""
    hints = [[hint.floor, *hint.place] for hint in building.hints]
    said = {**to_json(building), "note": building.note, "is_told": building.is_told, "hints": hints}
    return json.dumps(said)


def building_of(text: str) -> Building | None:
    """Return the floors of a message's text, None where it holds none."""
    try:
        given = json.loads(text)
        building = from_json(given)
        hints = tuple(Hint(int(floor), (float(x), float(y))) for floor, x, y in given["hints"])
        return replace(building, note=str(given["note"]), is_told=bool(given["is_told"]), hints=hints)
    except (KeyError, TypeError, ValueError):
        return None
