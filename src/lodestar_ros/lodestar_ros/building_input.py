"""The floors of the building between nodes: as text, and as whoever needs them hears them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace

from std_msgs.msg import String

from lodestar.floors.records import Building, Hint, from_json, to_json
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode


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
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
