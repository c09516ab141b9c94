"""The scene dictionary: one revisioned, queryable record per confirmed thing (RoboAtlas IV-B1, FARM 2.2)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from lodestar.geometry.poses import inverse
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.records import InstanceDelta, Merge, Observation
from lodestar.scene.adjacency import Covisibility, nearest_by_hellinger
from lodestar.scene.config import SceneConfig
from lodestar.scene.life import EntityRecord, archived_twin
from lodestar.scene.records import Embedding, Entity, EntityState, Region, SceneDelta
from lodestar.scene.regions import RegionMap, label_region

__all__ = ["SceneConfig", "SceneDictionary"]

DEFAULT_PAGE = 256
MAX_TOGETHER = 24  # entities of one image whose pairs count as seen together


class SceneDictionary:
    """Entities of confirmed instances; safe for threads.

    An entity has its instance's id. Ids of merged entities forward for ever; archived entities stay.
    """

    def __init__(self, config: SceneConfig | None = None, map_id: int = 1, session_id: str = "") -> None:
        self.config = config = config or SceneConfig()
        self.map_id = map_id
        self.session_id = session_id
        self.revision = 0
        self.counts: Counter[str] = Counter()
        self._lock = threading.RLock()
        self._records: dict[int, EntityRecord] = {}
        self._published: dict[int, Entity] = {}
        self._forward: dict[int, int] = {}
        self._merged: list[tuple[int, Merge]] = []
        self._removed: dict[int, int] = {}
        self._dirty: dict[int, None] = {}  # in the order in which they changed
        self._covisibility = Covisibility(
            config.covisible_gain, config.covisible_half_life, config.max_covisible
        )
        self._instance_revision = -1
        self._stamp = 0.0
        self._map_from_odom: np.ndarray | None = None
        self._rooms = RegionMap(config.region_reach)

    # ------------------------------------------------------------------ input

    def update(self, delta: InstanceDelta) -> SceneDelta:
        """Take in a change of the instances and return what changed here, at most `max_delta` entities.

        What does not fit comes with the next deltas. A delta older than the last one is counted and ignored;
        one of another session or map removes everything first.
        """
        with self._lock:
            previous = self.revision
            merges: list[Merge] = []
            removed: list[int] = []
            if (delta.map_id, delta.session_id) != (self.map_id, self.session_id):
                removed.extend(self._start_over(delta.map_id, delta.session_id))
            if delta.revision < self._instance_revision:
                self.counts["stale_deltas"] += 1
                return self._empty(previous)
            self._instance_revision = delta.revision
            self._stamp = max(self._stamp, delta.stamp)
            self._follow_jump(delta.map_from_odom)
            self._take_instances(delta, merges)
            self._take_merges(delta, merges)
            seen = self._take_observations(delta.observations, delta.map_from_odom)
            self._take_absences(delta, seen)
            self._scan(delta.observations, delta.map_from_odom, seen)
            removed.extend(i for i in (self._remove(loser) for loser in delta.removed) if i)
            self._refresh_neighbors()
            return self._publish(previous, merges, removed)

    def _start_over(self, map_id: int, session_id: str) -> list[int]:
        gone = list(self._records)
        for identity in gone:
            self._remove(identity)
        self.map_id, self.session_id = map_id, session_id
        self._instance_revision = -1
        self._map_from_odom = None
        return gone

    def _follow_jump(self, map_from_odom: np.ndarray) -> None:
        """Where map <- odom jumped, move the views with it; the voxel map moves the instances."""
        known = self._map_from_odom
        if known is None:
            self._map_from_odom = np.array(map_from_odom, float)
            return
        correction = np.asarray(map_from_odom, float) @ inverse(known)
        turned = float(np.arccos(np.clip((np.trace(correction[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
        moved = float(np.linalg.norm(np.asarray(map_from_odom)[:3, 3] - known[:3, 3]))
        if moved > self.config.jump_distance or turned > self.config.jump_angle:
            self.counts["jumps"] += 1
            for identity, record in self._records.items():
                record.move(correction)
                self._dirty[identity] = None
        self._map_from_odom = np.array(map_from_odom, float)

    def _take_instances(self, delta: InstanceDelta, merges: list[Merge]) -> None:
        losers = {merge.loser for merge in delta.merges}
        for instance in delta.updated:
            if not instance.confirmed or instance.id in losers or instance.id in self._forward:
                continue
            record = self._records.get(instance.id)
            if record is None:
                record = EntityRecord.of(instance, self.config)
                self._records[instance.id] = record
                self._removed.pop(instance.id, None)
                self._set_regions([instance.id])
                former = archived_twin(record, self._records, self.config)
                if former is not None:
                    self.counts["restored"] += 1
                    self._merge(former, instance.id, merges)
            else:
                record.update(instance, self.config)
            self._dirty[instance.id] = None

    def _take_merges(self, delta: InstanceDelta, merges: list[Merge]) -> None:
        for merge in delta.merges:
            self._merge(merge.loser, self.resolve(merge.winner), merges)

    def _merge(self, loser: int, winner: int, merges: list[Merge]) -> None:
        if loser == winner or loser in self._forward:
            return
        self._forward[loser] = winner
        record = self._records.pop(loser, None)
        if record is None:
            return
        kept = self._records.get(winner)
        if kept is None:  # the winner is not confirmed yet: what was known lives on under its id
            record.instance = replace(record.instance, id=winner)
            self._records[winner] = record
        else:
            kept.absorb(record, self.config)
        self._covisibility.merge(loser, winner)
        self._published.pop(loser, None)
        self._dirty.pop(loser, None)
        self._dirty[winner] = None
        merges.append(Merge(loser, winner))

    def _take_observations(self, observations: Sequence[Observation], map_from_odom: np.ndarray) -> set[int]:
        seen: set[int] = set()
        for observation in observations:
            identity = self.resolve(observation.instance_id)
            record = self._records.get(identity)
            if record is not None:
                record.observe(observation, map_from_odom, self.config)
                seen.add(identity)
                self._dirty[identity] = None
        together = sorted(seen, key=lambda i: -self._records[i].instance.voxel_count)[:MAX_TOGETHER]
        for a, b in combinations(together, 2):
            gap = np.subtract(self._records[a].instance.centroid, self._records[b].instance.centroid)
            if float(gap @ gap) <= self.config.covisible_distance**2:
                self._covisibility.seen_together(a, b, self._stamp)
        return seen

    def _take_absences(self, delta: InstanceDelta, seen: set[int]) -> None:
        for absence in delta.absences:
            identity = self.resolve(absence.instance_id)
            record = self._records.get(identity)
            if record is None or identity in seen or absence.free_share < self.config.clear_look:
                continue
            if record.state != EntityState.ARCHIVED:
                record.looked_through(self.config)
                self._dirty[identity] = None

    def _scan(self, observations: Sequence[Observation], map_from_odom: np.ndarray, seen: set[int]) -> None:
        """Doubt what was not detected though near, in mid-image and in the camera's own room."""
        if not observations or self._rooms.is_empty:
            return
        map_from_camera = np.asarray(map_from_odom) @ observations[0].odom_from_camera
        position, axis = map_from_camera[:3, 3], map_from_camera[:3, 2]
        room = int(self._rooms.at(position[None])[0])
        if room == 0:
            return
        cosine = float(np.cos(self.config.scan_half_angle))
        for identity, record in self._records.items():
            if identity in seen or record.region_id != room or record.state == EntityState.ARCHIVED:
                continue
            ray = np.asarray(record.instance.centroid, float) - position
            distance = float(np.linalg.norm(ray))
            if distance > self.config.scan_range or float(ray @ axis) < cosine * distance:
                continue
            if record.missed(self._stamp, self.config):
                self._dirty[identity] = None

    def _remove(self, identity: int) -> int:
        if self._records.pop(identity, None) is None:
            return 0
        self._published.pop(identity, None)
        self._dirty.pop(identity, None)
        self._covisibility.remove(identity)
        self._removed[identity] = self.revision + 1
        return identity

    def _refresh_neighbors(self) -> None:
        """Hellinger neighbours of changed entities that are new or moved."""
        stale = [
            i for i in list(self._dirty)[: self.config.max_delta] if self._needs_neighbors(self._records[i])
        ]
        if not stale:
            return
        ids = np.array([i for i, r in self._records.items() if r.state != EntityState.ARCHIVED], np.int64)
        means = np.array([self._records[int(i)].instance.centroid for i in ids], float).reshape(-1, 3)
        covariances = np.array([self._records[int(i)].instance.covariance for i in ids], float).reshape(
            -1, 3, 3
        )
        for identity in stale:
            record = self._records[identity]
            others = ids != identity
            record.neighbors = nearest_by_hellinger(
                np.asarray(record.instance.centroid, float),
                np.asarray(record.instance.covariance, float),
                ids[others], means[others], covariances[others],
                self.config.max_neighbors, self.config.neighbor_radius,
            )  # fmt: skip
            record.neighbors_at = np.array(record.instance.centroid, float)

    def _needs_neighbors(self, record: EntityRecord) -> bool:
        if record.neighbors_at is None or any(n not in self._records for n in record.neighbors):
            return True
        moved = np.linalg.norm(np.asarray(record.instance.centroid) - record.neighbors_at)
        return bool(moved > self.config.neighbor_motion)

    # ----------------------------------------------------------------- output

    def _publish(self, previous: int, merges: list[Merge], removed: list[int]) -> SceneDelta:
        batch = list(self._dirty)[: self.config.max_delta]
        if not (batch or merges or removed):
            return self._empty(previous)
        self.revision += 1
        for identity in batch:
            del self._dirty[identity]
            self._records[identity].revision = self.revision
            self._published[identity] = self._entity(identity)
        self._merged.extend((self.revision, merge) for merge in merges)
        return SceneDelta(
            stamp=self._stamp,
            revision=self.revision,
            previous_revision=previous,
            updated=tuple(self._published[i] for i in batch),
            merges=tuple(merges),
            removed=tuple(dict.fromkeys(removed)),
            map_id=self.map_id,
            session_id=self.session_id,
        )

    def _entity(self, identity: int) -> Entity:
        covisible = self._covisibility.of(identity, self._stamp)
        return self._records[identity].entity(covisible, self.config, self.map_id, self.session_id)

    def _empty(self, previous: int) -> SceneDelta:
        return SceneDelta(
            self._stamp, self.revision, previous, map_id=self.map_id, session_id=self.session_id
        )

    def entities(self) -> dict[int, Entity]:
        """Every entity as last published, archived ones included."""
        with self._lock:
            return dict(self._published)

    def flush(self) -> SceneDelta:
        """The next batch of changes that no delta has carried yet; an empty delta where there are none."""
        with self._lock:
            self._refresh_neighbors()
            return self._publish(self.revision, [], [])

    def delta_since(
        self,
        revision: int,
        page: int = 0,
        page_size: int = DEFAULT_PAGE,
        ids: Collection[int] = (),
        include_archived: bool = True,
    ) -> tuple[SceneDelta, int]:
        """One page of what changed after `revision` (0 = all), and how many pages there are.

        ids: only these (merged ones resolve); empty = all. Merges and removals come with the first page.
        Raises ValueError for a page that does not exist.
        """
        with self._lock:
            wanted = {self.resolve(i) for i in ids}
            changed = [
                i
                for i, entity in sorted(self._published.items())
                if self._records[i].revision > revision
                and (not wanted or i in wanted)
                and (include_archived or entity.state != EntityState.ARCHIVED)
            ]
            size = page_size if page_size > 0 else DEFAULT_PAGE
            pages = max(1, -(-len(changed) // size))
            if not 0 <= page < pages:
                raise ValueError(f"there is no page {page}: there are {pages}")
            first = page == 0
            delta = SceneDelta(
                stamp=self._stamp,
                revision=self.revision,
                previous_revision=revision,
                updated=tuple(self._published[i] for i in changed[page * size : (page + 1) * size]),
                merges=tuple(m for r, m in self._merged if r > revision) if first else (),
                removed=tuple(i for i, r in self._removed.items() if r > revision) if first else (),
                map_id=self.map_id,
                session_id=self.session_id,
            )
            return delta, pages

    def resolve(self, identity: int) -> int:
        """The id under which a thing is known now, after all merges."""
        with self._lock:
            path = []
            while identity in self._forward:
                path.append(identity)
                identity = self._forward[identity]
            for passed in path[:-1]:
                self._forward[passed] = identity
            return identity

    # ---------------------------------------------------- regions, links, vectors

    def assign_regions(
        self, mask: np.ndarray, origin: tuple[float, float], resolution: float, regions: Iterable
    ) -> tuple[Region, ...]:
        """Put every entity into its region and name the regions by what stands in them.

        mask: (rows, columns) uint16, 0 = none, row 0 has the lowest y. origin: corner of cell (0, 0), map.
        regions: (id, area, centroid, neighbors) each, as grid.regions gives them.
        """
        with self._lock:
            self._rooms.set_mask(mask, origin, resolution)
            self._set_regions(list(self._records))
            inside: dict[int, list[Entity]] = {}
            for identity, record in self._records.items():
                published = self._published.get(identity)
                if published is None or published.region_id != record.region_id:
                    self._dirty[identity] = None
                inside.setdefault(record.region_id, []).append(self._entity(identity))
            found = []
            for identity, area, centroid, neighbors in regions:
                label, weight = label_region(inside.get(int(identity), ()))
                found.append(
                    Region(
                        int(identity),
                        label,
                        weight,
                        float(area),
                        np.asarray(centroid, float),
                        tuple(neighbors),
                    )
                )
            self._rooms.regions = {region.id: region for region in found}
            return tuple(found)

    @property
    def regions(self) -> dict[int, Region]:
        """Regions as last assigned."""
        with self._lock:
            return dict(self._rooms.regions)

    def _set_regions(self, ids: list[int]) -> None:
        if not ids or self._rooms.is_empty:
            return
        means = np.array([self._records[i].instance.centroid for i in ids], float)
        for identity, region in zip(ids, self._rooms.at(means)):
            self._records[identity].region_id = int(region)

    def link_keyframe(self, keyframe: Keyframe) -> None:
        """Name the keyframe in views that were taken at its stamp; entities change with the next delta."""
        with self._lock:
            for identity in keyframe.instances:
                record = self._records.get(self.resolve(identity))
                if record is not None and record.link(keyframe.stamp, keyframe.id):
                    self._dirty[record.instance.id] = None

    def captions_without(self, channel: str, limit: int = DEFAULT_PAGE) -> tuple[str, ...]:
        """Captions of entities that have no vector in a channel, each once."""
        with self._lock:
            found: dict[str, None] = {}
            for record in self._records.values():
                if len(found) >= limit:
                    break
                if record.caption and channel not in record.embeddings:
                    found[record.caption] = None
            return tuple(found)

    def set_vectors(self, channel: str, model: str, captions: Sequence[str], vectors: np.ndarray) -> None:
        """Give entities with these captions their vectors (N, D), unit length, in a channel."""
        with self._lock:
            by_caption = dict(zip(captions, np.asarray(vectors, np.float32)))
            for identity, record in self._records.items():
                vector = by_caption.get(record.caption)
                if vector is not None:
                    record.embeddings[channel] = Embedding(model, vector)
                    self._dirty[identity] = None
