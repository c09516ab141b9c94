"""The scene dictionary: one revisioned, queryable record per confirmed object (RoboAtlas IV-B1, FARM 2.2)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.follower import ALL, PAGE_SIZE, Cursor
from lodestar.mapping.instances.records import InstanceDelta, Merge
from lodestar.models.category_priors import CategoryPriors
from lodestar.perception.signs import SignReading
from lodestar.scene.amendments import Amended, EntityEdit, apply_edits, check_edits
from lodestar.scene.config import SceneConfig
from lodestar.scene.enrichment import CHANNEL, Enrichment, EnrichmentTask
from lodestar.scene.floor_rooms import OnFloor
from lodestar.scene.lifecycle import OPERATOR
from lodestar.scene.records import Embedding, Entity, EntityState, Region, SceneDelta, same_embedding
from lodestar.scene.region_labels import labelled_regions
from lodestar.scene.regions import RegionMap
from lodestar.scene.relations import Relation
from lodestar.scene.scene_state import SceneState
from lodestar.scene.session_changes import ThingChange
from lodestar.scene.session_sights import SessionScene, changes_between
from lodestar.scene.signs import FIRST_SIGN
from lodestar.storage.saved_map import base_session
from lodestar.timing.stamps import CarriedStamp

__all__ = ["SceneConfig", "SceneDictionary"]

#: State that is replaced together when another scene is loaded.
_LIFETIME = ("state", "map_id", "session_id", "_instance_revision", "_retired", "_expected", "_loaded")


class SceneDictionary:
    """Entities of confirmed instances. Thread-safe.

    An entity has its instance's id. The id of a merged entity resolves to that of the remaining one
    permanently. Archived entities are kept, except the oldest beyond `max_archived`.
    """

    def __init__(
        self,
        config: SceneConfig | None = None,
        map_id: int = 1,
        session_id: str = "",
        priors: CategoryPriors | None = None,
    ) -> None:
        self.config = config = config or SceneConfig()
        self.map_id = map_id
        self.session_id = session_id
        self._priors = priors or CategoryPriors()  # how often kinds of objects move
        self.lock = threading.RLock()
        self.state = SceneState(config)  # access requires the lock
        self._instance_revision = -1
        self._clock = CarriedStamp()  # follows the instances' stamps
        self._retired: set[str] = set()  # ended sessions of the voxel map
        self._expected = ""  # first part of the name of the session that continues a loaded map
        self._loaded: SessionScene | None = None  # the scene as it was loaded

    @property
    def revision(self) -> int:
        """Return the revision of the last published change."""
        return self.state.journal.revision

    @property
    def counts(self) -> Counter[str]:
        """Return event counters by name."""
        return self.state.counts

    # ------------------------------------------------------------------ input

    def update(self, delta: InstanceDelta) -> SceneDelta:
        """Apply a change of the instances and return the changed entities, at most `max_delta`.

        Further entities follow in the next deltas. A delta older than the last one, or of a session that has
        already ended, is counted and ignored; a delta of another map first removes all entities. A new
        session of the same map removes nothing: see `_start_over`.
        """
        with self.lock:
            state = self.state
            removed: list[int] = []
            if (delta.map_id, delta.session_id) != (self.map_id, self.session_id):
                if delta.session_id in self._retired:
                    state.counts["stale_deltas"] += 1
                    return self._publish((), (), ())
                removed.extend(self._start_over(delta.map_id, delta.session_id))
            if delta.revision < self._instance_revision:
                state.counts["stale_deltas"] += 1
                return self._publish((), (), ())
            self._instance_revision = delta.revision
            state.stamp = max(state.stamp, delta.stamp)
            self._clock.take(delta.stamp)
            state.follow_jump(delta.map_from_odom, delta.observations, delta.stamp)
            merges: list[Merge] = []
            losers = {merge.loser for merge in delta.merges}
            state.take_instances(delta.updated, losers, merges)
            for merge in delta.merges:
                state.merge(merge.loser, state.resolve(merge.winner), merges)
            seen = state.take_observations(delta.observations, delta.map_from_odom)
            state.take_absences(delta.absences, seen)
            state.take_misses(delta.misses, seen)
            removed.extend(identity for identity in delta.removed if state.remove(identity))
            removed.extend((*state.expire_movers(delta.stamp), *state.prune()))
            state.refresh_neighbors()
            return self._publish(merges, removed)

    def take_signs(self, reading: SignReading) -> SceneDelta:
        """Add the text read in one image; return the delta of the scene.

        A sign becomes an entity when several views agree on its text.
        """
        with self.lock:
            merges: list[Merge] = []
            self.state.stamp = max(self.state.stamp, reading.stamp)
            self.state.take_signs(reading, merges)
            self.state.refresh_neighbors()
            return self._publish(merges, ())

    def expire_movers(self, stamp: float | None = None) -> SceneDelta:
        """Remove the people and animals that were not seen for `mover_life` seconds; return the delta.

        stamp: seconds; None = now, by the clock of the deltas.
        """
        with self.lock:
            now = self._clock.now if stamp is None else stamp
            return self._publish((), self.state.expire_movers(now), ())

    def _start_over(self, map_id: int, session_id: str) -> list[int]:
        """Follow the voxel map into another session; return the ids of entities that ended with the old one.

        Sessions of one map share the name up to a "+". A new session begins after a load, or because the
        voxel map's process was restarted: then the voxel map may know less than before, and no entity is
        removed.
        """
        base = base_session(session_id)
        same_map = bool(base) and map_id == self.map_id
        loaded = same_map and base == self._expected
        restarted = same_map and not loaded and base == base_session(self.session_id)
        gone = [] if loaded or restarted else list(self.state.records)
        if self.session_id:
            self.state.signs.clear()
        else:  # signs read before the first instance are of this map
            gone = [identity for identity in gone if identity < FIRST_SIGN]
        for identity in gone:
            self.state.remove(identity)
        if restarted:
            self.counts["source_restarts"] += 1
            self.state.await_claim()
        else:
            self.state.restart_odometry()
        self._retired.add(self.session_id)
        self.map_id, self.session_id, self._expected = map_id, session_id, ""
        self._instance_revision = -1
        return gone

    def claim(self, session_id: str, known: Iterable[int]) -> SceneDelta:
        """Process the complete list of a session's instances; return the delta with the merged entities.

        Entities without an instance must be seen again, see `SceneState.claim`. A list of a session other
        than the current one is ignored.
        """
        with self.lock:
            if session_id != self.session_id:
                return self._publish((), (), ())
            merges: list[Merge] = []
            self.state.claim(known, merges)
            self.state.refresh_neighbors()
            return self._publish(merges, ())

    # ----------------------------------------------------------------- output

    def _publish(
        self, merges: Iterable[Merge], removed: Iterable[int], batch: Iterable[int] | None = None
    ) -> SceneDelta:
        """Return the delta that publishes changes.

        batch: ids of changed entities; None = the next pending ones.
        """
        journal, names = self.state.journal, (self.map_id, self.session_id)
        batch = journal.pending(self.config.max_delta) if batch is None else batch
        return journal.publish(self.state.stamp, batch, self._entity, merges, removed, names)

    def _entity(self, identity: int) -> Entity:
        state = self.state
        covisible = state.covisibility.of(identity, state.stamp)
        found = state.records[identity].entity(covisible, self.map_id, self.session_id)
        stated = state.relations.stated_of(identity, OPERATOR, state.resolve, len(state.forward))
        return replace(found, stated=stated) if stated else found

    def entities(self) -> dict[int, Entity]:
        """Return every entity as last published, archived ones included."""
        with self.lock:
            return dict(self.state.journal.published)

    def __len__(self) -> int:
        return len(self.state.journal.published)

    def flush(self) -> SceneDelta:
        """Return the next batch of unpublished changes; an empty delta if there are none."""
        with self.lock:
            self.state.refresh_neighbors()
            return self._publish((), ())

    def delta_since(
        self,
        revision: int = 0,
        identity: int = ALL,
        size: int = PAGE_SIZE,
        ids: Collection[int] = (),
        include_archived: bool = True,
    ) -> tuple[SceneDelta, Cursor]:
        """Return the next page of the changes after the cursor (revision, identity), and the new cursor.

        The delta's revision is that of the new cursor. When no changes are left, `is_whole` of the new cursor
        is true. If the journal has forgotten some removals after the given cursor, the first page of a
        complete listing is returned instead, with previous_revision 0. ids: only these entities (merged ids
        are resolved); empty = all. include_archived: if False, archived entities are listed as removed.
        """
        with self.lock:
            state = self.state
            wanted = {state.resolve(i) for i in ids}
            names = self.map_id, self.session_id
            since = Cursor(revision, identity)
            return state.journal.page(state.stamp, since, size, wanted, include_archived, names)

    def resolve(self, identity: int) -> int:
        """Return the current id of an entity, after all merges."""
        with self.lock:
            return self.state.resolve(identity)

    def resume(self, state: SceneState, map_id: int, session_id: str) -> None:
        """Continue from the state of a predecessor in the same run.

        The voxel map's session is the same or the next one.
        """
        with self.lock:
            self.state, self.map_id, self.session_id = state, map_id, session_id
            self._expected, self._instance_revision = "", -1
            self.flush()

    def retire(self, session_id: str) -> None:
        """Ignore later deltas of a session of the voxel map, which has ended."""
        with self.lock:
            self._retired = {*self._retired, session_id}

    def replace(self, state: SceneState, map_id: int, session_id: str) -> Callable[[], None]:
        """Replace the state by another, such as a loaded one; return an undo function.

        `flush` returns the deltas of the new state. The voxel map is expected to load the same file
        afterwards; deltas of its session so far are ignored (`retire` names one that was never heard). Its next
        session must have the name `session_id` up to a "+"; its first delta sets the new session name and does
        not clear the scene.
        """
        with self.lock:
            former = {name: getattr(self, name) for name in _LIFETIME}
            self._retired = {*self._retired, self.session_id}
            self.state, self.map_id, self.session_id = state, map_id, session_id
            self._expected, self._instance_revision = base_session(session_id), -1
            was = {identity: self._entity(identity) for identity in state.records}
            self._loaded = SessionScene(was, map_id, session_id)

        def take_back() -> None:
            with self.lock:
                vars(self).update(former)

        return take_back

    # ------------------------------------------------------------------ amendments

    def amend(self, edits: Sequence[EntityEdit], expected_revision: int = 0) -> Amended:
        """Carry out all edits, or none; return the delta with the changed entities, and the inverse edits.

        expected_revision: the request is refused if an entity has changed after it; 0 = no check. Raises
        AmendmentRefused.
        """
        with self.lock:
            state = self.state
            check_edits(state, edits, expected_revision)
            changed, inverse = apply_edits(state, edits)
            names = self.map_id, self.session_id
            delta = state.journal.publish(state.stamp, changed, self._entity, (), (), names)
            for identity in changed:
                if state.records[identity].neighbors_at is None:
                    state.journal.mark(identity)  # its neighbours are not computed yet
            self.counts["amended"] += len(edits)
            return Amended(delta, inverse)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Return the stated relations, oldest first."""
        with self.lock:
            return tuple(self.state.relations)

    # --------------------------------------------------------- regions and links

    def assign_regions(
        self, mask: np.ndarray, origin: tuple[float, float], resolution: float, regions: Iterable
    ) -> tuple[Region, ...]:
        """Assign every entity to its region; return the regions, labelled by their entities.

        mask: (rows, columns) uint16, 0 = none, row 0 has the lowest y. origin: corner of cell (0, 0), map.
        regions: (id, area, centroid, neighbors) each, as returned by grid.regions.
        """
        with self.lock:
            state = self.state
            state.rooms.set_mask(mask, origin, resolution)
            for identity in state.set_regions(list(state.records)):
                state.journal.mark(identity)
            found = labelled_regions(regions, state.records, state.rooms)
            named = state.names.applied(state.rooms, found)
            state.rooms.regions = {region.id: region for region in named}
            return named

    def name_region(self, region: int, point: np.ndarray | None, label: str) -> Region:
        """Store an operator's name for a region and return the region; see `RegionNames.name`.

        Raises BadRegionName.
        """
        with self.lock:
            return self.state.names.name(self.state.rooms, region, point, label)

    @property
    def names_changed(self) -> int:
        """Return how often operators have named regions, which does not change the revision of the scene."""
        return self.state.names.changes

    def find_regions(self, grid: OccupancyGrid2D) -> tuple[np.ndarray, tuple[Region, ...]]:
        """Divide the grid into regions; return the mask (rows, columns) uint16 and the regions.

        Ids of regions are kept across updates and jumps of the map. See `assign_regions`.
        """
        with self.lock:
            tracker, jump, self.state.moved = self.state.tracker, self.state.moved, np.eye(4)
            if self._loaded is not None and not np.allclose(jump, np.eye(4)):
                self._loaded = self._loaded.moved(jump)
            elif self._loaded is not None and self._loaded.grid is None:
                self._loaded = replace(self._loaded, grid=grid)  # the first grid belongs to the loaded map
        tracker.move(jump)
        mask, found = tracker.segment(grid)
        return mask, self.assign_regions(mask, grid.origin, grid.resolution, found)

    def change_floor(self, floor: int, on_floor: OnFloor) -> None:
        """Switch to the rooms of another floor; `find_regions` then divides grids into rooms of that floor.

        on_floor: see `SceneState.change_floor`.
        """
        with self.lock:
            self.state.change_floor(floor, on_floor)

    @property
    def regions(self) -> dict[int, Region]:
        """Return the regions as last assigned."""
        with self.lock:
            return dict(self.state.rooms.regions)

    @property
    def rooms(self) -> RegionMap:
        """Return a copy of the region map as last assigned."""
        with self.lock:
            return copy(self.state.rooms)

    def link_keyframe(self, keyframe: Keyframe) -> None:
        """Link a keyframe to the saved views of the entities that it shows; the next delta has the changes.

        If an instance in the keyframe becomes an entity later, it is linked then.
        """
        with self.lock:
            for identity in keyframe.instances:
                self.state.show(self.state.resolve(identity), keyframe, keyframe.instances[identity])

    @property
    def has_loaded(self) -> bool:
        """Return whether the scene began with a loaded map."""
        return self._loaded is not None

    def changes_since_load(self, most: int, elapsed: float = float("nan")) -> list[ThingChange]:
        """Return the changes since a map was loaded.

        The list is empty if no map was loaded, or if the scene has more than `most` entities. elapsed:
        seconds since the map was saved, nan = unknown.
        """
        with self.lock:
            before, map_id, session = self._loaded, self.map_id, self.session_id
            now = SessionScene(self.entities(), map_id, session, resolve=self.state.resolve)
        if (
            before is None
            or before.map_name != now.map_name
            or max(len(before.entities), len(now.entities)) > most
        ):
            return []
        return changes_between(before, now, elapsed, self._priors)

    # ---------------------------------------------------------------- enrichment

    @property
    def enrichments_waiting(self) -> int:
        """Return the number of entities that wait for a caption."""
        return len(self.state.queue)

    def take_enrichments(self, limit: int) -> list[EnrichmentTask]:
        """Return the next captioning tasks and remove their entities from the queue."""
        with self.lock:
            records = [self.state.records[i] for i in self.state.queue.take(limit)]
            return [EnrichmentTask.of(record) for record in records if record.state != EntityState.ARCHIVED]

    def return_enrichments(self, ids: Sequence[int]) -> None:
        """Put entities whose captioning failed back into the queue; removed entities are ignored."""
        with self.lock:
            for identity in map(self.state.resolve, ids):
                if identity in self.state.records:
                    self.state.queue.add(identity)

    def enrich(self, found: Enrichment) -> None:
        """Store the result of a captioning task; the next delta has the changed entity."""
        with self.lock:
            record = self.state.records.get(self.state.resolve(found.entity_id))
            if record is None:
                return
            before = record.caption, record.embeddings.get(CHANNEL), record.attributes
            if found.caption:
                record.describe(found.label, found.caption, found.attributes)
            if found.vector is not None:
                record.embeddings[CHANNEL] = Embedding(found.model, np.asarray(found.vector, np.float32))
            after = record.caption, record.embeddings.get(CHANNEL), record.attributes
            if before[::2] != after[::2] or not same_embedding(before[1], after[1]):
                self.state.journal.mark(record.instance.id)
