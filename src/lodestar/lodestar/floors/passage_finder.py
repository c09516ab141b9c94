"""Passages of a building from the flights that are found: confirmed, kept, made more exact; and hints at others."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import UNKNOWN, Building, Hint, Passage, PassageKind
from lodestar.floors.stair_finder import HINT, find_flights, is_in_doubt

_SAME_LINE = 0.6  # m between the middles of two finds of one flight; half of its least width
_SAME_WAY = math.radians(20.0)  # rad between their headings
_HINT_APART = 1.2  # m between two places where stairs may begin; chosen: the width of a flight
Surface = tuple[
    np.ndarray, tuple[float, float], float, float
]  # heights, origin, resolution, level: `find_flights`


class PassageFinder:
    """Keeps the passages of a building up to date with what the floor layer shows from its active floor."""

    def __init__(self, config: FloorsConfig) -> None:
        self.config = config
        self._finds: list[tuple[Passage, int]] = []  # not yet confirmed, and how often they were found
        # passage and floor of each edge that was seen from its floor
        self._measured: set[tuple[int, int]] = set()

    def update(self, building: Building, seen: Surface) -> Building:
        """Return the building with what is found from its active floor; the same object where nothing has changed."""
        here = building.active
        for found in find_flights(*seen, self.config.flights):
            lower, upper = (here if end != UNKNOWN else UNKNOWN for end in (found.lower, found.upper))
            building = self._taken(building, replace(found, lower=lower, upper=upper))
        if self.config.stairs:
            places = [one.entry(-1)[:2] for one in find_flights(*seen, HINT)]
            building = _hinted(building, places, self.config)
        return building

    def _taken(self, building: Building, found: Passage) -> Building:
        here = building.active
        for known in building.passages:
            if known.kind is PassageKind.STAIRS and known.ends_on(here) and _is_same(known, found, here):
                return self._renewed(building, known, found)
        for index, (earlier, count) in enumerate(self._finds):
            if _is_same(earlier, found, here):
                del self._finds[index]
                if count + 1 < self.config.confirmations:
                    self._finds.append((found, count + 1))
                else:
                    identity = max((one.id for one in building.passages), default=0) + 1
                    self._measured.add((identity, here))
                    return building.with_passage(replace(found, id=identity))
                return building
        self._finds = [*self._finds[-15:], (found, 1)]  # the oldest of sixteen is forgotten; chosen
        return building

    def _renewed(self, building: Building, known: Passage, found: Passage) -> Building:
        """Take the edge of a flight from a find that shows at least as much of it; an unchanged one is kept."""
        here = building.active
        shown, before = math.dist(found.low, found.high), math.dist(known.low, known.high)
        joined = UNKNOWN not in (known.lower, known.upper)
        is_steep = known.slope > self.config.flights.steepest  # and is refused by that, no failure
        if known.refused and not is_steep:
            return building
        if not joined and shown < (1.0 if known.refused else 0.8) * before:
            return building  # it shows less of the flight
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
            renewed = replace(renewed, heading=math.atan2(y1 - y0, x1 - x0))  # the edges tell it best
        moved = math.dist(renewed.low, known.low) + math.dist(renewed.high, known.high)
        if moved + abs(math.remainder(renewed.heading - known.heading, math.tau)) > 0.05:
            return building.with_passage(renewed)
        return building


def _hinted(building: Building, places: list[np.ndarray], config: FloorsConfig) -> Building:
    """Return the building with where steps may have been seen from its active floor, and no known flight begins; a
    flight whose steepness is in doubt is such a place.
    """
    here = building.active
    known = [one for one in building.passages if one.ends_on(here)]
    doubtful = [one for one in known if is_in_doubt(one, config.flights)]
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
    """Return whether two finds from one floor are of one flight: by direction, line and edge."""
    if one.leads_up(floor) != other.leads_up(floor):
        return False
    if abs(math.remainder(one.heading - other.heading, math.tau)) > _SAME_WAY:
        return False
    a, b = one.entry(floor)[:2], other.entry(floor)[:2]
    return math.dist(a, b) <= 2.0 * _SAME_LINE
