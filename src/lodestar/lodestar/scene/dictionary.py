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
from lodestar.mapping.records import InstanceDelta, Merge
from lodestar.perception.signs import SignReading
from lodestar.scene.amendments import Amended, EntityEdit, apply_edits, check_edits
from lodestar.scene.category_priors import CategoryPriors
from lodestar.scene.config import ChangeConfig, SceneConfig
from lodestar.scene.enrichment import CHANNEL, EnrichmentTask
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
from lodestar.timing.stamps import CarriedStamp

__all__ = ["SceneConfig", "SceneDictionary"]

#: What ends together when another scene takes the place of this one.
_LIFETIME = ("state", "map_id", "session_id", "_instance_revision", "_retired", "_expected", "_loaded")


class SceneDictionary:
    """Entities of confirmed instances; safe for threads.

    An entity has its instance's id. Ids of merged entities forward for ever; archived entities are kept, except the
    oldest beyond `max_archived`.
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
        self._priors = priors or CategoryPriors()  # of what moves since a map was saved
        self.lock = threading.RLock()
        self.state = SceneState(config)  # access requires the lock
        self._instance_revision = -1
        self._clock = CarriedStamp()  # of the instances' stamps
        self._retired: set[str] = set()  # sessions of the voxel map that have ended
        self._expected = ""  # first part of the name of the session that continues a loaded map
        self._loaded: SessionScene | None = None  # as it was when it was loaded

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

        Further entities follow in the next deltas. A delta older than the last one, or of a session that has already
        ended, is counted and ignored; a delta of another map removes everything first. A new session of the same map
        removes nothing: see `_start_over`.
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
        """Take what was read in one image; return the signs that views agree on, as entities."""
        with self.lock:
            merges: list[Merge] = []
            self.state.stamp = max(self.state.stamp, reading.stamp)
            self.state.take_signs(reading, merges)
            self.state.refresh_neighbors()
            return self._publish(merges, ())

    def expire_movers(self, stamp: float | None = None) -> SceneDelta:
        """Return the end of people and animals whose life is over at `stamp`; None = now, by the deltas' clock."""
        with self.lock:
            now = self._clock.now if stamp is None else stamp
            return self._publish((), self.state.expire_movers(now), ())

    def _start_over(self, map_id: int, session_id: str) -> list[int]:
        """Follow the voxel map into another session; return the entities that ended with the old one.

        Sessions of one map share the name up to a "+". A new one begins after a load, or because the voxel map's
        process was restarted: then the voxel map may know less than before, and no entity is removed.
        """
        base = session_id.split("+")[0]
        same_map = bool(base) and map_id == self.map_id
        loaded = same_map and base == self._expected
        restarted = same_map and not loaded and base == self.session_id.split("+")[0]
        gone = [] if loaded or restarted else list(self.state.records)
        if self.session_id:
            self.state.signs.clear()
        else:  # what was read before the first instance came is of this map
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
        """Take the complete list of a session's instances and return the entities that were merged.

        Entities without an instance must be seen again, see `SceneState.claim`. A list of a session other than the
        current one is ignored.
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
        """Return a delta. batch: of entities that have changed; None = the next that wait."""
        journal, names = self.state.journal, (self.map_id, self.session_id)
        batch = journal.pending(self.config.max_delta) if batch is None else batch
        return journal.publish(self.state.stamp, batch, self._entity, merges, removed, names)

    def _entity(self, identity: int) -> Entity:
        state = self.state
        covisible = state.covisibility.of(identity, state.stamp)
        found = state.records[identity].entity(covisible, self.config, self.map_id, self.session_id)
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
        """Return the next page of the changes after the cursor (revision, identity), and the cursor behind it.

        The delta's revision is that of the cursor behind it; at the end of all changes that cursor is whole. Where the
        removals after the cursor are not all known any more, it is the first page of everything: previous_revision 0.
        ids: only these (merged ones resolve); empty = all. include_archived: if not, archived entities count as
        removed.
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
        """Continue from a predecessor's state of the same run; the voxel map's session is the same or the next one."""
        with self.lock:
            self.state, self.map_id, self.session_id = state, map_id, session_id
            self._expected, self._instance_revision = "", -1
            self.flush()

    def replace(self, state: SceneState, map_id: int, session_id: str) -> Callable[[], None]:
        """Continue from another state, such as a loaded one; return what takes that back. `flush` gives its deltas.

        The voxel map loads the same file afterwards; deltas of its session before that are ignored. Its next session
        must have the name `session_id` up to a "+": its first delta changes the name and does not clear the scene.
        """
        with self.lock:
            former = {name: getattr(self, name) for name in _LIFETIME}
            self._retired = {*self._retired, self.session_id}
            self.state, self.map_id, self.session_id = state, map_id, session_id
            self._expected, self._instance_revision = session_id.split("+")[0], -1
            was = {identity: self._entity(identity) for identity in state.records}
            self._loaded = SessionScene(was, map_id, session_id)

        def take_back() -> None:
            with self.lock:
                vars(self).update(former)

        return take_back

    # ------------------------------------------------------------------ amendments

    def amend(self, edits: Sequence[EntityEdit], expected_revision: int = 0) -> Amended:
        """Carry out all edits, or none; return the delta with the changed entities, and what takes the edits back.

        expected_revision: no amended entity may have changed after it; 0 = does not matter. Raises AmendmentRefused.
        """
        with self.lock:
            state = self.state
            check_edits(state, edits, expected_revision)
            changed, inverse = apply_edits(state, edits)
            names = self.map_id, self.session_id
            delta = state.journal.publish(state.stamp, changed, self._entity, (), (), names)
            for identity in changed:
                if state.records[identity].neighbors_at is None:
                    state.journal.mark(identity)  # its neighbours are not known yet
            self.counts["amended"] += len(edits)
            return Amended(delta, inverse)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Return the relations that were stated, the oldest first."""
        with self.lock:
            return tuple(self.state.relations)

    # --------------------------------------------------------- regions and links

    def assign_regions(
        self, mask: np.ndarray, origin: tuple[float, float], resolution: float, regions: Iterable
    ) -> tuple[Region, ...]:
        """Assign every entity to its region and label the regions by their entities.

        mask: (rows, columns) uint16, 0 = none, row 0 has the lowest y. origin: corner of cell (0, 0), map.
        regions: (id, area, centroid, neighbors) each, as grid.regions gives them.
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
        """Return the region as an operator calls it from now on; see `RegionNames.name`. Raises BadRegionName."""
        with self.lock:
            return self.state.names.name(self.state.rooms, region, point, label)

    @property
    def names_changed(self) -> int:
        """Return how often an operator has named a region; the revision does not count it."""
        return self.state.names.changes

    def find_regions(self, grid: OccupancyGrid2D) -> tuple[np.ndarray, tuple[Region, ...]]:
        """Return the mask (rows, columns) uint16 and the regions of the grid; ids continue across updates and jumps.

        See `assign_regions`.
        """
        with self.lock:
            tracker, jump, self.state.moved = self.state.tracker, self.state.moved, np.eye(4)
            if self._loaded is not None and not np.allclose(jump, np.eye(4)):
                self._loaded = self._loaded.moved(jump)
            elif self._loaded is not None and self._loaded.grid is None:
                self._loaded = replace(self._loaded, grid=grid)  # the first one is that of the loaded map
        tracker.move(jump)
        mask, found = tracker.segment(grid)
        return mask, self.assign_regions(mask, grid.origin, grid.resolution, found)

    def change_floor(self, floor: int, on_floor: OnFloor) -> None:
        """Divide grids into the rooms of this floor from now on; see `SceneState.change_floor`."""
        with self.lock:
            self.state.change_floor(floor, on_floor)

    @property
    def regions(self) -> dict[int, Region]:
        """Return the regions as last assigned."""
        with self.lock:
            return dict(self.state.rooms.regions)

    @property
    def rooms(self) -> RegionMap:
        """Return a copy of the map from places to regions, as last assigned."""
        with self.lock:
            return copy(self.state.rooms)

    def link_keyframe(self, keyframe: Keyframe) -> None:
        """Link the keyframe to the views that it also shows, present and future; the next delta has the changes."""
        with self.lock:
            for identity in keyframe.instances:
                self.state.show(self.state.resolve(identity), keyframe, keyframe.instances[identity])

    @property
    def has_loaded(self) -> bool:
        """Return whether the scene began with that of a map that was loaded."""
        return self._loaded is not None

    def changes_since_load(self, most: int, elapsed: float = float("nan")) -> list[ThingChange]:
        """Return what has changed since a map was loaded; nothing without one, or beyond `most` entities.

        elapsed: seconds between its saving and now, nan = unknown.
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
        return changes_between(before, now, elapsed, self._priors, ChangeConfig())

    # ---------------------------------------------------------------- enrichment

    @property
    def enrichments_waiting(self) -> int:
        """Return the number of entities in the queue."""
        return len(self.state.queue)

    def take_enrichments(self, limit: int) -> list[EnrichmentTask]:
        """Return the next tasks and remove their entities from the queue."""
        with self.lock:
            records = [self.state.records[i] for i in self.state.queue.take(limit)]
            return [EnrichmentTask.of(record) for record in records if record.state != EntityState.ARCHIVED]

    def return_enrichments(self, ids: Sequence[int]) -> None:
        """Queue entities again whose enrichment failed; removed entities are ignored."""
        with self.lock:
            for identity in map(self.state.resolve, ids):
                if identity in self.state.records:
                    self.state.queue.add(identity)

    def enrich(
        self,
        identity: int,
        label: str,
        caption: str,
        model: str,
        vector: np.ndarray | None,
        attributes: tuple[str, ...] = (),
    ) -> None:
        """Store the result of a task; the next delta has the changed entity.

        label: the task's label. caption: "" keeps the voted one. vector: (D,) of channel "caption".
        attributes: those that a captioner found in addition to the words of the caption.
        """
        with self.lock:
            record = self.state.records.get(self.state.resolve(identity))
            if record is None:
                return
            before = record.caption, record.embeddings.get(CHANNEL), record.attributes
            if caption:
                record.describe(label, caption, attributes, self.config)
            if vector is not None:
                record.embeddings[CHANNEL] = Embedding(model, np.asarray(vector, np.float32))
            after = record.caption, record.embeddings.get(CHANNEL), record.attributes
            if before[::2] != after[::2] or not same_embedding(before[1], after[1]):
                self.state.journal.mark(record.instance.id)
