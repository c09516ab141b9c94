"""The floors of a building, with one mapper (2D map) per floor, and the passages between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import cv2
import numpy as np

from lodestar.assembly.floor_archive import SavedFloors, floors_archive, floors_from
from lodestar.assembly.parts import plan_mapper
from lodestar.assembly.plan_chain import PlanChain
from lodestar.floors.config import FLOORS_FIND_PERIOD, FLOORS_LOOK, FLOORS_TYPICAL_STOREY, FloorsConfig
from lodestar.floors.passage_finder import PassageFinder
from lodestar.floors.records import UNKNOWN, Building, Floor, Passage, PassageKind, Source, level_of
from lodestar.floors.stair_walk import STAIR_WALK_BEGUN
from lodestar.floors.watch import WATCH_LEVEL, HeightWatch, Stand
from lodestar.geometry.corrections import Anchor
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.occupancy.grid_file import VERSIONS, Mapper, grid_archive, resume_odometry
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.storage.archive import Archive
from lodestar.storage.saved_map import GRID, ArchivePart
from lodestar.timing.stamps import Periodic

FLOORS_LEAST_STOREY = 2.0  # m, least height between two floors; chosen: a door's height
FLOORS_MATCH = 0.7  # m by which a height may differ from a known floor's: a third of the least storey
# m by which a height may differ from that of the floor left last: less than three steps
FLOORS_SAME = 0.4
FLOORS_LOOK_RADIUS = 4.0  # m around the robot within which obstacles are compared; chosen
FLOORS_FIT = 0.6  # share of the seen obstacles that must stand in the map; 1 minus RECOVERY_CARRIED_SHARE
FLOORS_NEAR = 0.2  # m between an obstacle seen and one of the map: two cells
FLOORS_LEAST_SEEN = 15  # obstacle cells needed for a comparison; chosen
FLOORS_TRIES = 2  # failures of one passage, after which it is not taken again; chosen

# m between two reported positions of the door of one lift; chosen: less than its cabin
_SAME_LIFT = 1.0


class FloorStack:
    """Keeps one mapper (2D map) per floor, detects changes of floor, and stores passages (stairs and lifts).

    plan: chain in which the active floor's mapper is in use. `building` is replaced by a new object whenever
    it changes. `rests`: True while no scan may be integrated, because the robot is between two floors or on a
    flight of stairs.
    """

    def __init__(self, config: FloorsConfig, plan: PlanChain, base_height: float = 0.0) -> None:
        self.config, self._plan, self._base_height = config, plan, base_height
        self.building = Building()
        self._watch = HeightWatch()
        self._mappers: dict[int, Mapper] = {}
        self._last = UNKNOWN  # the robot's last known floor
        self._crossing: Passage | None = None  # being taken
        self._returning: tuple[Floor, float] | None = None  # known floor being compared, and since when
        self._find_due = Periodic(FLOORS_FIND_PERIOD)
        self._finder = PassageFinder(config)
        self._failures: dict[int, int] = {}
        self._anchor = Anchor()  # for passages and hints

    @property
    def rests(self) -> bool:
        """Return whether no scan may be integrated: between floors, on stairs or on no known floor."""
        away = self._watch.stand is not Stand.ON or self._watch.is_climbing
        on_flight = self._crossing is not None and self._watch.tilt > WATCH_LEVEL
        return away or on_flight or (self.building.active == UNKNOWN and self._returning is None)

    # --- the robot's floor --------------------------------------------------------------------------------

    def observe(self, stamp: float, map_from_base: np.ndarray) -> bool:
        """Update the robot's floor from its pose (4, 4) in map. Return whether `building` has changed."""
        if not np.isfinite(map_from_base).all():
            return False
        before = self.building
        feet = map_from_base[:3, 3] - self._base_height * map_from_base[:3, 2]
        tilt = math.acos(min(max(float(map_from_base[2, 2]), -1.0), 1.0))
        if not self.building.floors:
            first = Floor(1, self.config.level, float(feet[2]), "1")
            told = self.config.stairs or self.config.lifts
            self.building, self._last = Building((first,), active=1, is_told=told), 1
            self._mappers[1] = self._plan.mapper
        stand = self._watch.observe(stamp, feet, tilt)
        on_flight = self._crossing is not None and tilt >= STAIR_WALK_BEGUN
        if on_flight and self.building.active != UNKNOWN:
            self._watch.leave()  # no path of this floor begins on the steps, wherever the walk ends
            self._leave("I am on the stairs")
        elif stand is Stand.AWAY and (self.building.active != UNKNOWN or self._returning is not None):
            self._leave("I am between two floors")
        elif stand is Stand.LANDED:
            self._land(stamp, float(feet[2]))
        if self._returning is not None and not self.rests:
            self._compare(stamp, feet)
        if self.building.active != UNKNOWN and not self.rests and self._find_due.due(stamp):
            self._find()
        return self.building is not before

    def follow(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray, stamp: float) -> bool:
        """Correct the passages, and the maps of floors not in use, after a jump of map <- odom.

        Takes map <- odom and odom <- sensor at a stamp, (4, 4) each; non-finite ones are ignored. Returns
        whether passages moved with their part of the map (ADR 0095). Maps not in use would otherwise get all
        corrections later as one large jump.
        """
        before = self.building
        for mapper in self._mappers.values():
            if self.rests or mapper is not self._plan.mapper:
                with suppress(ValueError):
                    mapper.follow(map_from_odom, odom_from_sensor, stamp)
        with suppress(ValueError), self._anchor.correction(map_from_odom, odom_from_sensor, stamp) as moved:
            if moved is not None:
                self.building = before.moved(moved)
        return self.building is not before

    def _new_plan(self) -> Mapper:
        """Return an empty mapper with the robot's past path, so that later corrections move it like those of
        other floors.
        """
        mapper = plan_mapper(self._plan.config)
        mapper.anchor.go_on_from(self._anchor)
        return mapper

    def _leave(self, note: str) -> None:
        self._keep_mapper()
        self._returning = None
        self.building = replace(self.building, active=UNKNOWN, note=note)

    def _keep_mapper(self) -> None:
        """Store the mapper in use for the active floor."""
        if self.building.active != UNKNOWN:
            self._mappers[self.building.active] = self._plan.mapper

    def _land(self, stamp: float, height: float) -> None:
        """Find the floor of a robot that stands level at another height.

        It is a known floor, a new one, or none if the height fits neither.
        """
        last = self.building.floor(self._last)
        assert last is not None
        over = self._watch.over_floor
        nominal = last.height + over
        known = [
            f
            for f in self.building.floors
            if abs(f.height - nominal) <= (FLOORS_SAME if f is last else FLOORS_MATCH)
        ]
        if known:
            self._come_back(stamp, min(known, key=lambda f: abs(f.height - nominal)))
        elif abs(over) >= FLOORS_LEAST_STOREY:
            self._begin_floor(stamp, last, nominal, over)
        else:
            where = f"{abs(over):.1f} m {'above' if over > 0 else 'below'} the {last.name}"
            note = f"I stand {where}, and know of no floor there"
            if note != self.building.note:
                self.building = replace(self.building, active=UNKNOWN, note=note)

    def _begin_floor(
        self, stamp: float, last: Floor, height: float, over: float, told: int | None = None
    ) -> None:
        """Add a floor and make it the robot's floor. told: level reported by a person, None = derived from
        the height.
        """
        floors = self.building.floors
        gaps = [b.height - a.height for a, b in pairwise(floors)]
        storey = min(gaps, default=FLOORS_TYPICAL_STOREY)
        steps = max(1, round(abs(over) / max(storey, FLOORS_LEAST_STOREY)))
        level = last.level + (steps if over > 0 else -steps) if told is None else told
        if self.building.of_level(level) is not None:  # a mezzanine must not take another floor's level
            level = max(f.level for f in floors) + 1 if over > 0 else min(f.level for f in floors) - 1
        identity = max(f.id for f in floors) + 1
        self.building = self.building.with_floor(Floor(identity, level, height, str(identity)))
        self._mappers[identity] = self._new_plan()
        self._stand_on(identity, stamp)

    def _come_back(self, stamp: float, floor: Floor) -> None:
        """Begin to compare a known floor's map with the surroundings before the map is used again.

        The floor that the robot left last is accepted at once.
        """
        self._watch.stand_on()
        if floor.id == self._last:
            self._stand_on(floor.id, stamp)
            return
        self._plan.use(self._new_plan(), lambda: stamp)
        self._returning = floor, stamp
        note = f"I look whether this is the {floor.name}"
        self.building = replace(self.building, active=UNKNOWN, note=note, since=stamp)

    def _compare(self, stamp: float, feet: np.ndarray) -> None:
        """Use the known floor's map again if the surroundings match; else begin a new map at this height."""
        assert self._returning is not None
        floor, since = self._returning
        if stamp < since:  # the clock went back
            self._returning = floor, stamp
        if stamp - since < FLOORS_LOOK:
            return
        stored = self._mappers[floor.id].project(stamp)
        share = fit(stored, self._plan.mapper.project(stamp), feet[:2])
        if math.isnan(share):  # do not guess a floor
            note = f"I see too little to tell whether this is the {floor.name}"
            if note != self.building.note:
                self.building = replace(self.building, note=note)
            return
        self._returning = None
        if share >= FLOORS_FIT:
            self._stand_on(floor.id, stamp)
            return
        identity = max(f.id for f in self.building.floors) + 1
        self._mappers[identity] = self._plan.mapper
        other = replace(floor, id=identity, map=str(identity), height=floor.height + 1e-3)
        note = f"What I see does not fit my map of the {floor.name}; I keep that map and begin another one"
        self.building = self.building.with_floor(other)
        self._stand_on(identity, stamp, note)

    def _stand_on(self, identity: int, stamp: float, note: str = "") -> None:
        self._watch.stand_on()
        before, self._last = self._last, identity
        since = self.building.since
        if self._plan.mapper is not self._mappers[identity]:
            self._plan.use(self._mappers[identity], lambda: stamp)
            since = stamp
        self.building = replace(self.building, active=identity, note=note, since=since)
        self._join(before, identity)
        self._find_due.reset()

    def _join(self, before: int, after: int) -> None:
        """Record the two floors that the passage just taken joins, with its rise and its ends."""
        if before == after:
            return
        passage, self._crossing = self._crossing, None
        low, high = self.building.floor(before), self.building.floor(after)
        if passage is None or low is None or high is None:
            return
        low, high = sorted((low, high), key=lambda f: f.height)
        rise = high.height - low.height
        known = self.building.passages
        now = next((one for one in known if one.id == passage.id), passage)
        run = rise / now.slope if now.slope > 0.0 else math.dist(now.low, now.high)
        way = run * math.cos(now.heading), run * math.sin(now.heading)
        if passage.leads_up(before):
            ends = now.low, (now.low[0] + way[0], now.low[1] + way[1])
        else:
            ends = (now.high[0] - way[0], now.high[1] - way[1]), now.high
        if now.kind is PassageKind.LIFT:
            ends = now.low, now.high
        joined = replace(
            now, lower=low.id, upper=high.id, rise=rise, low=ends[0], high=ends[1], source=Source.TAKEN
        )
        self.building = self.building.with_passage(joined)

    # --- saved maps -----------------------------------------------------------------------------------------

    def part(
        self,
        now: Callable[[], float],
        kept: Callable[[], object] = lambda: None,
        put: Callable[[SavedFloors], Callable[[], object]] | None = None,
        lock: AbstractContextManager[Any] | None = None,
    ) -> ArchivePart[SavedFloors]:
        """Return the archive part that saves and loads the 2D maps of all floors.

        now: stamp of a save, seconds. kept: stores the loaded floors for a successor process (see
        `exchange`). put: replaces the floors by loaded ones and returns an undo function; default: `use`.
        lock: held while the maps are copied.
        """

        def capture() -> Archive:
            with lock or nullcontext():
                self._keep_mapper()
                if not self.building.floors:
                    return grid_archive(self._plan.mapper, now())
                return floors_archive(self.building, self.building.active or self._last, self._mappers, now())

        plain = self._plan.part(now)
        put = put or (lambda saved: self.use(saved, now))
        return ArchivePart(
            GRID,
            VERSIONS,
            capture,
            lambda archive: floors_from(archive, plain.build),
            put,
            kept,
            is_optional=True,
        )

    def resume(self, archive: Archive, stamp: float) -> bool:
        """Resume the floors of an earlier process with the same odometry frame. Returns True.

        Raises ForeignFile.
        """
        plain = self._plan.part(lambda: stamp)
        saved = floors_from(archive, plain.build)
        for mapper in (saved.mappers or {0: saved.active}).values():
            resume_odometry(mapper, archive)
        self.use(saved, lambda: stamp)
        return True

    def use(self, saved: SavedFloors, now: Callable[[], float]) -> Callable[[], None]:
        """Replace the floors by saved ones, with the robot on the active floor. Returns an undo function."""
        former = self.building, self._mappers, self._last, self._watch, self._failures, self._anchor
        returning = self._returning
        since = now()  # before the stamp of the grid
        back = self._plan.use(saved.active, now)
        self._watch = HeightWatch()
        self._returning = self._crossing = None
        self._anchor = Anchor()
        self._anchor.go_on_from(saved.active.anchor)
        self._finder, self._failures = PassageFinder(self.config), {}  # these refer to passages by id
        if saved.building is None or saved.mappers is None:
            self.building, self._mappers, self._last = Building(), {}, UNKNOWN
        else:
            told = self.config.stairs or self.config.lifts
            self.building = replace(saved.building, is_told=told, since=since)
            self._mappers, self._last = dict(saved.mappers), saved.building.active

        def take_back() -> None:
            back()
            self.building, self._mappers, self._last, self._watch, self._failures, self._anchor = former
            self._finder, self._returning = PassageFinder(self.config), returning

        return take_back

    # --- passages -----------------------------------------------------------------------------------------

    def cross(self, passage: Passage | None) -> None:
        """Set the passage that the robot is taking; None = none."""
        self._crossing = passage

    def failed(self, passage: int, why: str) -> None:
        """Count a failure to take this passage; after FLOORS_TRIES failures refuse it, because of `why`."""
        self._crossing = None
        self._failures[passage] = self._failures.get(passage, 0) + 1
        known = next((one for one in self.building.passages if one.id == passage), None)
        if known is not None and self._failures[passage] >= FLOORS_TRIES:
            self.building = self.building.with_passage(replace(known, refused=why))

    def name(self, passage: Passage) -> Passage:
        """Add a passage that a person has named, and return it with its id.

        A lift that is named again keeps its id, gets the new position of its door, and may be taken again.
        """
        for known in self.building.passages:
            is_lift = passage.kind is PassageKind.LIFT and known.kind is passage.kind
            if is_lift and known.ends_on(passage.lower) and math.dist(known.low, passage.low) <= _SAME_LIFT:
                self._failures.pop(known.id, None)
                named = replace(
                    known, low=passage.low, high=passage.high, heading=passage.heading, refused=""
                )
                self.building = self.building.with_passage(named)
                return named
        identity = max((one.id for one in self.building.passages), default=0) + 1
        named = replace(passage, id=identity, source=Source.NAMED)
        self.building = self.building.with_passage(named)
        return named

    def arrive(self, stamp: float, level: int) -> None:
        """Set the robot's floor after a ride in a lift, by the level that a person reports.

        Odometry does not measure the ride. Raises ValueError for an impossible level; then nothing has
        changed.
        """
        level_of(level, self.config.lowest, self.config.highest)
        last = self.building.floor(self._last)
        known = self.building.of_level(level)
        if last is None or (known is not None and known.id == self._last):
            return
        self._keep_mapper()
        if known is not None:
            self._come_back(stamp, known)
            return
        steps = level - last.level
        over = steps * FLOORS_TYPICAL_STOREY
        self._begin_floor(stamp, last, last.height + over, over, level)

    def say_level(self, level: int) -> None:
        """Set the level of the robot's floor, as reported by a person, and shift the levels of all other floors.

        Raises ValueError for an impossible level, or if the floor is unknown; then nothing has changed.
        """
        here, config = self.building.here, self.config
        if here is None:
            raise ValueError("a level is told where the floor is not known")
        by = level_of(level, config.lowest, config.highest) - here.level
        floors = tuple(
            replace(f, level=level_of(f.level + by, config.lowest, config.highest))
            for f in self.building.floors
        )
        self.building = replace(self.building, floors=floors)

    def _find(self) -> None:
        """Detect flights of stairs that begin on the active floor."""
        mapper, here = self._plan.mapper, self.building.here
        if not isinstance(mapper, OctoMapper) or here is None:
            return
        if (surface := mapper.surface()) is None:
            return
        level = self._watch.reference  # height of the floor including drift
        self.building = self._finder.update(self.building, (*surface, mapper.config.resolution, level))


def fit(stored: OccupancyGrid2D, seen: OccupancyGrid2D, place: np.ndarray) -> float:
    """Return the share of obstacles seen around a place (2,) that a stored grid has too; NaN for too few."""
    cells = np.argwhere(seen.occupied)
    points = seen.points_of(cells)
    points = points[np.hypot(*(points - place).T) <= FLOORS_LOOK_RADIUS]
    if len(points) < FLOORS_LEAST_SEEN:
        return math.nan
    if not stored.cells.size:
        return 0.0
    reach = max(1, round(FLOORS_NEAR / stored.resolution))
    wide = cv2.dilate(stored.occupied.view(np.uint8), np.ones((2 * reach + 1,) * 2, np.uint8)) > 0
    there = stored.cells_of(points)
    inside = stored.contains(there)
    stands = np.zeros(len(points), bool)
    stands[inside] = wide[there[inside, 0], there[inside, 1]]
    return float(stands.mean())
