"""Fusion of one frame's masks: match, split, vote, merge."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from lodestar.mapping.association import Masks, Match, Rule, Split
from lodestar.mapping.config import VoxelConfig
from lodestar.mapping.evidence import nested
from lodestar.mapping.extraction import SurfacePoints
from lodestar.mapping.instance_factory import to_observation
from lodestar.mapping.records import Merge, Observation
from lodestar.mapping.registry import InstanceRegistry
from lodestar.mapping.relocation import find_moved
from lodestar.mapping.rules import make_rule
from lodestar.mapping.samples import distinct
from lodestar.mapping.tracks import Track
from lodestar.mapping.voxel_store import VoxelStore
from lodestar.perception.frames import RgbdFrame


class MaskFusion:
    """Apply masks to registry, voxels and surface points together. Not safe for threads."""

    def __init__(self, config: VoxelConfig, store: VoxelStore, registry: InstanceRegistry):
        self.config = config
        self.surface = SurfacePoints(config.capacity)
        self._store = store
        self._registry = registry
        self.restarted = 0  # instances whose features were replaced by those of another model or dimension
        self._rule: Rule = make_rule(config.association, config.splitting)

    def match(self, stamp: float, masks: Masks) -> list[Match]:
        """Split instances that are two objects; return the instance that each usable mask shows, 0 = none known."""
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
        """Move the moved mask's side of the instance to a new instance; return its id."""
        store, old = self._store, self._registry.tracks[split.instance_id]
        new = self._registry.start(stamp, masks.points(split.moved_mask))
        store.reassign(self._moved(masks, split), old.id, new.id)
        kept, moved = (masks.detections[m] for m in (split.kept_mask, split.moved_mask))
        pair = (moved.label, moved.caption)
        if pair != (kept.label, kept.caption) and pair in old.labels and len(old.labels) > 1:
            new.vote(*pair, old.take(pair), self.config.captions)
        self._rule.set_apart(old.id, new.id)
        return new.id

    def _moved(self, masks: Masks, split: Split) -> np.ndarray:
        """Return the places of the voxels that are the other thing's: those under a stranger's mask, or those of the
        instance that are nearer to the middle of the moved mask than to that of the kept one.
        """
        store = self._store
        if split.inside:
            places = store.places(masks.samples.voxels[masks.samples.of(split.moved_mask)])
            return np.unique(places[places >= 0])
        centres = [masks.points(mask).mean(axis=0)[:2] for mask in (split.kept_mask, split.moved_mask)]
        places, _ = store.members(np.array([split.instance_id]))
        voxels = (store.coords[places, :2] + 0.5) * self.config.voxel
        to_kept, to_moved = (np.linalg.norm(voxels - centre, axis=1) for centre in centres)
        return places[to_moved < to_kept]

    def vote(self, stamp: float, masks: Masks, matches: list[Match], mark: int, node: int = 0) -> list[Match]:
        """Add the masks' votes; unmatched masks start instances. Returns the matches with the new ids, without those of
        strangers, which tell nothing about the instance. node: see `VoxelStore.begun`.
        """
        config, store, samples = self.config, self._store, masks.samples
        ids = np.zeros(len(masks.detections), np.int32)
        result = []
        for match in matches:
            if match.stranger:
                continue
            identity = match.instance_id
            if identity == 0:
                if not distinct(samples.voxels[samples.of(match.mask)], config.min_voxels):
                    continue
                identity = self._registry.start(stamp, masks.points(match.mask)).id
            ids[match.mask] = identity
            result.append(replace(match, instance_id=identity))
        voters = np.repeat(ids, np.diff(samples.start))
        points, voxels, depth = samples.points, samples.voxels, samples.depth
        if not ids.all():
            own = voters > 0
            points, voxels, depth, voters = points[own], voxels[own], depth[own], voters[own]
        places = store.vote(voxels, voters, config.vote, config.hit, config.occupancy_top, mark, node)
        self.surface.add(store, places, points, depth)
        return result

    def outlined(self, matches: list[Match]) -> list[int]:
        """Return the instances that the frame's masks show the end of: those matched, and those nested with one.

        An instance that lies around a matched one of its kind, without a mask of its own, is the same thing with
        voxels of a mask that was too large, or no thing at all.
        """
        tracks, share = self._registry.tracks, self.config.association.contained_share
        seen = {m.instance_id for m in matches if m.instance_id in tracks}
        return sorted(seen.union(*(nested(i, tracks, share) for i in seen)))

    def merge(self, masks: Masks, matches: list[Match], revision: int) -> list[Merge]:
        """Merge the instances that are one object by now."""
        registry, merges = self._registry, []
        for loser, winner in self._rule.merge(masks, matches, registry.tracks):
            loser, winner = registry.resolve(loser), registry.resolve(winner)
            if loser == winner or loser not in registry.tracks or winner not in registry.tracks:
                continue
            merges.append(registry.merge(loser, winner, revision, self.config.captions))
            self._store.rename(loser, winner)
            self._rule.forget(loser)
        return merges

    def join(self, pairs: list[tuple[int, int]], revision: int) -> list[Merge]:
        """Merge pairs (loser, winner) that are one object each, as seen from both sides of a loop closure."""
        registry, merges = self._registry, []
        for loser, winner in pairs:
            merges.append(registry.merge(loser, winner, revision, self.config.captions))
            self._store.rename(loser, winner)
            self._rule.forget(loser)
        return merges

    def observe(self, frame: RgbdFrame, masks: Masks, seen: dict[int, int]) -> list[Observation]:
        """Return one observation per mask; an instance counts once per frame, and its masks share one vote by their
        points. seen: mask -> instance id.
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
            config = self.config
            track.vote(
                detection.label, detection.caption, detection.score * points[mask] / shown[identity],
                config.captions, config.label_votes,
            )  # fmt: skip
            self.restarted += not track.show(detection.feature, detection.feature_model)
            observations.append(to_observation(identity, frame.stamp, pose, detection, distance))
        return observations

    def return_moved(self, candidates: list[int], revision: int) -> list[Merge]:
        """Give candidates that are disappeared instances the ids of those; return the merges."""
        config, registry, merges = self.config, self._registry, []
        for gone, newcomer in find_moved(
            registry, candidates, config.confirm, config.moving, self._rule.differ
        ):
            self._store.rename(newcomer, gone)
            self._rule.forget(newcomer)
            merges.append(registry.return_as(gone, newcomer, revision, config.captions))
        return merges

    def remove(self, track: Track, revision: int) -> None:
        """Remove an instance with its remaining voxels; a confirmed one may return later."""
        self._store.drop(track.id)
        self._rule.forget(track.id)
        if track.observation_count >= self.config.confirm:
            self._registry.lose(track.id)
        else:
            self._registry.remove(track.id, revision)
