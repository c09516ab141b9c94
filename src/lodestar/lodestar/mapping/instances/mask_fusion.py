"""Fusion of one frame's masks: match, split, vote, merge."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from lodestar.mapping.config import (
    VOXEL_CAPTIONS,
    VOXEL_CONFIRM,
    VOXEL_HIT,
    VOXEL_LABEL_VOTES,
    VOXEL_OCCUPANCY_TOP,
    VOXEL_SIZE,
    VOXEL_VOTE,
    VoxelConfig,
)
from lodestar.mapping.instances.association import Masks, Match, Split
from lodestar.mapping.instances.association_rule import AssociationRule
from lodestar.mapping.instances.evidence import nested
from lodestar.mapping.instances.extraction import SurfacePoints
from lodestar.mapping.instances.instance_factory import to_observation
from lodestar.mapping.instances.records import Merge, Observation
from lodestar.mapping.instances.registry import InstanceRegistry
from lodestar.mapping.instances.relocation import find_moved
from lodestar.mapping.instances.samples import distinct
from lodestar.mapping.instances.tracks import Track
from lodestar.mapping.voxels.voxel_store import VoxelStore
from lodestar.perception.frames import RgbdFrame

VOXEL_MIN_VOXELS = 3  # least voxels of a mask that starts an instance; chosen


class MaskFusion:
    """Applies the masks of frames to the instances, their voxels and their surface points. Not safe for
    threads.
    """

    def __init__(self, config: VoxelConfig, store: VoxelStore, registry: InstanceRegistry):
        self.surface = SurfacePoints(config.capacity)
        self._store = store
        self._registry = registry
        self.restarted = 0  # instances whose features were replaced by those of another model or dimension
        self._rule = AssociationRule()

    def match(self, stamp: float, masks: Masks) -> list[Match]:
        """Return the instance that each usable mask shows, 0 = none known.

        Instances that turn out to be two objects are split first.
        """
        tracks = self._registry.tracks
        matches = self._rule.associate(masks, self._store, tracks)
        renamed = {
            split.moved_mask: self._split(stamp, masks, split)
            for split in self._rule.split(masks, matches, tracks)
        }
        return [
            replace(m, instance_id=renamed[m.mask], stranger=False) if m.mask in renamed else m
            for m in matches
        ]

    def _split(self, stamp: float, masks: Masks, split: Split) -> int:
        """Move the voxels of the object under the moved mask to a new instance; return its id."""
        store, old = self._store, self._registry.tracks[split.instance_id]
        new = self._registry.start(stamp, masks.points(split.moved_mask))
        store.reassign(self._moved(masks, split), old.id, new.id)
        kept, moved = (masks.detections[m] for m in (split.kept_mask, split.moved_mask))
        pair = (moved.label, moved.caption)
        if pair != (kept.label, kept.caption) and pair in old.labels and len(old.labels) > 1:
            new.vote(*pair, old.take(pair), VOXEL_CAPTIONS)
        self._rule.set_apart(old.id, new.id)
        return new.id

    def _moved(self, masks: Masks, split: Split) -> np.ndarray:
        """Return the pool indices of the voxels that a split moves to the new instance.

        These are the voxels under a stranger's mask, or the instance's voxels that are nearer to the moved
        mask's centre than to the kept mask's.
        """
        store = self._store
        if split.inside:
            places = store.places(masks.samples.voxels[masks.samples.of(split.moved_mask)])
            return np.unique(places[places >= 0])
        centres = [masks.points(mask).mean(axis=0)[:2] for mask in (split.kept_mask, split.moved_mask)]
        places, _ = store.members(np.array([split.instance_id]))
        voxels = (store.coords[places, :2] + 0.5) * VOXEL_SIZE
        to_kept, to_moved = (np.linalg.norm(voxels - centre, axis=1) for centre in centres)
        return places[to_moved < to_kept]

    def vote(self, stamp: float, masks: Masks, matches: list[Match], mark: int, node: int = 0) -> list[Match]:
        """Add the masks' votes to the voxels and return the matches with the ids of new instances.

        Masks without an instance start new ones. Strangers (masks that show another object than the instance
        below them) do not vote and are left out. mark: number of the frame. node: serial number of the newest
        trajectory node + 1, 0 = unknown.
        """
        store, samples = self._store, masks.samples
        ids = np.zeros(len(masks.detections), np.int32)
        result = []
        for match in matches:
            if match.stranger:
                continue
            identity = match.instance_id
            if identity == 0:
                if not distinct(samples.voxels[samples.of(match.mask)], VOXEL_MIN_VOXELS):
                    continue
                identity = self._registry.start(stamp, masks.points(match.mask)).id
            ids[match.mask] = identity
            result.append(replace(match, instance_id=identity))
        voters = np.repeat(ids, np.diff(samples.start))
        points, voxels, depth = samples.points, samples.voxels, samples.depth
        if not ids.all():
            own = voters > 0
            points, voxels, depth, voters = points[own], voxels[own], depth[own], voters[own]
        places = store.vote(voxels, voters, VOXEL_VOTE, VOXEL_HIT, VOXEL_OCCUPANCY_TOP, mark, node)
        self.surface.add(store, places, points, depth)
        return result

    def outlined(self, matches: list[Match]) -> list[int]:
        """Return the ids of instances whose extent the frame's masks show.

        These are the matched instances, and instances of the same kind whose boxes largely overlap theirs:
        such an instance without a mask of its own is the same object, left behind by a mask that was too
        large, or no object at all.
        """
        tracks = self._registry.tracks
        seen = {m.instance_id for m in matches if m.instance_id in tracks}
        return sorted(seen.union(*(nested(i, tracks) for i in seen)))

    def merge(self, masks: Masks, matches: list[Match], revision: int) -> list[Merge]:
        """Merge the instances that the association rule takes for one object; return the merges."""
        registry, merges = self._registry, []
        for loser, winner in self._rule.merge(masks, matches, registry.tracks):
            loser, winner = registry.resolve(loser), registry.resolve(winner)
            if loser == winner or loser not in registry.tracks or winner not in registry.tracks:
                continue
            merges.append(registry.merge(loser, winner, revision, VOXEL_CAPTIONS))
            self._store.rename(loser, winner)
            self._rule.forget(loser)
        return merges

    def join(self, pairs: list[tuple[int, int]], revision: int) -> list[Merge]:
        """Merge pairs (loser, winner) that a loop closure has shown to be one object; return the merges."""
        registry, merges = self._registry, []
        for loser, winner in pairs:
            merges.append(registry.merge(loser, winner, revision, VOXEL_CAPTIONS))
            self._store.rename(loser, winner)
            self._rule.forget(loser)
        return merges

    def observe(self, frame: RgbdFrame, masks: Masks, seen: dict[int, int]) -> list[Observation]:
        """Update the seen instances and return one observation per mask. seen: mask -> instance id.

        An instance counts once per frame, and its masks share one label vote in proportion to their points.
        """
        observations, tracks = [], self._registry.tracks
        points = dict(zip(seen, np.diff(masks.samples.start)[list(seen)].tolist()))
        shown = Counter[int]()
        for mask, identity in seen.items():
            shown[identity] += points[mask]
        pose = np.array(frame.odom_from_camera, np.float64)
        for mask, identity in seen.items():
            detection, track = masks.detections[mask], tracks[identity]
            distance = float(masks.samples.distance[mask])
            if track.last_seen < frame.stamp or track.observation_count == 0:
                track.observation_count += 1
            tracks.seen(track, frame.stamp)
            track.absence_count = 0
            track.vote(
                detection.label, detection.caption, detection.score * points[mask] / shown[identity],
                VOXEL_CAPTIONS, VOXEL_LABEL_VOTES,
            )  # fmt: skip
            self.restarted += not track.show(detection.feature, detection.feature_model)
            observations.append(to_observation(identity, frame.stamp, pose, detection, distance))
        return observations

    def return_moved(self, candidates: list[int], revision: int) -> list[Merge]:
        """Recognize instances that disappeared and now stand elsewhere; return the merges.

        Each candidate that is such an instance gets its old id.
        """
        registry, merges = self._registry, []
        for gone, newcomer in find_moved(registry, candidates, self._rule.differ):
            self._store.rename(newcomer, gone)
            self._rule.forget(newcomer)
            merges.append(registry.return_as(gone, newcomer, revision, VOXEL_CAPTIONS))
        return merges

    def remove(self, track: Track, revision: int) -> None:
        """Remove an instance with its remaining voxels; a confirmed one may be recognized elsewhere later."""
        self._store.drop(track.id)
        self._rule.forget(track.id)
        if track.observation_count >= VOXEL_CONFIRM:
            self._registry.lose(track.id)
        else:
            self._registry.remove(track.id, revision)
