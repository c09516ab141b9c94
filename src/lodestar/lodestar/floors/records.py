"""Records of the floors of a building and the passages between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import wrap_angle, yaw_of

UNKNOWN = 0  # id of no floor: the robot is between two, or its floor is unknown
LOWEST, HIGHEST = -20, 200  # range of levels; chosen: the tallest building has 163 storeys
LATE = 5.0  # s by which a message may be late; chosen: a reset clock jumps further
BELOW = 0.5  # m below a floor within which an object still counts as on it: drift of heights; chosen


class PassageKind(Enum):
    """Kinds of passages between floors."""

    STAIRS = "stairs"
    LIFT = "lift"


class Source(Enum):
    """Ways in which a passage became known."""

    SEEN = "seen"
    NAMED = "named by a person"
    TAKEN = "taken"


@dataclass(frozen=True)
class Passage:
    """A passage between two floors: a flight of stairs or a lift.

    low, high: (x, y) in map, metres, lower and upper end: the first and last edge of a flight of stairs, or
    the lift's door. heading: radians in map, up the stairs or into the lift. lower, upper: ids of floors,
    UNKNOWN = not known yet. slope: rise over run of the stairs, 0 = unknown. rise: metres between the floors,
    NaN = unknown.
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
    width: float = 0.0  # m, 0 = unknown
    source: Source = Source.SEEN
    refused: str = ""  # why it must not be taken, "" = it may

    def ends_on(self, floor: int) -> bool:
        """Return whether the passage has an end on the floor."""
        return floor != UNKNOWN and floor in (self.lower, self.upper)

    def leads_up(self, floor: int) -> bool:
        """Return whether the passage leads up from a floor on which it ends."""
        return self.lower == floor

    def beyond(self, floor: int) -> int:
        """Return the id of the floor at the other end, UNKNOWN if it is not known."""
        return self.upper if self.lower == floor else self.lower

    def run(self, typical: float) -> float:
        """Return the horizontal length of the passage, metres.

        typical: rise, metres, to assume if it is unknown.
        """
        rise = typical if math.isnan(self.rise) else self.rise
        return rise / self.slope if self.slope > 0.0 else math.dist(self.low, self.high)

    def entry(self, floor: int) -> np.ndarray:
        """Return the pose (3,) x, y, yaw in map at the edge where a passage is entered from a floor."""
        if self.kind is PassageKind.LIFT or self.leads_up(floor):
            return np.array([*self.low, self.heading])
        return np.array([*self.high, math.remainder(self.heading + math.pi, math.tau)])

    def moved(self, correction: MapCorrection) -> Passage:
        """Return the passage after a correction of the map.

        It stays straight and moves like its middle.
        """
        move = correction.at_place((np.array(self.low) + self.high) / 2.0)
        low, high = ((move @ [*end, 0.0, 1.0])[:2] for end in (self.low, self.high))
        heading = float(wrap_angle(self.heading + yaw_of(move)))
        return replace(self, low=_xy(low), high=_xy(high), heading=heading)


@dataclass(frozen=True)
class Floor:
    """A floor of a building.

    level: 0 = ground. height: metres in map. map: name of its grid in a saved map.
    """

    id: int
    level: int
    height: float
    map: str = ""
    named: str = ""  # name given by a person, "" = name by level

    @property
    def name(self) -> str:
        """Return the floor's name, such as "second floor"."""
        return self.named or level_name(self.level)


@dataclass(frozen=True)
class Hint:
    """A place (x, y) in map, metres, on a floor (id), where steps may have been seen from afar."""

    floor: int
    place: tuple[float, float]


@dataclass(frozen=True)
class Building:
    """All known floors, lowest first, and the passages between them.

    active: id of the robot's floor, UNKNOWN = between two floors or not known. note: the open question about
    the robot's floor, as a sentence, "" = none. is_told: whether names of places include the floor even if
    only one is known. hints: places of possible passages. since: stamp, seconds, from which the plan grid
    shows the active floor; an older grid shows another floor.
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
        """Return the robot's floor; None if it is unknown."""
        return self._by_id.get(self.active)

    @property
    def is_between(self) -> bool:
        """Return whether floors are known but the robot's floor is not."""
        return bool(self.floors) and self.here is None

    @property
    def has_others(self) -> bool:
        """Return whether more than one floor is known."""
        return len(self.floors) > 1

    def words_at(self, height: float, eye: float = math.nan) -> str:
        """Return words for the floor at a height, such as "on the second floor"; "" if floors are not named.

        height, eye: as for `at`.
        """
        at = self.at(height, eye) if self.is_told or self.has_others else None
        return "" if at is None else f"on the {at.name}"

    def floor(self, identity: int) -> Floor | None:
        """Return the floor with this id, None if there is none."""
        return self._by_id.get(identity)

    def of_level(self, level: int) -> Floor | None:
        """Return the floor of a level, None if it is unknown."""
        return next((floor for floor in self.floors if floor.level == level), None)

    def at(self, height: float, eye: float = math.nan) -> Floor | None:
        """Return the floor to which an object at a height (metres in map) belongs; None if none is known.

        It is the highest floor that lies at most `BELOW` above the object, or else the lowest one. eye:
        height of the camera that saw the object, NaN = unknown. If the camera was below that floor, an object
        under the floor hangs from the ceiling of the storey beneath, and belongs to that storey.
        """
        below = [floor for floor in self.floors if floor.height <= height + BELOW]
        if len(below) > 1 and height < below[-1].height and eye < below[-1].height:
            below.pop()
        return below[-1] if below else next(iter(self.floors), None)

    @property
    def band(self) -> tuple[float, float] | None:
        """Return the (least, greatest) height, metres in map, of objects on the robot's floor; None = no limits."""
        here = self.here
        if here is None or not self.has_others:
            return None
        lowest, index = here is self.floors[0], self.floors.index(here) + 1
        over = self.floors[index].height - BELOW if index < len(self.floors) else math.inf
        return -math.inf if lowest else here.height - BELOW, over

    def is_here(self, height: float, eye: float = math.nan) -> bool:
        """Return whether an object at a height may be on the robot's floor. height, eye: as for `at`."""
        at = self.at(height, eye)
        return at is None or self.active in (UNKNOWN, at.id)

    def may_be_here(self, floor: int) -> bool:
        """Return whether an object of a floor may be on the robot's floor.

        floor: id; UNKNOWN = all floors. An id that is not known, as from an older map, may be this floor.
        """
        return UNKNOWN in (floor, self.active) or floor == self.active or self.floor(floor) is None

    def outdates(self, stamp: float) -> bool:
        """Return whether a plan grid of this stamp, seconds, still shows the previous floor."""
        return 0.0 < self.since - stamp <= LATE

    def ways_from(self, floor: int) -> tuple[Passage, ...]:
        """Return the passages that may be taken from a floor."""
        return tuple(one for one in self.passages if one.ends_on(floor) and not one.refused)

    def level_beyond(self, passage: Passage, floor: int) -> int:
        """Return the level at the other end of a passage.

        If that floor is unknown, it is the level one above or below this floor.
        """
        known = self.floor(passage.beyond(floor))
        if known is not None:
            return known.level
        start = self.floor(floor)
        return (0 if start is None else start.level) + (1 if passage.leads_up(floor) else -1)

    def with_floor(self, floor: Floor) -> Building:
        """Return the building with this floor added; it replaces a floor with the same id."""
        kept = tuple(one for one in self.floors if one.id != floor.id)
        return replace(self, floors=(*kept, floor))

    def with_passage(self, passage: Passage) -> Building:
        """Return the building with this passage added; it replaces a passage with the same id."""
        kept = tuple(one for one in self.passages if one.id != passage.id)
        return replace(self, passages=(*kept, passage))

    def moved(self, correction: MapCorrection) -> Building:
        """Return the building after a correction of the map.

        Passages and hints move with their part of the map.
        """
        if not (self.passages or self.hints):
            return self
        return replace(
            self,
            passages=tuple(one.moved(correction) for one in self.passages),
            hints=tuple(
                replace(one, place=_xy(correction.moved_place(np.array(one.place)))) for one in self.hints
            ),
        )


NO_FLOORS = Building()  # without any known floor

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def level_name(level: int) -> str:
    """Return the name of a level, 0 = ground = "first floor"."""
    if level < 0:
        return "basement" if level == -1 else f"basement level {-level}"
    return f"{_ORDINALS[level]} floor" if level < len(_ORDINALS) else f"floor {level + 1}"


def to_json(building: Building) -> dict[str, Any]:
    """Return the building as plain JSON values, for `from_json`."""
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
    """Return the building written by `to_json`. Raises ValueError, KeyError, TypeError for other data."""
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
    """Return the value if it is a possible level, else raise ValueError that names the value."""
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
