"""The floors of the building between nodes: as text, and as whoever needs them hears them."""

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
    """The newest floors, as `FloorDesk` says them. Subscribes: ``mapping/building``. After a malformed message those
    of before hold.

    newest: no floor before the first message. takers: are told each message, in their order, on the executor.
    """

    def __init__(self, node: LodestarNode, *takers: Callable[[Building], None]) -> None:
        self.newest = Building()
        self._takers = list(takers)
        node.listen(String, "mapping/building", self._on_building, qos.LATCHED)

    def tell(self, take: Callable[[Building], None]) -> None:
        """Tell this one too, from now on; before the executor begins."""
        self._takers.append(take)

    def _on_building(self, message: String) -> None:
        building = building_of(message.data)
        if building is None:
            raise BadMessage("it holds no floors")
        self.newest = building
        for take in self._takers:
            take(building)


def text_of(building: Building) -> str:
    """Return the text of a message that tells of floors, for `building_of`."""
    hints = [[hint.floor, *hint.place] for hint in building.hints]
    said = {
        **to_json(building), "note": building.note, "is_told": building.is_told, "hints": hints,
        "since": building.since,
    }  # fmt: skip
    return json.dumps(said)


def building_of(text: str) -> Building | None:
    """Return the floors of a message's text, None where it holds none."""
    try:
        given = json.loads(text)
        building = from_json(given)
        hints = tuple(Hint(int(floor), (float(x), float(y))) for floor, x, y in given["hints"])
        since = float(given.get("since", 0.0))  # recordings of before do not say it
        if not math.isfinite(since):
            return None
        told = bool(given["is_told"])
        return replace(building, note=str(given["note"]), is_told=told, hints=hints, since=since)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
