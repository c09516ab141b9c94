"""Passages of a building from detected flights of stairs, and hints at places where stairs may be."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.floors.config import FLOORS_CONFIRMATIONS, FloorsConfig
from lodestar.floors.records import UNKNOWN, Building, Hint, Passage, PassageKind
from lodestar.floors.stair_finder import HINT, STAIR_STEEPEST, find_flights, is_in_doubt

_SAME_LINE = 0.6  # m between the centre lines of two detections of one flight; half of its minimum width
_SAME_WAY = math.radians(20.0)  # rad between their headings
_HINT_APART = 1.2  # m between two places where stairs may begin; chosen: the width of a flight
Surface = tuple[
    np.ndarray, tuple[float, float], float, float
]  # heights, origin, resolution, level: as for `find_flights`


class PassageFinder:
    """Updates the passages of a building from the height map around its active floor."""

    def __init__(self, config: FloorsConfig) -> None:
        self.config = config
        self._finds: list[tuple[Passage, int]] = []  # unconfirmed, with their counts
        # (passage id, floor id) of each edge seen from its floor
        self._measured: set[tuple[int, int]] = set()

    def update(self, building: Building, seen: Surface) -> Building:
        """Return the building with the passages detected from its active floor.

        It is the same object if nothing changed. seen: heights, origin, resolution and level, as for
        `find_flights`.
        """
        here = building.active
        for found in find_flights(*seen, self.config.flights):
            lower, upper = (here if end != UNKNOWN else UNKNOWN for end in (found.lower, found.upper))
            building = self._taken(building, replace(found, lower=lower, upper=upper))
        if self.config.stairs:
            places = [one.entry(-1)[:2] for one in find_flights(*seen, HINT)]
            building = _hinted(building, places)
        return building

    def _taken(self, building: Building, found: Passage) -> Building:
        here = building.active
        for known in building.passages:
            if known.kind is PassageKind.STAIRS and known.ends_on(here) and _is_same(known, found, here):
                return self._renewed(building, known, found)
        for index, (earlier, count) in enumerate(self._finds):
            if _is_same(earlier, found, here):
                del self._finds[index]
                if count + 1 < FLOORS_CONFIRMATIONS:
                    self._finds.append((found, count + 1))
                else:
                    identity = max((one.id for one in building.passages), default=0) + 1
                    self._measured.add((identity, here))
                    return building.with_passage(replace(found, id=identity))
                return building
        self._finds = [*self._finds[-15:], (found, 1)]  # of sixteen, the oldest is dropped; chosen
        return building

    def _renewed(self, building: Building, known: Passage, found: Passage) -> Building:
        """Return the building with a known flight of stairs updated by a new detection.

        The flight stays as it is if the detection shows less of it.
        """
        here = building.active
        shown, before = math.dist(found.low, found.high), math.dist(known.low, known.high)
        joined = UNKNOWN not in (known.lower, known.upper)
        is_steep = known.slope > STAIR_STEEPEST  # too steep, which is no failed attempt
        if known.refused and not is_steep:
            return building
        if not joined and shown < (1.0 if known.refused else 0.8) * before:
            return building  # shows less of the flight
        renewed = replace(known, width=found.width, refused=known.refused if joined else found.refused)
        if not joined:
            renewed = replace(
                renewed, low=found.low, high=found.high, slope=found.slope, heading=found.heading
            )
        elif known.leads_up(here):
            renewed = replace(renewed, low=found.low)
        else:
            renewed = replace(renewed, high=found.high)
        self._measured.add((known.id, here))
        if joined and {(known.id, known.lower), (known.id, known.upper)} <= self._measured:
            (x0, y0), (x1, y1) = renewed.low, renewed.high
            renewed = replace(renewed, heading=math.atan2(y1 - y0, x1 - x0))  # most exact
        moved = math.dist(renewed.low, known.low) + math.dist(renewed.high, known.high)
        if moved + abs(math.remainder(renewed.heading - known.heading, math.tau)) > 0.05:
            return building.with_passage(renewed)
        return building


def _hinted(building: Building, places: list[np.ndarray]) -> Building:
    """Return the building with hints at places where steps may have been seen from its active floor.

    There is no hint at known flights of stairs, except at those of uncertain steepness. places: (2+,) in map.
    """
    here = building.active
    known = [one for one in building.passages if one.ends_on(here)]
    doubtful = [one for one in known if is_in_doubt(one)]
    taken = [one.entry(here)[:2] for one in known if one not in doubtful]
    places = [*(one.entry(here)[:2] for one in doubtful), *places]
    fresh: list[Hint] = []
    for place in places:
        if all(math.dist(place, other) > _HINT_APART for other in taken):
            fresh.append(Hint(here, (float(place[0]), float(place[1]))))
            taken.append(place)
    before = [hint for hint in building.hints if hint.floor == here]
    moved = [math.dist(a.place, b.place) > 0.5 * _HINT_APART for a, b in zip(fresh, before)]
    if len(fresh) == len(before) and not any(moved):
        return building
    return replace(building, hints=(*(hint for hint in building.hints if hint.floor != here), *fresh))


def _is_same(one: Passage, other: Passage, floor: int) -> bool:
    """Return whether two detections from one floor show the same flight of stairs.

    They must agree in direction (up or down), heading and entry.
    """
    if one.leads_up(floor) != other.leads_up(floor):
        return False
    if abs(math.remainder(one.heading - other.heading, math.tau)) > _SAME_WAY:
        return False
    a, b = one.entry(floor)[:2], other.entry(floor)[:2]
    return math.dist(a, b) <= 2.0 * _SAME_LINE
