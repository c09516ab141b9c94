"""Floors of a building and the ways between them, as records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import wrap_angle, yaw_of

UNKNOWN = 0  # id of no floor: the robot is between two, or does not know on which it is
LOWEST, HIGHEST = -20, 200  # levels that a building may have; chosen: the tallest has 163 storeys
LATE = 5.0  # s by which a message may come late; chosen: a clock that was set back is set back by more
BELOW = 0.5  # m under a floor up to which a thing counts as being on it: drift of heights; chosen


class PassageKind(Enum):
    """Kinds of ways between floors."""

    STAIRS = "stairs"
    LIFT = "lift"


class Source(Enum):
    """Origin of the knowledge of a passage."""

    SEEN = "seen"
    NAMED = "named by a person"
    TAKEN = "taken"


@dataclass(frozen=True)
class Passage:
    """A way between two floors.

    low, high: (x, y) in map, metres, of its lower and upper end: a flight's first and last edge, a lift's door.
    heading: radians in map, of the way up a flight; into a lift. lower, upper: ids of floors, UNKNOWN = not known yet.
    slope: rise over run of a flight, 0 = not known. rise: metres between the floors, NaN = not known.
    """

    id: int
    kind: PassageKind
    low: tuple[float, float]
    high: tuple[float, float]
    heading: float
    lower: int = UNKNOWN
    upper: int = UNKNOWN
    slope: float = 0.0
    rise: float = math.nan
    width: float = 0.0  # m, 0 = not known
    source: Source = Source.SEEN
    refused: str = ""  # why it must not be taken, "" = it may

    def ends_on(self, floor: int) -> bool:
        """Return whether one of its ends lies on a floor."""
        return floor != UNKNOWN and floor in (self.lower, self.upper)

    def leads_up(self, floor: int) -> bool:
        """Return whether it leads up from a floor on which it ends."""
        return self.lower == floor

    def beyond(self, floor: int) -> int:
        """Return the floor to which it leads from one on which it ends; UNKNOWN where that is not known."""
        return self.upper if self.lower == floor else self.lower

    def run(self, typical: float) -> float:
        """Return the metres of its way in plan. typical: of its rise, where that is not known."""
        rise = typical if math.isnan(self.rise) else self.rise
        return rise / self.slope if self.slope > 0.0 else math.dist(self.low, self.high)

    def entry(self, floor: int) -> np.ndarray:
        """Return the pose (3,) x, y, yaw in map on its edge from which it is taken from a floor."""
        if self.kind is PassageKind.LIFT or self.leads_up(floor):
            return np.array([*self.low, self.heading])
        return np.array([*self.high, math.remainder(self.heading + math.pi, math.tau)])

    def moved(self, correction: MapCorrection) -> Passage:
        """Return the passage after a correction of the map: straight as it is, it moves as its middle does."""
        move = correction.at_place((np.array(self.low) + self.high) / 2.0)
        low, high = ((move @ [*end, 0.0, 1.0])[:2] for end in (self.low, self.high))
        heading = float(wrap_angle(self.heading + yaw_of(move)))
        return replace(self, low=_xy(low), high=_xy(high), heading=heading)


@dataclass(frozen=True)
class Floor:
    """A floor. level: of the building, 0 = ground. height: metres in map. map: name of its grid in a saved map."""

    id: int
    level: int
    height: float
    map: str = ""
    named: str = ""  # by a person, "" = by its level

    @property
    def name(self) -> str:
        """Return its name: "second floor"."""
        return self.named or level_name(self.level)


@dataclass(frozen=True)
class Hint:
    """A place (x, y) in map, metres, on a floor (id), where a few steps of stairs may have been seen from afar."""

    floor: int
    place: tuple[float, float]


@dataclass(frozen=True)
class Building:
    """All floors that are known, from the lowest to the highest, and the ways between them.

    active: id of the floor that the robot is on, UNKNOWN where it is between two or does not know. note: what the robot
    does not know of its floor, "" = nothing. is_told: places are told with their floor, also while one is known. hints:
    where a way may begin that was seen too badly to be one. since: stamp, seconds, from which the plan grid is the
    active floor's; an older grid is another's.
    """

    floors: tuple[Floor, ...] = ()
    passages: tuple[Passage, ...] = ()
    active: int = UNKNOWN
    note: str = ""
    is_told: bool = False
    hints: tuple[Hint, ...] = ()
    since: float = 0.0
    _by_id: dict[int, Floor] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.floors, key=lambda floor: floor.height))
        object.__setattr__(self, "floors", ordered)
        self._by_id.update((floor.id, floor) for floor in ordered)

    @property
    def here(self) -> Floor | None:
        """Return the floor that the robot is on; None where it does not know."""
        return self._by_id.get(self.active)

    @property
    def is_between(self) -> bool:
        """Return whether floors are known, and the robot is on none of them, or does not know on which."""
        return bool(self.floors) and self.here is None

    @property
    def has_others(self) -> bool:
        """Return whether more than one floor is known."""
        return len(self.floors) > 1

    def words_at(self, height: float, eye: float = math.nan) -> str:
        """Return the words for the floor at a height: "on the second floor"; "" where none is told. As for `at`."""
        at = self.at(height, eye) if self.is_told or self.has_others else None
        return "" if at is None else f"on the {at.name}"

    def floor(self, identity: int) -> Floor | None:
        """Return the floor of an id, None where there is none."""
        return self._by_id.get(identity)

    def of_level(self, level: int) -> Floor | None:
        """Return the floor of a level, None where it is not known."""
        return next((floor for floor in self.floors if floor.level == level), None)

    def at(self, height: float, eye: float = math.nan) -> Floor | None:
        """Return the floor on which something at a height (metres in map) is: the highest one that is not above it.

        eye: height from which it was seen; NaN = not known. What lies less than `BELOW` under a floor hangs under that
        ceiling where it was seen from below.
        """
        below = [floor for floor in self.floors if floor.height <= height + BELOW]
        if len(below) > 1 and height < below[-1].height and eye < below[-1].height:
            below.pop()
        return below[-1] if below else next(iter(self.floors), None)

    @property
    def band(self) -> tuple[float, float] | None:
        """Return the heights (metres in map) between which things are on the robot's floor; None = all are."""
        here = self.here
        if here is None or not self.has_others:
            return None
        lowest, index = here is self.floors[0], self.floors.index(here) + 1
        over = self.floors[index].height - BELOW if index < len(self.floors) else math.inf
        return -math.inf if lowest else here.height - BELOW, over

    def is_here(self, height: float, eye: float = math.nan) -> bool:
        """Return whether something at a height is on the floor that the robot is on, or may be; both as for `at`."""
        at = self.at(height, eye)
        return at is None or self.active in (UNKNOWN, at.id)

    def may_be_here(self, floor: int) -> bool:
        """Return whether what lies on a floor (id, UNKNOWN = on all) lies on the robot's, or may: a floor that is not
        known, as one of an older map, may be this one.
        """
        return UNKNOWN in (floor, self.active) or floor == self.active or self.floor(floor) is None

    def outdates(self, stamp: float) -> bool:
        """Return whether a plan grid of this stamp, seconds, is that of the floor before, and came late."""
        return 0.0 < self.since - stamp <= LATE

    def ways_from(self, floor: int) -> tuple[Passage, ...]:
        """Return the passages that may be taken from a floor."""
        return tuple(one for one in self.passages if one.ends_on(floor) and not one.refused)

    def level_beyond(self, passage: Passage, floor: int) -> int:
        """Return the level to which a passage leads from a floor; the next one where it was never taken."""
        known = self.floor(passage.beyond(floor))
        if known is not None:
            return known.level
        start = self.floor(floor)
        return (0 if start is None else start.level) + (1 if passage.leads_up(floor) else -1)

    def with_floor(self, floor: Floor) -> Building:
        """Return the building with this floor in the place of the one of its id."""
        kept = tuple(one for one in self.floors if one.id != floor.id)
        return replace(self, floors=(*kept, floor))

    def with_passage(self, passage: Passage) -> Building:
        """Return the building with this passage in the place of the one of its id."""
        kept = tuple(one for one in self.passages if one.id != passage.id)
        return replace(self, passages=(*kept, passage))

    def moved(self, correction: MapCorrection) -> Building:
        """Return the building after a correction of the map: passages and hints move with the part they lie in."""
        if not (self.passages or self.hints):
            return self
        return replace(
            self,
            passages=tuple(one.moved(correction) for one in self.passages),
            hints=tuple(
                replace(one, place=_xy(correction.moved_place(np.array(one.place)))) for one in self.hints
            ),
        )


NO_FLOORS = Building()  # nobody has told of any

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def level_name(level: int) -> str:
    """Return the words for a level, 0 = ground = "first floor"."""
    if level < 0:
        return "basement" if level == -1 else f"basement level {-level}"
    return f"{_ORDINALS[level]} floor" if level < len(_ORDINALS) else f"floor {level + 1}"


def to_json(building: Building) -> dict[str, Any]:
    """Return the records as plain values, for `from_json`."""
    return {
        "floors": [
            {"id": f.id, "level": f.level, "height": f.height, "map": f.map, "named": f.named}
            for f in building.floors
        ],
        "passages": [
            {
                "id": p.id, "kind": p.kind.value, "low": p.low, "high": p.high, "heading": p.heading,
                "lower": p.lower, "upper": p.upper, "slope": p.slope,
                "rise": None if math.isnan(p.rise) else p.rise, "width": p.width, "source": p.source.value,
                "refused": p.refused,
            }
            for p in building.passages
        ],
        "active": building.active,
    }  # fmt: skip


def from_json(given: Mapping[str, Any]) -> Building:
    """Return the records that `to_json` wrote. Raises ValueError, KeyError, TypeError for others."""
    floors = tuple(
        Floor(int(f["id"]), level_of(f["level"]), _finite(f["height"]), str(f["map"]), str(f["named"]))
        for f in _distinct(given["floors"])
    )
    known = {floor.id for floor in floors}
    passages = tuple(
        Passage(
            int(p["id"]), PassageKind(p["kind"]), _point(p["low"]), _point(p["high"]), _finite(p["heading"]),
            int(p["lower"]), int(p["upper"]), _finite(p["slope"]),
            math.nan if p["rise"] is None else _finite(p["rise"]), _finite(p["width"]), Source(p["source"]),
            str(p["refused"]),
        )
        for p in _distinct(given["passages"])
    )  # fmt: skip
    active = int(given["active"])
    ends = {end for one in passages for end in (one.lower, one.upper)} | {active}
    if not ends <= known | {UNKNOWN}:
        raise ValueError(f"floors {sorted(ends - known)} are named, and there is no record of them")
    return Building(floors, passages, active)


def level_of(value: Any, lowest: int = LOWEST, highest: int = HIGHEST) -> int:
    """Return a level that a building may have. Raises ValueError for any other value, which is told."""
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise ValueError(f"{value!r} is no level from {lowest} to {highest}")
    return value


def _distinct(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    records = list(records)
    ids = [record["id"] for record in records]
    if len(set(ids)) != len(ids) or any(int(i) <= UNKNOWN for i in ids):
        raise ValueError(f"ids {ids} are not distinct numbers from 1 on")
    return records


def _xy(place: np.ndarray) -> tuple[float, float]:
    return float(place[0]), float(place[1])


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is not finite")
    return number


def _point(value: Any) -> tuple[float, float]:
    x, y = value
    return _finite(x), _finite(y)
