"""The floors of a building: a mapper of its own for each, one of them in use, and the ways that were found."""

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
from lodestar.floors.config import FloorsConfig
from lodestar.floors.passage_finder import PassageFinder
from lodestar.floors.records import UNKNOWN, Building, Floor, Passage, PassageKind, Source, level_of
from lodestar.floors.watch import HeightWatch, Stand
from lodestar.geometry.corrections import Anchor
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.grid_file import VERSIONS, Mapper, grid_archive, resume_odometry
from lodestar.mapping.octomap import OctoMapper
from lodestar.storage.archive import Archive
from lodestar.storage.saved_map import GRID, ArchivePart
from lodestar.timing.stamps import Periodic

# m between two places of the door of one lift, as people tell of them; chosen: less than its cabin
_SAME_LIFT = 1.0


class FloorStack:
    """Keeps one mapper per floor in `plan`'s place, notices changes of floor, and remembers flights.

    `building` is another object whenever something of it has changed. `rests`: no turn may be integrated, because the
    robot is between two floors or on a flight.
    """

    def __init__(self, config: FloorsConfig, plan: PlanChain, base_height: float = 0.0) -> None:
        self.config, self._plan, self._base_height = config, plan, base_height
        self.building = Building()
        self._watch = HeightWatch(config.watch)
        self._mappers: dict[int, Mapper] = {}
        self._last = UNKNOWN  # the floor that the robot was on last
        self._crossing: Passage | None = None  # that is being taken
        self._returning: tuple[Floor, float] | None = None  # a known floor that is compared, and since when
        self._find_due = Periodic(config.find_period)
        self._finder = PassageFinder(config)
        self._failures: dict[int, int] = {}
        self._anchor = Anchor()  # of passages and hints

    @property
    def rests(self) -> bool:
        """Return whether the plan takes no turns now."""
        away = self._watch.stand is not Stand.ON or self._watch.is_climbing
        on_flight = self._crossing is not None and self._watch.tilt > self.config.watch.level
        return away or on_flight or (self.building.active == UNKNOWN and self._returning is None)

    # --- where the robot is -------------------------------------------------------------------------------

    def observe(self, stamp: float, map_from_base: np.ndarray) -> bool:
        """Take the pose (4, 4) at a stamp; return whether `building` has changed."""
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
        on_flight = self._crossing is not None and tilt >= self.config.walk.begun
        if on_flight and self.building.active != UNKNOWN:
            self._watch.leave()  # wherever the walk ends, no way of this floor begins on the steps
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
        """Take map <- odom and odom <- sensor at a stamp, (4, 4) each; return whether ways between floors have moved
        with the part of the map that they lie in (ADR 0095). Poses that are not finite are dropped.

        Plans that take no turns now follow too: what matches take back meanwhile would be one large jump afterwards.
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
        """Return an empty plan that knows the robot's way until now, and so moves with it."""
        mapper = plan_mapper(self._plan.config)
        mapper.anchor.go_on_from(self._anchor)
        return mapper

    def _leave(self, note: str) -> None:
        self._keep_mapper()
        self._returning = None
        self.building = replace(self.building, active=UNKNOWN, note=note)

    def _keep_mapper(self) -> None:
        """The mapper in use is that of the floor that the robot was on last."""
        if self.building.active != UNKNOWN:
            self._mappers[self.building.active] = self._plan.mapper

    def _land(self, stamp: float, height: float) -> None:
        """The robot stands level at another height than its floor's."""
        last = self.building.floor(self._last)
        assert last is not None
        config, over = self.config, self._watch.over_floor
        nominal = last.height + over
        known = [
            f
            for f in self.building.floors
            if abs(f.height - nominal) <= (config.same if f is last else config.match)
        ]
        if known:
            self._come_back(stamp, min(known, key=lambda f: abs(f.height - nominal)))
        elif abs(over) >= config.least_storey:
            self._begin_floor(stamp, last, nominal, over)
        else:
            where = f"{abs(over):.1f} m {'above' if over > 0 else 'below'} the {last.name}"
            note = f"I stand {where}, and know of no floor there"
            if note != self.building.note:
                self.building = replace(self.building, active=UNKNOWN, note=note)

    def _begin_floor(
        self, stamp: float, last: Floor, height: float, over: float, told: int | None = None
    ) -> None:
        """told: level that a person says, None = by the height."""
        floors = self.building.floors
        gaps = [b.height - a.height for a, b in pairwise(floors)]
        storey = min(gaps, default=self.config.typical_storey)
        steps = max(1, round(abs(over) / max(storey, self.config.least_storey)))
        level = last.level + (steps if over > 0 else -steps) if told is None else told
        if self.building.of_level(level) is not None:  # a mezzanine takes no other floor's number
            level = max(f.level for f in floors) + 1 if over > 0 else min(f.level for f in floors) - 1
        identity = max(f.id for f in floors) + 1
        self.building = self.building.with_floor(Floor(identity, level, height, str(identity)))
        self._mappers[identity] = self._new_plan()
        self._stand_on(identity, stamp)

    def _come_back(self, stamp: float, floor: Floor) -> None:
        """Look at a known floor before its map is taken up again; the one that was left last is taken at once."""
        self._watch.stand_on()
        if floor.id == self._last:
            self._stand_on(floor.id, stamp)
            return
        self._plan.use(self._new_plan(), lambda: stamp)
        self._returning = floor, stamp
        note = f"I look whether this is the {floor.name}"
        self.building = replace(self.building, active=UNKNOWN, note=note, since=stamp)

    def _compare(self, stamp: float, feet: np.ndarray) -> None:
        """Take the known floor's map up again where what stands around fits it, or begin another one beside it."""
        assert self._returning is not None
        floor, since = self._returning
        if stamp < since:  # the clock went back
            self._returning = floor, stamp
        if stamp - since < self.config.look:
            return
        stored = self._mappers[floor.id].project(stamp)
        share = fit(stored, self._plan.mapper.project(stamp), feet[:2], self.config)
        if math.isnan(share):  # neither that floor nor another one is taken on a guess
            note = f"I see too little to tell whether this is the {floor.name}"
            if note != self.building.note:
                self.building = replace(self.building, note=note)
            return
        self._returning = None
        if share >= self.config.fit:
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
        """Note that the passage that was taken joins the two floors."""
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
        """Return the part of a saved map: the plans of all floors. put: by default `use`. lock: held while they are
        copied. kept: see `exchange`.
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
        """Go on from a predecessor's floors; the odometry is the same. Raises ForeignFile."""
        plain = self._plan.part(lambda: stamp)
        saved = floors_from(archive, plain.build)
        for mapper in (saved.mappers or {0: saved.active}).values():
            resume_odometry(mapper, archive)
        self.use(saved, lambda: stamp)
        return True

    def use(self, saved: SavedFloors, now: Callable[[], float]) -> Callable[[], None]:
        """Take the floors of a saved map into use; return what takes that back. The robot is on the active one."""
        former = self.building, self._mappers, self._last, self._watch, self._failures, self._anchor
        since = now()  # before that of the grid
        back = self._plan.use(saved.active, now)
        self._watch = HeightWatch(self.config.watch)
        self._returning = self._crossing = None
        self._anchor = Anchor()
        self._anchor.go_on_from(saved.active.anchor)
        self._finder, self._failures = PassageFinder(self.config), {}  # they know passages by their ids
        if saved.building is None or saved.mappers is None:
            self.building, self._mappers, self._last = Building(), {}, UNKNOWN
        else:
            told = self.config.stairs or self.config.lifts
            self.building = replace(saved.building, is_told=told, since=since)
            self._mappers, self._last = dict(saved.mappers), saved.building.active

        def take_back() -> None:
            back()
            self.building, self._mappers, self._last, self._watch, self._failures, self._anchor = former
            self._finder = PassageFinder(self.config)

        return take_back

    # --- passages -----------------------------------------------------------------------------------------

    def cross(self, passage: Passage | None) -> None:
        """The robot takes this passage now; None = it does no longer."""
        self._crossing = passage

    def failed(self, passage: int, why: str) -> None:
        """A passage could not be taken; after `tries` failures it is refused."""
        self._crossing = None
        self._failures[passage] = self._failures.get(passage, 0) + 1
        known = next((one for one in self.building.passages if one.id == passage), None)
        if known is not None and self._failures[passage] >= self.config.tries:
            self.building = self.building.with_passage(replace(known, refused=why))

    def name(self, passage: Passage) -> Passage:
        """Keep a passage that a person names, and return it with its id. A lift that is named again is the same one,
        where its door is now; it may be taken again.
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
        """A person says on which level a lift has let the robot out, whose height its legs do not feel.

        Raises ValueError for a level that the building does not have; then nothing has changed.
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
        over = steps * self.config.typical_storey
        self._begin_floor(stamp, last, last.height + over, over, level)

    def say_level(self, level: int) -> None:
        """A person says on which level the robot is; the levels of the other floors move with it.

        Raises ValueError where one of them is none that the building has, or the robot is on no floor; then nothing has
        changed.
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
        """Look for flights that begin on the active floor."""
        mapper, here = self._plan.mapper, self.building.here
        surface = mapper.surface() if isinstance(mapper, OctoMapper) else None
        if surface is None or here is None:
            return
        level = self._watch.reference  # that of the floor as drift has it now
        self.building = self._finder.update(self.building, (*surface, mapper.config.resolution, level))


def fit(stored: OccupancyGrid2D, seen: OccupancyGrid2D, place: np.ndarray, config: FloorsConfig) -> float:
    """Return the share of what stands around a place (2,) that a stored grid has too; NaN where too little does."""
    cells = np.argwhere(seen.occupied)
    points = seen.points_of(cells)
    points = points[np.hypot(*(points - place).T) <= config.look_radius]
    if len(points) < config.least_seen:
        return math.nan
    if not stored.cells.size:
        return 0.0
    reach = max(1, round(config.near / stored.resolution))
    wide = cv2.dilate(stored.occupied.view(np.uint8), np.ones((2 * reach + 1,) * 2, np.uint8)) > 0
    there = stored.cells_of(points)
    inside = stored.contains(there)
    stands = np.zeros(len(points), bool)
    stands[inside] = wide[there[inside, 0], there[inside, 1]]
    return float(stands.mean())
