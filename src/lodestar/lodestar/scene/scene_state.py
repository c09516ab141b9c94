"""State of the scene dictionary: applies instances, merges, sightings, absences and misses to the records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import combinations

import numpy as np

from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.grid.regions import RegionTracker
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.instances.records import Absence, Instance, Merge, Miss, Observation
from lodestar.mapping.movers.mover_tracks import is_track
from lodestar.perception.eyes import eyes_of
from lodestar.perception.frames import ImageBox
from lodestar.perception.signs import SignReading
from lodestar.scene.adjacency import Covisibility, nearest_by_hellinger
from lodestar.scene.config import SceneConfig
from lodestar.scene.enrichment import EnrichmentQueue
from lodestar.scene.floor_rooms import FloorRooms, OnFloor
from lodestar.scene.journal import Journal
from lodestar.scene.lifecycle import EntityRecord, archived_twin, twin_reach
from lodestar.scene.place_index import PlaceIndex
from lodestar.scene.records import EntityState
from lodestar.scene.region_names import RegionNames
from lodestar.scene.regions import RegionMap
from lodestar.scene.relations import RelationTable
from lodestar.scene.signs import FIRST_SIGN, SignBook, is_sign

SCENE_CLEAR_LOOK = 0.6  # free share, 0..1, of an absence that counts as a clear look; chosen
SCENE_COVISIBLE_GAIN = 0.2  # share of the missing weight gained per joint sighting; chosen
SCENE_COVISIBLE_HALF_LIFE = 600.0  # seconds in which the weight of an edge halves; chosen
SCENE_COVISIBLE_DISTANCE = 4.0  # metres beyond which joint sightings do not count; chosen
SCENE_MAX_COVISIBLE = 12  # edges per entity; chosen
SCENE_MAX_NEIGHBORS = 8  # Hellinger neighbours per entity; chosen
SCENE_NEIGHBOR_RADIUS = 3.0  # metres within which Hellinger neighbours are searched; chosen
SCENE_NEIGHBOR_MOTION = 0.1  # metres of motion after which the neighbours are recomputed; chosen

MAX_SHOWN = 4  # keyframes stored per instance, for future views
MAX_INSTANCES_SHOWN = 4096
MAX_TOGETHER = 24  # entities of one image whose pairs count as seen together


class SceneState:
    """Records of entities, their links, and their changes. Not thread-safe: the dictionary holds the lock.

    The cost of a change does not depend on the number of entities, except for jumps of the map.
    """

    def __init__(self, config: SceneConfig) -> None:
        self.config = config
        self._eyes = eyes_of(config.eyes)
        self.counts: Counter[str] = Counter()
        self.records: dict[int, EntityRecord] = {}
        self.journal = Journal()
        self.queue = EnrichmentQueue()
        self.rooms = RegionMap(config.region_reach)
        self.covisibility = Covisibility(SCENE_COVISIBLE_GAIN, SCENE_COVISIBLE_HALF_LIFE, SCENE_MAX_COVISIBLE)
        self.places = PlaceIndex()
        self.stamp = 0.0
        self.names = RegionNames()
        self.tracker = RegionTracker()
        self.on_floor: OnFloor | None = None  # tests which places the rooms in use cover; None = all
        self._floor = 0  # floor whose rooms are in use
        self._other_floors: dict[int, FloorRooms] = {}
        self.signs = SignBook()
        self.relations = RelationTable()
        self.moved = np.eye(4)  # product of all jumps since it was last reset
        self._anchor = Anchor()
        self._odom_from_camera = np.eye(4)
        self.forward: dict[int, int] = {}
        self._shown: dict[int, tuple[tuple[Keyframe, ImageBox], ...]] = {}  # by instance, newest last
        self._movers: set[int] = set()  # people and animals
        self._archived: dict[int, None] = {}  # ordered by time of archiving
        self.orphans: set[int] = set()  # entities whose instances the voxel map lost at its restart
        self._early: set[int] | None = None  # entities added between a restart of the voxel map and its claim

    def resolve(self, identity: int) -> int:
        """Return the current id of an entity, after all merges."""
        path = []
        while identity in self.forward:
            path.append(identity)
            identity = self.forward[identity]
        for passed in path[:-1]:
            self.forward[passed] = identity
        return identity

    # ------------------------------------------------------------------ events

    def restart_odometry(self) -> None:
        """Expect another odometry frame with the next delta, so that it is not taken for a jump."""
        self._anchor.resume(None)

    @property
    def map_from_odom(self) -> np.ndarray | None:
        """Return the last applied map <- odom, (4, 4); None before the first."""
        return self._anchor.last

    def resume_odometry(self, map_from_odom: np.ndarray) -> None:
        """Continue in the previous odometry frame.

        map_from_odom: (4, 4), the last one applied.
        """
        self._anchor.resume(map_from_odom)

    def await_claim(self) -> None:
        """Prepare for `claim`: the voxel map was restarted, and its remaining instances are not known yet."""
        self._early = set()

    def claim(self, known: Iterable[int], merges: list[Merge]) -> None:
        """Set the instances that a restarted voxel map knows; entities without one become orphans.

        Orphans are kept but must be seen again: a new instance of the same kind and place continues an
        orphan, as it does an archived entity. This holds too for instances that were added before the claim.
        """
        early, self._early = self._early or set(), None
        lost = set(self.records) - {self.resolve(identity) for identity in known} - early
        self.orphans = {
            identity for identity in lost if identity < FIRST_SIGN
        }  # signs and movers are not instances of the voxel map
        self.counts["orphans"] = len(self.orphans)
        for identity in sorted(early & set(self.records)):
            self._continue_former(self.records[identity], merges)

    def follow_jump(
        self, map_from_odom: np.ndarray, observations: Sequence[Observation], stamp: float | None = None
    ) -> None:
        """Apply a jump of map <- odom at a stamp to all records, before new measurements are applied.

        The size of a jump is measured at the camera of the observations, or else of the last ones.
        """
        if observations:
            self._odom_from_camera = np.asarray(observations[0].odom_from_camera, float)
        with self._anchor.correction(map_from_odom, self._odom_from_camera, stamp) as correction:
            if correction is not None:
                self._move(correction)

    def _move(self, correction: MapCorrection) -> None:
        """Apply a correction of the map to all records, or to none if it fails.

        All results are computed before any is stored.
        """
        records = {identity: copy(record) for identity, record in self.records.items()}
        rooms, names = copy(self.rooms), copy(self.names)
        rooms.move(correction)
        names.move(correction)
        moved = [identity for identity, record in records.items() if record.move(correction)]
        shown = {
            identity: tuple(
                (replace(k, map_from_camera=correction.at(k.stamp) @ k.map_from_camera), box)
                for k, box in both
            )
            for identity, both in self._shown.items()
        }
        self.records, self.rooms, self.names, self._shown = records, rooms, names, shown
        for other in self._other_floors.values():
            other.move(correction)
        self.signs.move(correction)
        if correction.is_rigid:
            self.moved = correction.jump @ self.moved
        self.counts["jumps"] += 1
        for identity in moved:
            self._placed(records[identity])
            self.journal.mark(identity)

    def take_instances(self, instances: Iterable[Instance], losers: set[int], merges: list[Merge]) -> None:
        """Create entities of confirmed instances and update known ones."""
        for instance in instances:
            if not instance.confirmed or instance.id in losers or instance.id in self.forward:
                continue
            record = self.records.get(instance.id)
            if record is None:
                self._add(EntityRecord.of(instance), merges)
            else:
                record.update(instance)
                self._placed(record)
            self.orphans.discard(instance.id)
            self.journal.mark(instance.id, seen=True)

    def take_signs(self, reading: SignReading, merges: list[Merge]) -> None:
        """Create and update the entities of signs on which several views agree."""
        last = self.map_from_odom
        map_from_odom = reading.map_from_odom if last is None else last
        first = max([FIRST_SIGN, *(i + 1 for i in (*self.records, *self.forward) if is_sign(i))])
        instances, observations = self.signs.take(reading, map_from_odom, self.records, first)
        self.take_instances(instances, set(), merges)
        self.take_observations(observations, map_from_odom)

    def expire_movers(self, stamp: float) -> list[int]:
        """Remove the people and animals not seen within `mover_life` of a stamp; return their ids.

        Those with much later stamps, from before the clock was set back, are removed too.
        """
        life = self.config.mover_life
        gone = [i for i in self._movers if abs(stamp - self.records[i].last_seen) > life]
        for identity in gone:
            self.remove(identity)
        return gone

    def _add(self, record: EntityRecord, merges: list[Merge]) -> None:
        identity = record.instance.id
        self.records[identity] = record
        if is_track(identity):
            self._movers.add(identity)
        self._placed(record)
        self.set_regions([identity])
        self.queue.add(identity)
        if self._early is not None:
            self._early.add(identity)
        self._continue_former(record, merges)

    def _continue_former(self, record: EntityRecord, merges: list[Merge]) -> None:
        """Merge an archived or orphaned entity into a new one if both are the same object."""
        x, y = record.instance.centroid[:2]
        near = self.places.near(float(x), float(y), twin_reach(record))
        former = archived_twin(record, ((i, self.records[i]) for i in near), self.orphans)
        if former is not None:
            self.counts["restored"] += 1
            self.merge(former, record.instance.id, merges)

    def _placed(self, record: EntityRecord) -> None:
        x, y = record.instance.centroid[:2]
        self.places.put(record.instance.id, float(x), float(y))

    def merge(self, loser: int, winner: int, merges: list[Merge]) -> None:
        """Merge two entities; the loser's id resolves to the winner's permanently."""
        if loser == winner or loser in self.forward:
            return
        self.forward[loser] = winner
        record = self.records.pop(loser, None)
        if record is None:
            return
        kept = self.records.get(winner)
        if kept is None:  # unconfirmed winner: the loser's record continues under its id
            record.instance = replace(record.instance, id=winner)
            self.records[winner] = record
            self._placed(record)
            if record.state == EntityState.ARCHIVED:
                self._archived[winner] = None
        else:
            kept.absorb(record)
        self.covisibility.merge(loser, winner)
        self._let_go(loser)
        self.journal.forget(loser)
        self.journal.mark(winner)
        self.queue.add(winner)
        merges.append(Merge(loser, winner))

    def take_observations(self, observations: Sequence[Observation], map_from_odom: np.ndarray) -> set[int]:
        """Apply sightings of entities, and of pairs seen together; return the ids that were seen."""
        seen: set[int] = set()
        for observation in observations:
            identity = self.resolve(observation.instance_id)
            record = self.records.get(identity)
            if record is not None:
                if record.observe(observation, map_from_odom):
                    for keyframe, box in self._shown.get(identity, ()):
                        record.link(keyframe, box)
                    self.queue.add(identity)
                seen.add(identity)
                self._archived.pop(identity, None)
                self.journal.mark(identity, seen=True)
        together = sorted(seen - self._movers, key=lambda i: -self.records[i].instance.voxel_count)[
            :MAX_TOGETHER
        ]
        for a, b in combinations(together, 2):
            gap = np.subtract(self.records[a].instance.centroid, self.records[b].instance.centroid)
            if float(gap @ gap) <= SCENE_COVISIBLE_DISTANCE**2:
                self.covisibility.seen_together(a, b, self.stamp)
        return seen

    def show(self, identity: int, keyframe: Keyframe, box: ImageBox) -> None:
        """Record that a keyframe shows an instance in `box`; it may become an entity later."""
        known = [each for each in self._shown.pop(identity, ()) if each[0].id != keyframe.id]
        self._shown[identity] = (*known, (keyframe, box))[-MAX_SHOWN:]
        while len(self._shown) > MAX_INSTANCES_SHOWN:
            del self._shown[next(iter(self._shown))]
        record = self.records.get(identity)
        if record is not None and record.link(keyframe, box):
            self.journal.mark(identity)
            self.queue.add(identity)

    def take_absences(self, absences: Iterable[Absence], seen: set[int]) -> None:
        """Apply depth measurements through the places of entities."""
        for absence in absences:
            identity = self.resolve(absence.instance_id)
            record = self.records.get(identity)
            if record is None or identity in seen or absence.free_share < SCENE_CLEAR_LOOK:
                continue
            if record.state != EntityState.ARCHIVED:
                record.looked_through()
                self.settled(identity)

    def take_misses(self, misses: Iterable[Miss], seen: set[int]) -> None:
        """Lower the confidence of entities that were in clear view and not detected (VLM-DEWM eq. B.17)."""
        for miss in misses:
            identity = self.resolve(miss.instance_id)
            record = self.records.get(identity)
            if record is None or identity in seen or record.state == EntityState.ARCHIVED:
                continue
            if record.missed(miss.stamp, self._eyes.chance(record.label, math.sqrt(miss.pixels))):
                self.settled(identity)

    def settled(self, identity: int) -> None:
        """Publish the changed state of an entity with the next delta, and note whether it is archived."""
        self.journal.mark(identity)
        if self.records[identity].state == EntityState.ARCHIVED:
            self._archived.setdefault(identity, None)
        else:
            self._archived.pop(identity, None)

    def remove(self, identity: int) -> bool:
        """Remove an entity; return False if there was none."""
        if self.records.pop(identity, None) is None:
            return False
        self._let_go(identity)
        self.journal.removed(identity)
        self.covisibility.remove(identity)
        return True

    def _let_go(self, identity: int) -> None:
        self.places.drop(identity)
        self.queue.drop(identity)
        self._shown.pop(identity, None)
        self._archived.pop(identity, None)
        self._movers.discard(identity)
        self.orphans.discard(identity)

    def prune(self) -> list[int]:
        """Remove the archived entities beyond `max_archived`; return their ids (FARM D.1).

        Those archived first are removed first.
        """
        gone = []
        while len(self._archived) > self.config.max_archived:
            identity = next(iter(self._archived))
            record = self.records.get(identity)
            if record is None or record.state != EntityState.ARCHIVED:
                del self._archived[identity]
                continue
            self.remove(identity)
            gone.append(identity)
        self.counts["pruned"] += len(gone)
        return gone

    def rebuild(self) -> None:
        """Rebuild the place index and the archive list after the records were replaced directly."""
        self.places, self.queue = PlaceIndex(), EnrichmentQueue()
        self._archived.clear()
        for identity, record in self.records.items():
            self._placed(record)
            if record.state == EntityState.ARCHIVED:
                self._archived[identity] = None
            if not record.embeddings:
                self.queue.add(identity)

    # ------------------------------------------------------------------ derived data

    def change_floor(self, floor: int, on_floor: OnFloor) -> None:
        """Switch to the rooms of another floor; new rooms get ids that no room of the building has had.

        on_floor: tells which places lie on that floor.
        """
        used = max([self.tracker.used, *(other.tracker.used for other in self._other_floors.values())])
        if floor != self._floor:
            if self._floor:
                self._other_floors[self._floor] = FloorRooms(self.rooms, self.names, self.tracker)
            kept = self._other_floors.pop(floor, None)
            if kept is not None:
                self.rooms, self.names, self.tracker = kept.rooms, kept.names, kept.tracker
            elif self._floor:
                self.rooms, self.names = RegionMap(self.config.region_reach), RegionNames()
                self.tracker = RegionTracker()
        self._floor, self.on_floor = floor, on_floor
        self.tracker.used = max(used, self.tracker.used)

    def set_regions(self, ids: Sequence[int]) -> list[int]:
        """Assign entities to regions; return the ids of those whose region changed."""
        if not len(ids) or self.rooms.is_empty:
            return []
        records = [self.records[i] for i in ids]
        means = np.concatenate([record.instance.centroid for record in records]).reshape(-1, 3).astype(float)
        regions = self.rooms.at(means)
        moved = regions != np.fromiter((record.region_id for record in records), np.int64, len(records))
        if self.on_floor is not None:
            moved &= self.on_floor(means)  # regions of other entities belong to other floors
        rows = np.flatnonzero(moved).tolist()
        for row in rows:
            records[row].region_id = int(regions[row])
        return [ids[row] for row in rows]

    def refresh_neighbors(self) -> None:
        """Compute the Hellinger neighbours of entities to be published that are new or have moved."""
        for identity in self.journal.pending(self.config.max_delta):
            record = self.records[identity]
            if self._needs_neighbors(record):
                self._find_neighbors(identity, record)

    def _needs_neighbors(self, record: EntityRecord) -> bool:
        if record.neighbors_at is None or any(n not in self.records for n in record.neighbors):
            return True
        moved = np.linalg.norm(np.asarray(record.instance.centroid) - record.neighbors_at)
        return bool(moved > SCENE_NEIGHBOR_MOTION)

    def _find_neighbors(self, identity: int, record: EntityRecord) -> None:
        mean = np.asarray(record.instance.centroid, float)
        ids = [
            i
            for i in self.places.near(float(mean[0]), float(mean[1]), SCENE_NEIGHBOR_RADIUS)
            if i != identity and self.records[i].state != EntityState.ARCHIVED
        ]
        means = np.array([self.records[i].instance.centroid for i in ids], float).reshape(-1, 3)
        covariances = np.array([self.records[i].instance.covariance for i in ids], float).reshape(-1, 3, 3)
        record.neighbors = nearest_by_hellinger(
            mean, np.asarray(record.instance.covariance, float), np.array(ids, np.int64), means, covariances,
            SCENE_MAX_NEIGHBORS, SCENE_NEIGHBOR_RADIUS,
        )  # fmt: skip
        record.neighbors_at = mean.copy()
        if record.state == EntityState.ARCHIVED:
            return
        for other, weight in record.neighbors.items():
            self._offer_neighbor(other, identity, weight)

    def _offer_neighbor(self, identity: int, new: int, weight: float) -> None:
        """Add a new entity to another's neighbours, in place of the farthest one if the list is full."""
        record = self.records[identity]
        if record.neighbors_at is None or new in record.neighbors:
            return
        if len(record.neighbors) >= SCENE_MAX_NEIGHBORS:
            farthest = min(record.neighbors, key=lambda i: record.neighbors[i])
            if record.neighbors[farthest] >= weight:
                return
            del record.neighbors[farthest]
        record.neighbors[new] = weight
        self.journal.mark(identity)
