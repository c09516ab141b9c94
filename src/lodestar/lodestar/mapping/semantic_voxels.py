"""Semantic voxel map: instances from segmented, posed depth images."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace

import numpy as np

from lodestar.geometry.corrections import Anchor, jump_between
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse, transform_points
from lodestar.mapping.admission import FrameRejected, RejectReason, check_frame, label_lookup
from lodestar.mapping.closures import bend_map
from lodestar.mapping.config import (
    SAMPLE_NEAR,
    VOXEL_ABSENCE_VOXELS,
    VOXEL_CONFIRM,
    VOXEL_HIT,
    VOXEL_MARGIN,
    VOXEL_MARGIN_PER_METRE,
    VOXEL_OCCUPANCY_TOP,
    VOXEL_PRIOR,
    VOXEL_SIZE,
    VoxelConfig,
)
from lodestar.mapping.follower import ALL, PAGE_SIZE, Cursor, page_of
from lodestar.mapping.instances.association import Masks
from lodestar.mapping.instances.extraction import extract
from lodestar.mapping.instances.instance_factory import to_instance
from lodestar.mapping.instances.mask_fusion import MaskFusion
from lodestar.mapping.instances.pillars import PillarMap, build_pillars
from lodestar.mapping.instances.presence import Looks, View, find_absences, find_misses
from lodestar.mapping.instances.records import Absence, Instance, InstanceDelta, Merge
from lodestar.mapping.instances.refresh import RefreshQueue
from lodestar.mapping.instances.registry import InstanceRegistry
from lodestar.mapping.instances.samples import sample
from lodestar.mapping.instances.segment_filter import clean_segments
from lodestar.mapping.instances.sights import SightMemory
from lodestar.mapping.voxels.blocks import shortage
from lodestar.mapping.voxels.mesh import Mesh, extract_mesh
from lodestar.mapping.voxels.tsdf import TsdfVolume
from lodestar.mapping.voxels.voxel_store import Labelled, VoxelStore
from lodestar.perception.frames import Detection, RgbdFrame, SegmentedFrame
from lodestar.perception.outlines import outlined

# Weights of a frame's vote for "no instance" in a voxel in clear view that no mask covers (ADR 0081)
VOXEL_BACKGROUND_VOTE = 1  # in a voxel of an instance without a mask, which may have been overlooked; chosen
VOXEL_BACKGROUND_EVERY = 3  # frames with segments of which one casts the vote VOXEL_BACKGROUND_VOTE; chosen
VOXEL_OUTSIDE_VOTE = 4  # in a voxel of an instance that has a mask: the detector saw where it ends
VOXEL_MIN_POINTS = 12  # least samples without outliers of a usable mask; chosen
VOXEL_MIN_SCORE = 0.2  # least score of a detection that is used, 0..1; chosen
# absences in a row after which an instance is removed with its remaining voxels; chosen: an object on the floor
# is never seen empty down to its last voxel
VOXEL_CLEAR_LOOKS = 3
VOXEL_REACH = 5000.0  # metres from the origins of `map` and `odom`; poses beyond are rejected; chosen

__all__ = ["FrameRejected", "RejectReason", "SemanticVoxelMap", "VoxelConfig"]


_DEFAULTS = VoxelConfig()

_AT_ONCE = 20_000  # points whose instances are looked up per lock, so that fusion gets its turn


class SemanticVoxelMap:
    """Surfaces, and sparse voxels with a posterior over instance ids. Safe for threads.

    Voxels have their own frame, which equals `map` until a jump of map <- odom; then the whole frame moves
    with the jump. Ids of instances start at 1 and are never reused; merged ids resolve to the winner's.
    """

    def __init__(self, config: VoxelConfig = _DEFAULTS, map_id: int = 1, session_id: str = ""):
        self.config = config
        self.map_id = map_id
        self.session_id = session_id
        self.revision = 0
        self.rejected: Counter = Counter()  # number of rejected frames by RejectReason
        self.repaired: Counter = Counter()  # number of repaired detections by Repair
        self.geometry = TsdfVolume(config.geometry)
        self._store = VoxelStore(VOXEL_SIZE, config.capacity, VOXEL_PRIOR)
        self._registry = InstanceRegistry()
        self._fusion = MaskFusion(config, self._store, self._registry)
        self._sights = SightMemory()
        self._waiting = RefreshQueue()
        self._mark = 0  # number of the newest frame, with segments or without
        self._fused = 0  # number of fused frames with segments
        self._last_fused = -np.inf
        self._last_depth = -np.inf
        self._followed = -np.inf  # stamp of the frame whose map <- odom was last applied
        self._anchor = Anchor()  # pose of the voxel frame
        self._unmeasured = False  # a jump was applied and instances have not been measured since
        self._bends = 0  # number of loop closures that have moved parts of the map
        self._joined: list[Merge] = []  # merges by loop closures since the last segmented frame
        # ids of instances carved by depth without segments and not measured since
        self._thinned: set[int] = set()
        self._fusing = threading.Lock()  # serializes segmented frames; acquired before the map's lock
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ input

    def integrate_depth(self, frame: RgbdFrame) -> None:
        """Integrate depth without semantics: update surfaces, remove voxels that were seen empty.

        Raises FrameRejected.
        """
        with self._lock:
            self._admit(frame, self._last_depth)
            self._last_depth = frame.stamp
            map_from_odom = self._locate(frame)
            voxels_from_camera = inverse(self._anchor.map_from_part) @ map_from_odom @ frame.odom_from_camera
            self._mark += 1
            node = self._node, self._anchor.trajectory.submap
            looks = self._look(frame, voxels_from_camera)
            self._thinned.update(np.flatnonzero(looks.empty >= VOXEL_ABSENCE_VOXELS).tolist())
            if self._unmeasured:
                self.revision += 1
                self._refresh(list(self._registry.tracks))
                self._unmeasured = False
        self.geometry.integrate(frame.depth, frame.camera, voxels_from_camera, frame.rgb, node)

    def fuse(self, frame: RgbdFrame, segmented: SegmentedFrame) -> InstanceDelta:
        """Integrate a segmented frame and return the changes of the instances.

        Raises FrameRejected; the map is then unchanged. The map is locked only while a frame is checked and
        while its result is stored, so that depth can be integrated while masks are converted to points.
        """
        with self._fusing:
            with self._lock:
                lookup = self._admit(frame, self._last_fused, segmented)
                segmented, repairs = clean_segments(segmented)
                self.repaired += repairs
                self._last_fused = frame.stamp
                map_from_odom = self._locate(frame)
                voxels_from_camera = (
                    inverse(self._anchor.map_from_part) @ map_from_odom @ frame.odom_from_camera
                )
                bends = self._bends
            # The pose in the voxel frame stays valid from here on, unless a loop closure moves parts of the map
            # meanwhile.
            labels = np.ascontiguousarray(segmented.labels)
            masks = self._masks(frame, labels, segmented.detections, lookup, voxels_from_camera)
            with self._lock:
                if self._bends != bends and self._anchor.last is not None:
                    map_from_odom = self._anchor.last
                    voxels_from_camera = (
                        inverse(self._anchor.map_from_part) @ map_from_odom @ frame.odom_from_camera
                    )
                    masks = self._masks(frame, labels, segmented.detections, lookup, voxels_from_camera)
                return self._commit(frame, masks, (labels, lookup), voxels_from_camera, map_from_odom)

    def _commit(
        self,
        frame: RgbdFrame,
        masks: Masks,
        labelling: tuple[np.ndarray, np.ndarray],
        voxels_from_camera: np.ndarray,
        map_from_odom: np.ndarray,
    ) -> InstanceDelta:
        """Apply a frame's masks to the map and return the changes.

        labelling: labels (H, W), and the mask of each label value (65536,).
        """
        self._mark += 1
        self._fused += 1
        self.revision += 1
        fusion, registry, alive = self._fusion, self._registry, self._registry.tracks
        matches = fusion.vote(
            frame.stamp, masks, fusion.match(frame.stamp, masks), self._mark, self._node + 1
        )
        unseen = VOXEL_BACKGROUND_VOTE if self._fused % VOXEL_BACKGROUND_EVERY == 0 else 0
        votes = unseen, VOXEL_OUTSIDE_VOTE, VOXEL_HIT, VOXEL_OCCUPANCY_TOP
        looks = self._look(frame, voxels_from_camera, Labelled(*labelling, fusion.outlined(matches), *votes))
        merges, self._joined = [*self._joined, *fusion.merge(masks, matches, self.revision)], []
        seen = {m.mask: registry.resolve(m.instance_id) for m in matches}
        observations = fusion.observe(frame, masks, seen)
        present = set(seen.values())
        # Instances carved by depth between two segmented frames are measured before their absence is tested.
        thinned, gone, faded = self._refresh([i for i in self._thinned if i in alive and i not in present])
        self._thinned.clear()
        absences = find_absences(registry, looks, frame.stamp, present)
        absent = {absence.instance_id for absence in absences}
        view = View(frame.depth, frame.camera, voxels_from_camera)
        far = self.config.samples.far
        misses = find_misses(registry, self._store, looks, view, frame.stamp, present | absent, far)
        self._waiting.add(merge.winner for merge in merges)
        eye = voxels_from_camera[:3, 3]
        batch, forgotten = self._waiting.choose(alive, looks, present, frame.stamp, eye, self.config)
        batch = list(dict.fromkeys([*batch, *(a.instance_id for a in absences)]))
        updated, removed, vanished = self._refresh(
            list(alive) if self._unmeasured else batch, frozenset(forgotten)
        )
        self._unmeasured = False
        measured = {i.id for i in updated}
        updated += [i for i in thinned if i.id not in measured]
        removed, vanished = [*gone, *removed], [*faded, *vanished]
        absences += [Absence(i, frame.stamp, 1.0) for i, looks in vanished for _ in range(looks)]
        returned = fusion.return_moved([i.id for i in updated], self.revision)
        if returned:
            updated += self._refresh([merge.winner for merge in returned])[0]
        return InstanceDelta(
            stamp=frame.stamp,
            revision=self.revision,
            previous_revision=self.revision - 1,
            updated=tuple(i for i in updated if i.id in alive),
            observations=tuple(o for o in observations if o.instance_id in alive),
            merges=(*merges, *returned),
            absences=tuple(absences),
            misses=tuple(m for m in misses if m.instance_id in alive),
            removed=tuple(removed),
            map_from_odom=np.array(map_from_odom, np.float64),
            map_id=self.map_id,
            session_id=self.session_id,
        )

    def restart_clock(self) -> None:
        """Accept frames of any stamp again, after a simulator or a replay was restarted."""
        with self._lock:
            self._last_fused = self._last_depth = self._followed = -np.inf

    def go_on_from(
        self,
        store: VoxelStore,
        geometry: TsdfVolume,
        registry: InstanceRegistry,
        map_from_voxels: np.ndarray,
        revision: int,
    ) -> None:
        """Replace the contents by those of a saved map; see `mapping.persistence`."""
        with self._lock:
            self._store, self.geometry, self._registry = store, geometry, registry
            self._fusion = MaskFusion(self.config, store, registry)
            self._waiting = RefreshQueue()
            self._anchor = Anchor(map_from_voxels)
            self._last_fused = self._last_depth = self._followed = -np.inf
            self.revision = revision

    def resume_odometry(self, map_from_odom: np.ndarray) -> None:
        """Continue in the odometry frame that was in use when the map was saved.

        map_from_odom: (4, 4), the last one applied to the map; the next frame applies a jump since then.
        """
        with self._lock:
            self._anchor.resume(map_from_odom)

    def reserve_ids(self, next_id: int) -> None:
        """Ensure that new instances get ids of at least `next_id`."""
        with self._lock:
            self._registry.next_id = max(self._registry.next_id, next_id)

    @property
    def next_id(self) -> int:
        """Return the id of the next new instance."""
        return self._registry.next_id

    def measure_all(self) -> None:
        """Measure all instances again; the run time grows with the map."""
        with self._lock:
            last, self._last_fused = self._last_fused, np.inf  # no instance counts as just observed
            self._refresh(list(self._registry.tracks))
            self._last_fused = last

    # ----------------------------------------------------------------- output

    def instances(self) -> dict[int, Instance]:
        """Return every instance with voxels, confirmed or not, by id."""
        with self._lock:
            return dict(self._registry.instances)

    @property
    def instance_count(self) -> int:
        """Return the number of instances with voxels."""
        return len(self._registry.instances)

    def resolve(self, instance_id: int) -> int:
        """Return the current id of an instance: the winner's if it was merged, else the same id."""
        with self._lock:
            return self._registry.resolve(instance_id)

    def delta_since(
        self, revision: int = 0, identity: int = ALL, size: int = PAGE_SIZE
    ) -> tuple[InstanceDelta, Cursor]:
        """Return the next page of changes after the cursor (revision, identity), and the cursor at its end.

        The delta's revision is that of the new cursor. When no changes are left, `is_whole` of the new cursor
        is true.
        """
        with self._lock:
            registry = self._registry
            ids, until = page_of(registry.changes(), Cursor(revision, identity), self.revision, size)
            delta = InstanceDelta(
                stamp=self._last_fused if np.isfinite(self._last_fused) else 0.0,
                revision=until.revision,
                previous_revision=revision,
                updated=tuple(registry.instances[i] for i in ids),
                merges=registry.merged_between(revision, until.revision),
                removed=registry.removed_between(revision, until.revision),
                map_from_odom=self._anchor.last if self._anchor.last is not None else np.eye(4),
                map_id=self.map_id,
                session_id=self.session_id,
            )
            return delta, until

    def cloud(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the voxels of confirmed instances: centres (N, 3) float32 in map, metres, and ids (N,) int32."""
        with self._lock:
            store = self._store
            places = store.owned()
            places = places[self._confirmed()[store.owner[places]]]
            centres = (store.coords[places] + 0.5) * VOXEL_SIZE
            rotation, offset = self._anchor.map_from_part[:3, :3], self._anchor.map_from_part[:3, 3]
            return (centres @ rotation.T + offset).astype(np.float32), store.owner[places].copy()

    def surface(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the voxels nearest to surfaces: centres, colours and instance ids.

        Centres: (N, 3) float32 in map, metres. Colours: (N, 3) uint8. Ids: (N,) int32 of the confirmed
        instances there, 0 = none.
        """
        centres, colors = self.geometry.surface()
        ids = np.zeros(len(centres), np.int32)
        for begin in range(0, len(centres), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            with self._lock:
                owners = self._store.owners_near(centres[part])
                ids[part] = np.where(self._confirmed()[owners], owners, 0)
        return transform_points(self._anchor.map_from_part, centres).astype(np.float32), colors, ids

    def mesh(self) -> Mesh:
        """Return the mesh of the surfaces in map."""
        mesh = extract_mesh(self.geometry)
        return replace(mesh, vertices=transform_points(self._anchor.map_from_part, mesh.vertices))

    def instances_at(self, points: np.ndarray) -> np.ndarray:
        """Return (N,) int32: the confirmed instance with a voxel at or next to each point; 0 = none.

        points: (N, 3), metres in map.
        """
        with self._lock:
            owners = self._store.owners_near(transform_points(inverse(self._anchor.map_from_part), points))
            return np.where(self._confirmed()[owners], owners, 0)

    def _confirmed(self) -> np.ndarray:
        """Return (ids,) bool, indexed by id: whether the instance is confirmed."""
        known = np.zeros(self._registry.next_id, bool)
        tracks = self._registry.tracks.values()
        known[[t.id for t in tracks if t.observation_count >= VOXEL_CONFIRM]] = True
        return known

    def pillars(self, resolution: float = 0.1, band: tuple[float, float] | None = None) -> PillarMap:
        """Return the ranked confirmed instances above each cell of a 2-D grid (RoboAtlas eq. 9-11).

        band: lowest and highest z in map, metres, of the voxels that count; None = all.
        """
        points, ids = self.cloud()
        if band is not None:
            within = (points[:, 2] >= band[0]) & (points[:, 2] < band[1])
            points, ids = points[within], ids[within]
        return build_pillars(points, ids, resolution, self.revision)

    @property
    def voxel_count(self) -> int:
        """Return the number of voxels in the map."""
        return self._store.live

    @property
    def voxels_refused(self) -> int:
        """Return the number of voxels dropped since the start because the pool was full."""
        return self._store.refused

    @property
    def shortage(self) -> str:
        """Return a warning with its remedy if there is little or no room for more voxels; "" otherwise."""
        blocks, setting = self.geometry.blocks, "semantic_voxels.voxels.geometry.capacity"
        return self._store.shortage or shortage(
            "blocks of surfaces", blocks.live, blocks.capacity, blocks.refused, setting
        )

    @property
    def features_restarted(self) -> int:
        """Return how often features of another model or dimension replaced those of an instance."""
        return self._fusion.restarted

    # ------------------------------------------------------------------ steps

    def _admit(self, frame: RgbdFrame, last: float, segmented: SegmentedFrame | None = None) -> np.ndarray:
        """Check a frame and return the index of the mask per label value.

        An invalid frame is counted and raises FrameRejected. last: stamp, seconds, after which the frame must
        be.
        """
        try:
            check_frame(frame, last, VOXEL_REACH)
            return label_lookup(frame, segmented) if segmented is not None else np.empty(0, np.int32)
        except FrameRejected as rejection:
            self.rejected[rejection.reason] += 1
            raise

    def _locate(self, frame: RgbdFrame) -> np.ndarray:
        """Apply a jump of map <- odom, and return the map <- odom to use for the frame, (4, 4).

        It is the frame's own, unless depth with a later jump was integrated before; then it is that of the
        jump.
        """
        before, now = self._anchor.last, np.array(frame.map_from_odom, np.float64)
        if frame.stamp < self._followed:
            late = before is not None and jump_between(before, now, frame.odom_from_camera) is not None
            return before if late and before is not None else now
        with self._anchor.correction(now, frame.odom_from_camera, frame.stamp) as correction:
            if correction is not None and not correction.is_rigid:
                self._bend(correction.seen_from(inverse(self._anchor.map_from_part)))
            self._unmeasured |= correction is not None
        self._followed = frame.stamp
        return now

    @property
    def _node(self) -> int:
        """Return the serial number of the trajectory's newest node, -1 before the first."""
        return self._anchor.trajectory.serial

    def _bend(self, correction: MapCorrection) -> None:
        """Move the map with its submaps after a loop closure; merge instances that turn out to be one."""
        self._bends += 1
        pairs = bend_map(
            self._store, self._fusion.surface, self._sights, self.geometry, self._registry.tracks, correction
        )
        self._joined += self._fusion.join(pairs, self.revision + 1)

    def _masks(
        self,
        frame: RgbdFrame,
        labels: np.ndarray,
        detections: tuple[Detection, ...],
        lookup: np.ndarray,
        voxels_from_camera: np.ndarray,
    ) -> Masks:
        """Return the masks with their points in the voxel frame, and which of them are usable."""
        camera = frame.camera
        counts = np.array([d.pixel_count for d in detections], np.float64)
        samples = sample(
            np.ascontiguousarray(frame.depth, np.float32), labels, lookup, counts,
            (camera.fx, camera.fy, camera.cx, camera.cy), voxels_from_camera, self.config.samples.far,
        )  # fmt: skip
        usable = np.diff(samples.start) >= VOXEL_MIN_POINTS
        usable &= np.array([d.score >= VOXEL_MIN_SCORE for d in detections], bool)
        shown = tuple(outlined(d, labels) if use else d for d, use in zip(detections, usable))
        return Masks(samples, usable, shown, self._sights)

    def _look(
        self, frame: RgbdFrame, voxels_from_camera: np.ndarray, labelled: Labelled | None = None
    ) -> Looks:
        """Compare the voxels in view with the depth image, and with mask labels if given; return the counts.

        Voxels seen empty lose occupancy or are removed. The view is stored for `SightMemory`.
        """
        camera = frame.camera
        camera_from_voxels = inverse(voxels_from_camera)
        depth = np.ascontiguousarray(frame.depth, np.float32)
        self._sights.add(depth, camera, camera_from_voxels, self._node)
        return Looks(
            *self._store.look(
                depth, (camera.fx, camera.fy, camera.cx, camera.cy), camera_from_voxels, SAMPLE_NEAR,
                self.config.samples.far, (VOXEL_MARGIN, VOXEL_MARGIN_PER_METRE), self._mark, self._registry.next_id,
                labelled,
            )
        )  # fmt: skip

    def _refresh(
        self, batch: list[int], forgotten: frozenset[int] = frozenset()
    ) -> tuple[list[Instance], list[int], list[tuple[int, int]]]:
        """Measure the instances of the batch; remove disappeared and expired ones.

        Returns the measured instances; the ids of removed unconfirmed instances; and a pair per removed
        confirmed instance: its id, and the number of absences still to be reported for it.
        """
        if not batch:
            return [], [], []
        registry, surface, ids = self._registry, self._fusion.surface, np.array(batch)
        in_map = extract(self._store, surface, ids, self._anchor.map_from_part)
        local = in_map
        if not np.array_equal(self._anchor.map_from_part, np.eye(4)):
            local = extract(self._store, surface, ids, np.eye(4))
        updated: list[Instance] = []
        removed: list[int] = []
        vanished: list[tuple[int, int]] = []
        for row, identity in enumerate(batch):
            track = registry.tracks[identity]
            if in_map.count[row] == 0 or track.absence_count >= VOXEL_CLEAR_LOOKS or identity in forgotten:
                if track.observation_count >= VOXEL_CONFIRM:
                    vanished.append((identity, max(VOXEL_CLEAR_LOOKS - track.absence_count, 0)))
                else:
                    removed.append(identity)
                self._fusion.remove(track, self.revision)
                continue
            registry.tracks.place(track, local.box_min[row], local.box_max[row])
            track.revision = self.revision
            if track.last_seen >= self._last_fused:
                track.size = int(in_map.count[row])
            registry.instances[identity] = to_instance(track, in_map, row, VOXEL_CONFIRM)
            updated.append(registry.instances[identity])
        return updated, removed, vanished
