"""Semantic voxel map: instances from segmented, posed depth images."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace

import numpy as np

from lodestar.geometry.poses import inverse, transform_points, yaw_of
from lodestar.mapping.admission import FrameRejected, RejectReason, check_frame, label_lookup
from lodestar.mapping.association import Match, MergeEvidence, Track, associate
from lodestar.mapping.extraction import extract
from lodestar.mapping.making import to_instance, to_observation
from lodestar.mapping.meshing import Mesh, extract_mesh
from lodestar.mapping.pillars import PillarMap, build_pillars
from lodestar.mapping.records import Absence, Instance, InstanceDelta, Merge, Observation
from lodestar.mapping.samples import Samples, sample
from lodestar.mapping.splitting import Split, SplitEvidence
from lodestar.mapping.tsdf import TsdfVolume
from lodestar.mapping.voxel_config import VoxelConfig
from lodestar.mapping.voxel_store import VoxelStore
from lodestar.perception.frames import RgbdFrame, SegmentedFrame

__all__ = ["FrameRejected", "RejectReason", "SemanticVoxelMap", "VoxelConfig"]


_DEFAULTS = VoxelConfig()


class SemanticVoxelMap:
    """Surfaces, and sparse voxels with a posterior over instance ids; safe for threads.

    Voxels live in a frame that is `map` until a jump of map <- odom; then the whole frame moves with the jump.
    Ids start at 1, are never used again, and those of merged instances forward for ever.
    """

    def __init__(self, config: VoxelConfig = _DEFAULTS, map_id: int = 1, session_id: str = ""):
        self.config = config
        self.map_id = map_id
        self.session_id = session_id
        self.revision = 0
        self.rejected: Counter = Counter()
        self.geometry = TsdfVolume(config.geometry)
        self._store = VoxelStore(config.voxel, config.capacity, config.prior)
        self._tracks: dict[int, Track] = {}
        self._instances: dict[int, Instance] = {}
        self._forward: dict[int, int] = {}
        self._removed: dict[int, int] = {}  # id -> revision
        self._merged: list[tuple[int, Merge]] = []
        self._evidence = MergeEvidence(config.association)
        self._splits = SplitEvidence(config.splitting)
        self._next_id = 1
        self._mark = 0
        self._turn = 0
        self._last_fused = -np.inf
        self._last_depth = -np.inf
        self._map_from_odom: np.ndarray | None = None
        self._map_from_voxels = np.eye(4)
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ input

    def integrate_depth(self, frame: RgbdFrame) -> None:
        """Take in depth without semantics: surfaces, and what was seen through is carved. Raises FrameRejected."""
        with self._lock:
            self._admit(frame, self._last_depth)
            self._last_depth = frame.stamp
            moved = self._follow_jump(frame.map_from_odom)
            self._mark += 1
            self._carve(frame)
            if moved:
                self.revision += 1
                self._refresh(list(self._tracks))
            voxels_from_camera = inverse(self._map_from_voxels) @ frame.map_from_camera
        self.geometry.integrate(frame.depth, frame.camera, voxels_from_camera, frame.rgb)

    def fuse(self, frame: RgbdFrame, segmented: SegmentedFrame) -> InstanceDelta:
        """Take in a segmented frame and return what changed. Raises FrameRejected, then nothing has."""
        with self._lock:
            lookup = self._admit(frame, self._last_fused, segmented)
            self._last_fused = frame.stamp
            moved = self._follow_jump(frame.map_from_odom)
            self._mark += 1
            self.revision += 1
            samples = self._sample(frame, segmented, lookup)
            matches = self._part(frame.stamp, samples, segmented, self._match(samples, segmented))
            matches = self._vote(frame.stamp, samples, segmented, matches)
            inside, empty, hidden = self._carve(frame)
            merges = self._merge(matches)
            seen = {m.mask: self.resolve(m.instance_id) for m in matches if m.instance_id}
            observations = self._observe(frame, samples, segmented, seen)
            absences = self._absences(frame.stamp, set(seen.values()), inside, empty, hidden)
            batch = list(self._tracks) if moved else self._batch(frame.stamp, set(seen.values()), inside)
            updated, removed = self._refresh(batch)
            alive = self._tracks
            return InstanceDelta(
                stamp=frame.stamp,
                revision=self.revision,
                previous_revision=self.revision - 1,
                updated=tuple(updated),
                observations=tuple(o for o in observations if o.instance_id in alive),
                merges=tuple(merges),
                absences=tuple(a for a in absences if a.instance_id in alive),
                removed=tuple(removed),
                map_from_odom=np.array(frame.map_from_odom, np.float64),
                map_id=self.map_id,
                session_id=self.session_id,
            )

    def restart_clock(self) -> None:
        """Frames of any stamp are taken in again: a simulator or a replay has started anew."""
        with self._lock:
            self._last_fused = self._last_depth = -np.inf

    # ----------------------------------------------------------------- output

    def instances(self) -> dict[int, Instance]:
        """Every instance that has voxels, confirmed or not, by id."""
        with self._lock:
            return dict(self._instances)

    def resolve(self, instance_id: int) -> int:
        """The id that this one goes by now, itself if it was never merged."""
        with self._lock:
            while instance_id in self._forward:
                instance_id = self._forward[instance_id]
            return instance_id

    def delta_since(self, revision: int, page: int = 0, page_size: int = 256) -> tuple[InstanceDelta, int]:
        """One page of what changed after `revision`, and how many pages there are.

        Merges and removals come with the first page. Raises ValueError for a page that does not exist.
        """
        with self._lock:
            size = page_size if page_size > 0 else 256
            changed = [i for i in sorted(self._instances) if self._tracks[i].revision > revision]
            pages = max(1, -(-len(changed) // size))
            if not 0 <= page < pages:
                raise ValueError(f"page {page} of {pages}")
            first = page == 0
            delta = InstanceDelta(
                stamp=self._last_fused if np.isfinite(self._last_fused) else 0.0,
                revision=self.revision,
                previous_revision=revision,
                updated=tuple(self._instances[i] for i in changed[page * size : (page + 1) * size]),
                merges=tuple(m for r, m in self._merged if r > revision) if first else (),
                removed=tuple(i for i, r in self._removed.items() if r > revision) if first else (),
                map_from_odom=self._map_from_odom if self._map_from_odom is not None else np.eye(4),
                map_id=self.map_id,
                session_id=self.session_id,
            )
            return delta, pages

    def cloud(self) -> tuple[np.ndarray, np.ndarray]:
        """Voxels of confirmed instances: centres (N, 3) float32 in map, metres, and instance ids (N,) int32."""
        with self._lock:
            store = self._store
            places = store.owned()
            places = places[self._confirmed()[store.owner[places]]]
            centres = (store.coords[places] + 0.5) * self.config.voxel
            rotation, offset = self._map_from_voxels[:3, :3], self._map_from_voxels[:3, 3]
            return (centres @ rotation.T + offset).astype(np.float32), store.owner[places].copy()

    def mesh(self) -> Mesh:
        """The surfaces in map."""
        mesh = extract_mesh(self.geometry)
        return replace(mesh, vertices=transform_points(self._map_from_voxels, mesh.vertices))

    def instances_at(self, points: np.ndarray) -> np.ndarray:
        """(N,) int32: the confirmed instance whose voxel is at or beside each of points (N, 3) in map; 0 = none."""
        with self._lock:
            owners = self._store.owners_near(transform_points(inverse(self._map_from_voxels), points))
            return np.where(self._confirmed()[owners], owners, 0)

    def _confirmed(self) -> np.ndarray:
        """(ids,) bool."""
        known = np.zeros(self._next_id, bool)
        known[[i for i, t in self._tracks.items() if t.observation_count >= self.config.confirm]] = True
        return known

    def pillars(self, resolution: float = 0.1) -> PillarMap:
        """Ranked confirmed instances per cell of the plan (RoboAtlas eq. 9-11)."""
        points, ids = self.cloud()
        return build_pillars(points, ids, resolution, self.revision)

    @property
    def voxel_count(self) -> int:
        """Voxels in the map."""
        return self._store.live

    @property
    def voxels_refused(self) -> int:
        """Voxels that found no room since the start."""
        return self._store.refused

    # ------------------------------------------------------------------ steps

    def _admit(self, frame: RgbdFrame, last: float, segmented: SegmentedFrame | None = None) -> np.ndarray:
        """Look-up of the label values of a good frame; a bad one is counted and refused."""
        try:
            check_frame(frame, last)
            return label_lookup(frame, segmented) if segmented is not None else np.empty(0, np.int32)
        except FrameRejected as rejection:
            self.rejected[rejection.reason] += 1
            raise

    def _follow_jump(self, map_from_odom: np.ndarray) -> bool:
        """Move the voxel frame when map <- odom has jumped since the last frame; whether it has."""
        before, self._map_from_odom = self._map_from_odom, np.array(map_from_odom, np.float64)
        if before is None:
            return False
        jump = self._map_from_odom @ inverse(before)
        shift = self._map_from_odom[:3, 3] - before[:3, 3]
        turned = abs(np.degrees(yaw_of(jump))) > self.config.jump_deg
        if not turned and np.linalg.norm(shift) <= self.config.jump:
            return False
        self._map_from_voxels = jump @ self._map_from_voxels
        return True

    def _sample(self, frame: RgbdFrame, segmented: SegmentedFrame, lookup: np.ndarray) -> Samples:
        camera = frame.camera
        voxels_from_camera = inverse(self._map_from_voxels) @ frame.map_from_camera
        counts = np.array([d.pixel_count for d in segmented.detections], np.float64)
        return sample(
            np.ascontiguousarray(frame.depth, np.float32), np.ascontiguousarray(segmented.labels), lookup, counts,
            (camera.fx, camera.fy, camera.cx, camera.cy), voxels_from_camera, self.config.voxel,
            self.config.samples,
        )  # fmt: skip

    def _match(self, samples: Samples, segmented: SegmentedFrame) -> list[Match]:
        detections = segmented.detections
        trusted = np.concatenate([[0], np.cumsum(samples.trusted)])
        usable = trusted[samples.start[1:]] - trusted[samples.start[:-1]] >= self.config.min_points
        usable &= np.array([d.score >= self.config.min_score for d in detections], bool)
        owners = self._store.owners(samples.voxels)
        return associate(samples, owners, usable, detections, self._tracks, self.config.association)

    def _part(
        self, stamp: float, samples: Samples, segmented: SegmentedFrame, matches: list[Match]
    ) -> list[Match]:
        """Matches after instances that are two things have been split."""
        boxes = {i: (t.box_min, t.box_max) for i, t in self._tracks.items()}
        renamed = {
            split.moved_mask: self._split(stamp, samples, segmented, split)
            for split in self._splits.look(matches, samples, segmented.detections, boxes)
        }
        return [replace(m, instance_id=renamed.get(m.mask, m.instance_id)) for m in matches]

    def _split(self, stamp: float, samples: Samples, segmented: SegmentedFrame, split: Split) -> int:
        """The moved mask's side of the instance becomes a new one, whose id is returned."""
        store, old = self._store, self._tracks[split.instance_id]
        centres = []
        for mask in (split.kept_mask, split.moved_mask):
            part = samples.of(mask)
            centres.append(samples.points[part][samples.trusted[part]].mean(axis=0)[:2])
        places, _ = store.members(np.array([old.id]))
        voxels = (store.coords[places, :2] + 0.5) * self.config.voxel
        to_kept, to_moved = (np.linalg.norm(voxels - centre, axis=1) for centre in centres)
        points = samples.points[samples.of(split.moved_mask)]
        new = self._start(stamp, points[samples.trusted[samples.of(split.moved_mask)]])
        store.reassign(places[to_moved < to_kept], old.id, new.id)
        old.peak = 0
        kept, moved = (segmented.detections[m] for m in (split.kept_mask, split.moved_mask))
        pair = (moved.label, moved.caption)
        if pair != (kept.label, kept.caption) and pair in old.labels and len(old.labels) > 1:
            new.vote(*pair, old.take(pair), self.config.captions)
        self._evidence.set_apart(old.id, new.id)
        return new.id

    def _start(self, stamp: float, points: np.ndarray) -> Track:
        """A new instance around points (N, 3)."""
        low, high = np.percentile(points, (2, 98), axis=0)
        track = Track(self._next_id, stamp, stamp, low, high)
        self._tracks[track.id] = track
        self._next_id += 1
        return track

    def _vote(
        self, stamp: float, samples: Samples, segmented: SegmentedFrame, matches: list[Match]
    ) -> list[Match]:
        """Voxels vote; masks of nothing known start instances. Returns the matches with the new ids."""
        config, store = self.config, self._store
        voters = np.zeros(len(samples.depth), np.int32)
        result = []
        for match in matches:
            part = samples.of(match.mask)
            trusted = samples.trusted[part]
            identity = match.instance_id
            if identity == 0:
                points = samples.points[part][trusted]
                if len(np.unique(samples.voxels[part][trusted], axis=0)) < config.min_voxels:
                    continue
                identity = self._start(stamp, points).id
            voters[part] = np.where(trusted, identity, 0)
            result.append(Match(match.mask, identity, match.score, match.covered))
        own = voters > 0
        common = config.hit, config.occupancy_top, self._mark
        store.vote(samples.voxels[own], voters[own], config.vote, *common)
        nobody = np.zeros(len(samples.background), np.int32)
        store.vote(samples.background, nobody, config.background_vote, *common)
        return result

    def _carve(self, frame: RgbdFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        config, camera = self.config, frame.camera
        camera_from_voxels = inverse(frame.map_from_camera) @ self._map_from_voxels
        return self._store.carve(
            np.ascontiguousarray(frame.depth, np.float32), (camera.fx, camera.fy, camera.cx, camera.cy),
            camera_from_voxels, config.samples.near, config.samples.far,
            (config.margin, config.margin_per_metre), self._mark, self._next_id,
        )  # fmt: skip

    def _merge(self, matches: list[Match]) -> list[Merge]:
        merges = []
        for loser, winner in self._evidence.look(matches, self._tracks):
            loser, winner = self.resolve(loser), self.resolve(winner)
            if loser == winner:
                continue
            lost, won = self._tracks.pop(loser), self._tracks[winner]
            self._store.rename(loser, winner)
            self._evidence.forget(loser)
            self._splits.forget(loser)
            for (label, caption), weight in lost.labels.items():
                won.vote(label, caption, weight, self.config.captions)
            won.observation_count += lost.observation_count
            won.first_seen = min(won.first_seen, lost.first_seen)
            won.last_seen = max(won.last_seen, lost.last_seen)
            self._forward[loser] = winner
            self._instances.pop(loser, None)
            merge = Merge(loser, winner)
            self._merged.append((self.revision, merge))
            merges.append(merge)
        return merges

    def _observe(
        self, frame: RgbdFrame, samples: Samples, segmented: SegmentedFrame, seen: dict[int, int]
    ) -> list[Observation]:
        """One observation per mask; an instance counts once per frame. seen: mask -> instance id."""
        observations = []
        for mask, identity in seen.items():
            detection, track = segmented.detections[mask], self._tracks[identity]
            part = samples.of(mask)
            distance = float(np.median(samples.depth[part][samples.trusted[part]]))
            if track.last_seen < frame.stamp or track.observation_count == 0:
                track.observation_count += 1
            track.last_seen = frame.stamp
            track.absence_count = 0
            track.vote(detection.label, detection.caption, detection.score, self.config.captions)
            observations.append(to_observation(identity, frame, detection, distance))
        return observations

    def _absences(
        self, stamp: float, seen: set[int], inside: np.ndarray, empty: np.ndarray, hidden: np.ndarray
    ) -> list[Absence]:
        config = self.config
        absences = []
        for identity in np.flatnonzero(empty >= config.absence_voxels):
            track = self._tracks.get(int(identity))
            if track is None or track.id in seen or track.observation_count < config.confirm:
                continue
            known = self._instances.get(track.id)
            unhidden = int(inside[identity] - hidden[identity])
            total = known.voxel_count if known is not None else int(inside[identity])
            if unhidden < config.absence_inside * total or stamp - track.last_absence < config.absence_interval:
                continue
            share = float(empty[identity]) / unhidden
            if share >= config.absence_free:
                track.last_absence = stamp
                track.absence_count += 1
                absences.append(Absence(track.id, stamp, share))
        return absences

    def _batch(self, stamp: float, seen: set[int], inside: np.ndarray) -> list[int]:
        """Recent, in view, and the next of the rest in turn (RoboAtlas eq. 7), `batch` at most."""
        config = self.config
        ids = sorted(self._tracks)
        chosen = dict.fromkeys(sorted(seen & self._tracks.keys()))
        recent = [i for i in ids if stamp - self._tracks[i].last_seen < config.recent and i not in chosen]
        recent.sort(key=lambda i: (-self._tracks[i].last_seen, i))
        visible = [int(i) for i in np.flatnonzero(inside) if int(i) in self._tracks]
        for i in recent + visible:
            chosen.setdefault(i)
        turn = [ids[(self._turn + k) % len(ids)] for k in range(min(config.round_robin, len(ids)))]
        self._turn = (self._turn + config.round_robin) % max(len(ids), 1)
        room = max(config.batch - len(turn), 0)
        for i in turn:
            old = self._tracks[i].observation_count < config.confirm
            if old and stamp - self._tracks[i].last_seen > config.forget:
                self._store.drop(i)
        return list(dict.fromkeys([*list(chosen)[:room], *turn]))

    def _refresh(self, batch: list[int]) -> tuple[list[Instance], list[int]]:
        """Recompute the instances of the batch; those without voxels are removed."""
        if not batch:
            return [], []
        config = self.config
        solid = config.vote * config.solid_votes
        in_map = extract(self._store, np.array(batch), self._map_from_voxels, config.trim, solid)
        local = in_map
        if not np.array_equal(self._map_from_voxels, np.eye(4)):
            local = extract(self._store, np.array(batch), np.eye(4), config.trim, solid)
        updated, removed = [], []
        for row, identity in enumerate(batch):
            track = self._tracks[identity]
            count = int(in_map.count[row])
            track.peak = max(track.peak, count)
            if count == 0 or (track.absence_count >= 3 and count < config.remnant * track.peak):
                removed.append(identity)
                self._store.drop(identity)
                del self._tracks[identity]
                self._instances.pop(identity, None)
                self._evidence.forget(identity)
                self._splits.forget(identity)
                self._removed[identity] = self.revision
                continue
            track.box_min, track.box_max = local.box_min[row], local.box_max[row]
            track.revision = self.revision
            instance = to_instance(track, in_map, row, config.confirm)
            self._instances[identity] = instance
            updated.append(instance)
        return updated, removed
