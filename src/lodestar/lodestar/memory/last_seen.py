"""Places where objects were last seen on this map, in this or an earlier session."""

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
from lodestar.models.category_priors import CategoryPriors
from lodestar.models.kinship import kind_of, looks_agree, same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState
from lodestar.timing.stamps import Periodic

LAST_SEEN_TOLD = 500  # places published to the experts, the newest first; chosen: a message of 200 kB
LAST_SEEN_MAX_PLACES = 2000  # places kept, those seen longest ago dropped first; chosen: some floors
# range up to which a view shows an object, in lengths of its longest side (mug: 1.5 m); chosen: 15 of 320 px
LAST_SEEN_LOOK_SIZES = 15.0
# views (one per second) without the object after which its place is empty; chosen: an arrival lasts two,
# and the map confirms an object in one
LAST_SEEN_LOOKS = 2
LAST_SEEN_SAME_PLACE = 0.5  # metres up to which two places count as one; as EVENT_MOVED
LAST_SEEN_SAME_TIME = 5.0  # seconds by which a segment's stamp and the scene's may differ for one sighting
LAST_SEEN_LOOK_FROM = 0.3  # least metres from the camera for such a view: nearer objects fill the image
# vertical field of view of such a view, radians; chosen: narrower than that of any supported camera
LAST_SEEN_LOOK_HEIGHT = math.radians(40.0)
# seconds after which a person or an animal is not looked for where it was seen; chosen: twice the half-life
# of such places (category_priors.yaml)
LAST_SEEN_MOVER_AGE = 600.0


@dataclass(frozen=True)
class LastSeen:
    """Place where an object was last seen. id: of the place, from 1, valid in this process.

    thing: the object at that time; its texts are untrusted. stamp: seconds of the sighting; None = on a clock
    that cannot be compared, such as simulated time of an earlier session. eye: (3,) of base_link in map at
    that time, metres.
    """

    id: int
    thing: Primitive
    stamp: float | None
    eye: np.ndarray

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest corner (3,) of the object at that time, in map."""
        half = self.thing.size / 2.0
        return self.thing.centre - half, self.thing.centre + half


@dataclass(frozen=True)
class RememberedPlaces:
    """Places of one map at which the memory last saw objects. revision: changes if the places do."""

    map: MapName
    revision: int
    places: tuple[LastSeen, ...] = ()

    def is_as(self, other: RememberedPlaces) -> bool:
        """Return whether this and `other` contain the same sightings."""
        same = self.map == other.map and len(self.places) == len(other.places)
        return same and all(one is two for one, two in zip(self.places, other.places))


@dataclass
class _Spot:
    """Last known place of an object, with the results of later views of it.

    former: the object was seen in an earlier session. looks: number of views of the place without the object.
    empty: the object is not there any more.
    """

    seen: LastSeen
    kind: str
    former: bool
    looks: int = 0
    empty: bool = False


class LastSeenPlaces:
    """Last known place of each object, and whether it was found empty since. Not safe for threads.

    Memories are taken in the order of acceptance; a later one overrules an earlier one, even if its stamp is
    older. Objects are told apart by kind, appearance and place, because ids are valid in one session only.
    revision: grows with each change. Beyond LAST_SEEN_MAX_PLACES, the places that were seen longest ago are
    dropped.
    """

    def __init__(self, config: LastSeenConfig) -> None:
        self.config, self.revision = config, 0
        self._spots: dict[int, _Spot] = {}  # ordered by last sighting, the newest last
        self._by_kind: dict[str, set[int]] = {}
        # (whether of an earlier session, entity id) -> place id; for earlier sessions only a hint
        self._of_entity: dict[tuple[bool, int], int] = {}
        self._next = 1
        self._second = Periodic(1.0)
        self._now = -math.inf  # stamp of the newest look

    def __len__(self) -> int:
        return len(self._spots)

    # --- memories ---------------------------------------------------------------------------------------------

    def take(self, memory: Memory, *, former: bool = False) -> None:
        """Update the last places of a memory's objects. former: it was made before this process started."""
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
            self._empty(before)  # an object cannot be at two places
        if here is None:
            here, self._next = self._next, self._next + 1
            self._by_kind.setdefault(kind, set()).add(here)
        self._of_entity[former, thing.entity_id] = here
        self._spots.pop(here, None)
        self._spots[here] = _Spot(LastSeen(here, thing, stamp, np.array(eye, float)), kind, former)
        self.revision += 1
        while len(self._spots) > LAST_SEEN_MAX_PLACES:
            oldest = next(iter(self._spots))
            self._by_kind[self._spots.pop(oldest).kind].discard(oldest)

    def _at(self, kind: str, thing: Primitive, before: _Spot | None) -> int | None:
        """Return the id of the known place at which this object, or a similar one, is; None if there is none.

        before: place at which the object was seen last.
        """
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
        """Return whether an object is at a known place.

        A box that grows with more observations counts as the same place.
        """
        other = spot.seen.thing
        shift = math.hypot(other.centre[0] - thing.centre[0], other.centre[1] - thing.centre[1])
        longest = max(other.size[0], other.size[1], thing.size[0], thing.size[1])
        return shift <= max(LAST_SEEN_SAME_PLACE, 0.5 * float(longest))

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
        """Process a camera pose; return the places of earlier sessions that are now found empty.

        map_from_camera: (4, 4), optical frame. Places of this session are not returned, because the scene
        reports their changes. At most one call per second counts. A place is not empty if the scene has an
        object of the same kind there.
        """
        finite = np.isfinite(map_from_camera).all() and math.isfinite(stamp)
        if not finite or not self._second.due(stamp):
            return ()
        self._now = stamp
        shown = self._shown([s for s in self._spots.values() if not s.empty], map_from_camera, grid)
        told = []
        reach = LAST_SEEN_SAME_PLACE
        around = {
            entity.id: entity
            for spot in shown
            for entity in scene.near(spot.seen.box[0] - reach, spot.seen.box[1] + reach)
        }
        for spot in self._without(shown, _Present(around.values())):
            spot.looks += 1
            if spot.looks >= LAST_SEEN_LOOKS:
                self._empty(spot)
                told += [spot.seen] if spot.former and not _moves(spot) else []
        return tuple(told)

    def _shown(self, spots: list[_Spot], map_from_camera: np.ndarray, grid: OccupancyGrid2D) -> list[_Spot]:
        """Return the places near the camera and amid its image that no obstacle in the grid hides."""
        config, lens = self.config, map_from_camera[:3, 3]
        if not spots:
            return []
        centres = np.array([spot.seen.thing.centre for spot in spots])
        sides = np.array([spot.seen.thing.size.max() for spot in spots])
        ranges = np.minimum(config.look_limits.near, LAST_SEEN_LOOK_SIZES * sides)
        near = np.linalg.norm(centres[:, :2] - lens[:2], axis=1) <= ranges
        spots, centres = [spot for spot, one in zip(spots, near) if one], centres[near]
        camera_from_map = inverse(map_from_camera)
        x, y, z = (centres @ camera_from_map[:3, :3].T + camera_from_map[:3, 3]).T
        inside = (z > LAST_SEEN_LOOK_FROM) & (np.abs(x) <= z * math.tan(config.look_limits.near_fov / 2.0))
        inside &= np.abs(y) <= z * math.tan(LAST_SEEN_LOOK_HEIGHT / 2.0)
        found = []
        for spot, centre, is_inside in zip(spots, centres, inside):
            beside = float(max(spot.seen.thing.size[:2])) / 2.0 + LAST_SEEN_SAME_PLACE
            if is_inside and line_of_sight(grid, lens, centre[None, :2], beside)[0]:
                found.append(spot)
        return found

    def _without(self, spots: Iterable[_Spot], present: _Present) -> list[_Spot]:
        """Return the places at which no object of the same kind is present."""
        reach = LAST_SEEN_SAME_PLACE
        return [spot for spot in spots if not (present.distances(spot.kind, spot.seen.box) <= reach).any()]

    # --- results ----------------------------------------------------------------------------------------------

    def places(self, scene: SceneMirror) -> tuple[LastSeen, ...]:
        """Return the places that were not found empty, and at which the scene has no object of that kind now.

        The place seen last comes first; at most LAST_SEEN_TOLD are returned.
        """
        spots = [s for s in reversed(self._spots.values()) if not s.empty and not self._is_over(s)]
        spots = self._without(spots, _Present(scene.entities.values()))
        if spots:
            given_up = _Present(scene.entities.values(), archived=True)
            spots = [spot for spot in spots if not self._is_given_up(spot, given_up)]
        return tuple(spot.seen for spot in spots[:LAST_SEEN_TOLD])

    def _is_over(self, spot: _Spot) -> bool:
        """Return whether the object is a person or an animal that was seen at its place too long ago."""
        if not _moves(spot):
            return False
        return spot.seen.stamp is None or self._now - spot.seen.stamp > LAST_SEEN_MOVER_AGE

    def _is_given_up(self, spot: _Spot, archived: _Present) -> bool:
        """Return whether the scene archived the object after its last sighting at this place.

        archived: boxes of the scene's archived entities.
        """
        if spot.seen.stamp is None:
            return False
        near = archived.distances(spot.kind, spot.seen.box) <= LAST_SEEN_SAME_PLACE
        since = archived.last_seen(spot.kind) >= spot.seen.stamp - LAST_SEEN_SAME_TIME
        return bool((near & since).any())

    def move(self, correction: MapCorrection) -> None:
        """Apply a correction of the map to each place, by its stamp or else by its position."""
        for spot in self._spots.values():
            stamp = None if spot.former else spot.seen.stamp
            jump = correction.at_place(spot.seen.thing.centre) if stamp is None else correction.at(stamp)
            low, high = transform_box(jump, *spot.seen.box)
            thing = spot.seen.thing._replace(centre=(low + high) / 2.0, size=high - low)
            eye = jump[:3, :3] @ spot.seen.eye + jump[:3, 3]
            spot.seen, spot.looks = replace(spot.seen, thing=thing, eye=eye), 0
        self.revision += 1

    def clear(self) -> None:
        """Forget all places, as after a change of the map. Ids are not reused."""
        self._spots.clear()
        self._by_kind.clear()
        self._of_entity.clear()
        self._second.reset()
        self.revision += 1


class _Present:
    """Boxes of the scene's entities by kind: of the present ones, or if `archived` of the archived ones."""

    def __init__(self, entities: Iterable[Entity], *, archived: bool = False) -> None:
        self._of_label: defaultdict[str, list[Entity]] = defaultdict(list)
        for entity in entities:
            if (entity.state is EntityState.ARCHIVED) == archived:
                self._of_label[entity.label].append(entity)
        self._of_kind: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def distances(self, kind: str, box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return the distances (N,), metres, from a box to the boxes of N entities of a kind."""
        low, high, _ = self._arrays(kind)
        return np.asarray(box_distance(low, high, *box))

    def last_seen(self, kind: str) -> np.ndarray:
        """Return the stamps (N,), seconds, at which the entities of a kind were last seen."""
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
