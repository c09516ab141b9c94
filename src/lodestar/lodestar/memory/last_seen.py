"""Places where things were last seen on this map, in this session or a former one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.geometry.boxes import box_distance, transform_box
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import line_of_sight
from lodestar.memory.config import LastSeenConfig
from lodestar.memory.records import SEEN, WALL_TIME, EventKind, MapName, Memory, Primitive
from lodestar.models.kinship import kind_of, looks_agree, same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.category_priors import CategoryPriors
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState
from lodestar.timing.stamps import Periodic


@dataclass(frozen=True)
class LastSeen:
    """A place where a thing was last seen. id: from 1, of the place, as long as the process lives.

    thing: as it was then; its texts are untrusted. stamp: seconds of that sight; None = of a clock that cannot be
    compared with that of now, as simulated time of a former session. eye: (3,) of base_link in map then, metres.
    """

    id: int
    thing: Primitive
    stamp: float | None
    eye: np.ndarray

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest corner (3,) of the thing then, in map."""
        half = self.thing.size / 2.0
        return self.thing.centre - half, self.thing.centre + half


@dataclass(frozen=True)
class RememberedPlaces:
    """Places that the memory tells of, of one map. revision: another one for other places."""

    map: MapName
    revision: int
    places: tuple[LastSeen, ...] = ()

    def is_as(self, other: RememberedPlaces) -> bool:
        """Tell whether both tell of the same sights."""
        same = self.map == other.map and len(self.places) == len(other.places)
        return same and all(one is two for one, two in zip(self.places, other.places))


@dataclass
class _Spot:
    """A place with what later looks showed. former: the thing was seen in a former session. looks: that showed the
    place without the thing. empty: it is not there.
    """

    seen: LastSeen
    kind: str
    former: bool
    looks: int = 0
    empty: bool = False


class LastSeenPlaces:
    """Last places of things, and which of them were found empty since. Not safe for threads.

    Memories come in the order of their acceptance, in which a later one overrules an earlier one, whatever the clock
    said. Things are told apart by kind, looks and place; ids count within one session only. revision: grows with each
    change. The places that were seen longest ago are dropped first beyond `max_places`.
    """

    def __init__(self, config: LastSeenConfig) -> None:
        self.config, self.revision = config, 0
        self._spots: dict[int, _Spot] = {}  # the one that was seen last is last
        self._by_kind: dict[str, set[int]] = {}
        self._of_entity: dict[tuple[bool, int], int] = {}  # former, entity id -> spot; a hint where former
        self._next = 1
        self._second = Periodic(1.0)
        self._now = -math.inf  # of the newest look

    def __len__(self) -> int:
        return len(self._spots)

    # --- memories ---------------------------------------------------------------------------------------------

    def take(self, memory: Memory, *, former: bool = False) -> None:
        """Note what a memory says of places. former: it was kept before this process began."""
        if memory.event in SEEN:
            left = memory.place_of("from") if memory.event is EventKind.MOVED else None
            if left is not None:
                for thing in memory.primitives:
                    self._vacate(thing, left)
            known = not former or memory.end >= WALL_TIME
            for thing in memory.primitives:
                self._see(thing, memory.end if known else None, memory.position, former)
        elif memory.event is EventKind.VANISHED:
            for thing in memory.primitives:
                self._vacate(thing, thing.centre)

    def _see(self, thing: Primitive, stamp: float | None, eye: np.ndarray, former: bool) -> None:
        kind = kind_of(thing.label)
        if not kind or kind in load_lexicon().structure or not _is_usable(thing):
            return
        before = self._spots.get(self._of_entity.get((former, thing.entity_id), 0))
        here = self._at(kind, thing, before)
        if before is not None and before.seen.id != here and not former:
            self._empty(before)  # it cannot be at two places
        if here is None:
            here, self._next = self._next, self._next + 1
            self._by_kind.setdefault(kind, set()).add(here)
        self._of_entity[former, thing.entity_id] = here
        self._spots.pop(here, None)
        self._spots[here] = _Spot(LastSeen(here, thing, stamp, np.array(eye, float)), kind, former)
        self.revision += 1
        while len(self._spots) > self.config.max_places:
            oldest = next(iter(self._spots))
            self._by_kind[self._spots.pop(oldest).kind].discard(oldest)

    def _at(self, kind: str, thing: Primitive, before: _Spot | None) -> int | None:
        """Return the id of the spot of this thing, or of one like it at the same place. before: where it may be."""
        if before is not None and before.kind == kind and self._is_near(before, thing):
            return before.seen.id
        for index in self._by_kind.get(kind, ()):
            other = self._spots[index].seen.thing
            if self._is_near(self._spots[index], thing) and looks_agree(
                (other.label, other.caption), (thing.label, thing.caption)
            ):
                return index
        return None

    def _is_near(self, spot: _Spot, thing: Primitive) -> bool:
        """Tell whether a thing is where the spot's was: a box that grows as more is seen stays where it is."""
        other = spot.seen.thing
        shift = math.hypot(other.centre[0] - thing.centre[0], other.centre[1] - thing.centre[1])
        longest = max(other.size[0], other.size[1], thing.size[0], thing.size[1])
        return shift <= max(self.config.same_place, 0.5 * float(longest))

    def _vacate(self, thing: Primitive, place: np.ndarray) -> None:
        gone = thing._replace(centre=place)
        if _is_usable(gone):
            for index in self._by_kind.get(kind_of(thing.label), ()):
                if self._is_near(self._spots[index], gone):
                    self._empty(self._spots[index])

    def _empty(self, spot: _Spot) -> None:
        self.revision += not spot.empty
        spot.empty = True

    # --- looks ------------------------------------------------------------------------------------------------

    def look(
        self, stamp: float, map_from_camera: np.ndarray, grid: OccupancyGrid2D, scene: SceneMirror
    ) -> tuple[LastSeen, ...]:
        """Note a look of the camera, (4, 4) optical pose in map; return the places of former sessions that it shows to
        be empty. Of things of this session the scene tells.

        Looks within a second count once. A thing of the kind that the scene has there keeps the place from being empty.
        """
        finite = np.isfinite(map_from_camera).all() and math.isfinite(stamp)
        if not finite or not self._second.due(stamp):
            return ()
        self._now = stamp
        shown = self._shown([s for s in self._spots.values() if not s.empty], map_from_camera, grid)
        told = []
        reach = self.config.same_place
        around = {
            entity.id: entity
            for spot in shown
            for entity in scene.near(spot.seen.box[0] - reach, spot.seen.box[1] + reach)
        }
        for spot in self._without(shown, _Present(around.values())):
            spot.looks += 1
            if spot.looks >= self.config.looks:
                self._empty(spot)
                told += [spot.seen] if spot.former and not _moves(spot) else []
        return tuple(told)

    def _shown(self, spots: list[_Spot], map_from_camera: np.ndarray, grid: OccupancyGrid2D) -> list[_Spot]:
        """Return the spots in the middle of the image, near, with nothing of the plan before them."""
        config, lens = self.config, map_from_camera[:3, 3]
        if not spots:
            return []
        centres = np.array([spot.seen.thing.centre for spot in spots])
        sides = np.array([spot.seen.thing.size.max() for spot in spots])
        ranges = np.minimum(config.look_limits.near, config.look_sizes * sides)
        near = np.linalg.norm(centres[:, :2] - lens[:2], axis=1) <= ranges
        spots, centres = [spot for spot, one in zip(spots, near) if one], centres[near]
        camera_from_map = inverse(map_from_camera)
        x, y, z = (centres @ camera_from_map[:3, :3].T + camera_from_map[:3, 3]).T
        inside = (z > config.look_from) & (np.abs(x) <= z * math.tan(config.look_limits.near_fov / 2.0))
        inside &= np.abs(y) <= z * math.tan(config.look_height / 2.0)
        found = []
        for spot, centre, is_inside in zip(spots, centres, inside):
            beside = float(max(spot.seen.thing.size[:2])) / 2.0 + config.same_place
            if is_inside and line_of_sight(grid, lens, centre[None, :2], beside)[0]:
                found.append(spot)
        return found

    def _without(self, spots: Iterable[_Spot], present: _Present) -> list[_Spot]:
        """Return the spots at which nothing of their kind is present."""
        reach = self.config.same_place
        return [spot for spot in spots if not (present.distances(spot.kind, spot.seen.box) <= reach).any()]

    # --- what is known ----------------------------------------------------------------------------------------

    def places(self, scene: SceneMirror) -> tuple[LastSeen, ...]:
        """Return the places of things that the scene does not have there, and that were not found empty since; the one
        that was seen last is first, `told` at most.
        """
        spots = [s for s in reversed(self._spots.values()) if not s.empty and not self._is_over(s)]
        spots = self._without(spots, _Present(scene.entities.values()))
        if spots:
            given_up = _Present(scene.entities.values(), archived=True)
            spots = [spot for spot in spots if not self._is_given_up(spot, given_up)]
        return tuple(spot.seen for spot in spots[: self.config.told])

    def _is_over(self, spot: _Spot) -> bool:
        """Tell whether a person or an animal was seen there too long ago to be looked for there."""
        if not _moves(spot):
            return False
        return spot.seen.stamp is None or self._now - spot.seen.stamp > self.config.mover_age

    def _is_given_up(self, spot: _Spot, archived: _Present) -> bool:
        """Tell whether the scene gave the thing up after it was last seen there."""
        if spot.seen.stamp is None:
            return False
        near = archived.distances(spot.kind, spot.seen.box) <= self.config.same_place
        since = archived.last_seen(spot.kind) >= spot.seen.stamp - self.config.same_time
        return bool((near & since).any())

    def move(self, correction: MapCorrection) -> None:
        """Follow a correction of the map, each place as what was seen then."""
        for spot in self._spots.values():
            stamp = None if spot.former else spot.seen.stamp
            jump = correction.at_place(spot.seen.thing.centre) if stamp is None else correction.at(stamp)
            low, high = transform_box(jump, *spot.seen.box)
            thing = spot.seen.thing._replace(centre=(low + high) / 2.0, size=high - low)
            eye = jump[:3, :3] @ spot.seen.eye + jump[:3, 3]
            spot.seen, spot.looks = replace(spot.seen, thing=thing, eye=eye), 0
        self.revision += 1

    def clear(self) -> None:
        """Forget everything: the map is another one. Ids are not used again."""
        self._spots.clear()
        self._by_kind.clear()
        self._of_entity.clear()
        self._second.reset()
        self.revision += 1


class _Present:
    """Boxes of entities of the scene by kind. archived: of those that it has given up instead of the present ones."""

    def __init__(self, entities: Iterable[Entity], *, archived: bool = False) -> None:
        self._of_label: defaultdict[str, list[Entity]] = defaultdict(list)
        for entity in entities:
            if (entity.state is EntityState.ARCHIVED) == archived:
                self._of_label[entity.label].append(entity)
        self._of_kind: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def distances(self, kind: str, box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return the metres (N,) from a box to those of its kind."""
        low, high, _ = self._arrays(kind)
        return np.asarray(box_distance(low, high, *box))

    def last_seen(self, kind: str) -> np.ndarray:
        """Return when those of a kind were last seen, (N,) seconds."""
        return self._arrays(kind)[2]

    def _arrays(self, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if kind not in self._of_kind:
            alike = [label for label in self._of_label if same_kind(kind_of(label), kind)]
            found: Sequence[Entity] = [entity for label in alike for entity in self._of_label[label]]
            low = np.array([entity.box_min for entity in found], float).reshape(-1, 3)
            high = np.array([entity.box_max for entity in found], float).reshape(-1, 3)
            self._of_kind[kind] = low, high, np.array([entity.last_seen for entity in found], float)
        return self._of_kind[kind]


def _moves(spot: _Spot) -> bool:
    return CategoryPriors().of(spot.kind).moves_by_itself


def _is_usable(thing: Primitive) -> bool:
    return bool(np.isfinite([thing.centre, thing.size]).all() and (np.asarray(thing.size) >= 0.0).all())
