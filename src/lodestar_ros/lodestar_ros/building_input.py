"""The floors of the building as messages: their JSON text, and the subscription to it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

from std_msgs.msg import String

from lodestar.floors.records import Building, Hint, from_json, to_json
from lodestar_ros import qos
from lodestar_ros.codec import BadMessage
from lodestar_ros.node import LodestarNode


class BuildingInput:
    """Receives the building's floors, as `FloorDesk` publishes them. Subscribes: ``mapping/building``.

    A malformed message is ignored. newest: floors of the last message, an empty `Building` before the first.
    takers: callbacks, called in order on the executor for each message.
    """

    def __init__(self, node: LodestarNode, *takers: Callable[[Building], None]) -> None:
        self.newest = Building()
        self._takers = list(takers)
        node.listen(String, "mapping/building", self._on_building, qos.LATCHED)

    def tell(self, take: Callable[[Building], None]) -> None:
        """Add a callback for new messages; call this before the executor starts."""
        self._takers.append(take)

    def _on_building(self, message: String) -> None:
        building = building_of(message.data)
        if building is None:
            raise BadMessage("it holds no floors")
        self.newest = building
        for take in self._takers:
            take(building)


def text_of(building: Building) -> str:
    """Return the JSON text of the floors, which `building_of` reads."""
    hints = [[hint.floor, *hint.place] for hint in building.hints]
    said = {
        **to_json(building), "note": building.note, "is_told": building.is_told, "hints": hints,
        "since": building.since,
    }  # fmt: skip
    return json.dumps(said)


def building_of(text: str) -> Building | None:
    """Return the floors of a message's JSON text, or None where it is malformed."""
    try:
        given = json.loads(text)
        building = from_json(given)
        hints = tuple(Hint(int(floor), (float(x), float(y))) for floor, x, y in given["hints"])
        since = float(given.get("since", 0.0))  # older recordings lack it
        if not math.isfinite(since):
            return None
        told = bool(given["is_told"])
        return replace(building, note=str(given["note"]), is_told=told, hints=hints, since=since)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
