"""Lodestar's rule of association: voxels and boxes say which, frames one after the other say whether one or two."""

from __future__ import annotations

import numpy as np
from numba import njit

from lodestar.mapping.association import AssociationConfig, Masks, Match, Split, loser_and_winner
from lodestar.mapping.evidence import FaceEvidence, MergeEvidence
from lodestar.mapping.splitting import SplitConfig, SplitEvidence
from lodestar.mapping.tracks import Tracks
from lodestar.mapping.voxel_store import VoxelStore


class LodestarRule:
    """Each mask is given to its best claim; instances merge and part when enough frames say so."""

    def __init__(self, config: AssociationConfig, splitting: SplitConfig):
        self._config = config
        self._merges = MergeEvidence(config)
        self._faces = FaceEvidence(config)
        self._splits = SplitEvidence(splitting)

    def associate(self, masks: Masks, store: VoxelStore, tracks: Tracks) -> list[Match]:
        config = self._config
        if not masks.usable.any():
            return []
        ids, owned, contained, total = self._count(masks, store, tracks)
        in_view = owned.sum(axis=0)
        needed = np.maximum(config.covered_points, config.covered_share * in_view)
        share = owned / np.maximum(total, 1)[:, None]
        box_share = config.containment_weight * contained / np.maximum(total, 1)[:, None]
        claims: list[tuple[float, float, int, int]] = []
        covered: dict[int, tuple[int, ...]] = {}
        for mask in np.flatnonzero(masks.usable).tolist():
            label = masks.detections[mask].label
            own = owned[mask]
            covered[mask] = tuple(ids[k] for k in np.flatnonzero((own > 0) & (own >= needed)).tolist())
            for k in np.flatnonzero((own > 0) | (contained[mask] > 0)).tolist():
                agreement = tracks[ids[k]].agreement(label)
                value = share[mask, k] if agreement < 0.5 else max(share[mask, k], box_share[mask, k])
                score = config.geometric_weight * value + config.label_weight * agreement
                if score >= config.accept:
                    claims.append((float(score), float(share[mask, k]), mask, ids[k]))
        return _settle(claims, covered, config)

    def _count(
        self, masks: Masks, store: VoxelStore, tracks: Tracks
    ) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray]:
        """Ids (M,) of the instances near what a frame shows, and how many of each mask's trusted points there are

        in voxels of each, (D, M), in the grown box of each, (D, M), and at all, (D,).
        """
        samples, margin = masks.samples, self._config.box_margin
        points = samples.points[samples.trusted]
        ids = tracks.near(points.min(axis=0) - margin, points.max(axis=0) + margin)
        owners = store.owners(samples.voxels)
        ids = sorted(set(ids) | {i for i in np.unique(owners).tolist() if i in tracks})
        boxes = np.array([tracks.bounds(i) for i in ids], np.float64).reshape(-1, 2, 3)
        boxes[:, 0] -= margin
        boxes[:, 1] += margin
        return ids, *_tally(
            samples.start, samples.points, samples.trusted, owners, np.array(ids, np.int64), boxes
        )

    def split(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[Split]:
        return self._splits.look(matches, masks, tracks)

    def merge(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        pairs = self._merges.look(matches, tracks)
        seen = sorted({m.instance_id for m in matches if m.instance_id in tracks})
        pairs += [p for p in self._faces.look(seen, tracks, masks.sights, self._merges) if p not in pairs]
        return [loser_and_winner(tracks[a], tracks[b]) for a, b in pairs]

    def forget(self, instance: int) -> None:
        for evidence in (self._merges, self._faces, self._splits):
            evidence.forget(instance)

    def set_apart(self, a: int, b: int) -> None:
        self._merges.set_apart(a, b)


@njit(cache=True)
def _tally(start, points, trusted, owners, ids, boxes):
    """Points of each mask in voxels of each instance, in its box, and at all; ids ascend."""
    masks = len(start) - 1
    owned = np.zeros((masks, len(ids)), np.int64)
    contained = np.zeros((masks, len(ids)), np.int64)
    total = np.zeros(masks, np.int64)
    near = np.empty(len(ids), np.int64)
    low, high = np.empty(3), np.empty(3)
    for mask in range(masks):
        low[:], high[:] = np.inf, -np.inf
        for n in range(start[mask], start[mask + 1]):
            if trusted[n]:
                total[mask] += 1
                for a in range(3):
                    low[a], high[a] = min(low[a], points[n, a]), max(high[a], points[n, a])
        count = 0
        for k in range(len(ids)):
            if (boxes[k, 0] <= high).all() and (boxes[k, 1] >= low).all():
                near[count] = k
                count += 1
        for n in range(start[mask], start[mask + 1]):
            if not trusted[n]:
                continue
            if owners[n] > 0:
                k = np.searchsorted(ids, owners[n])
                if k < len(ids) and ids[k] == owners[n]:
                    owned[mask, k] += 1
            x, y, z = points[n, 0], points[n, 1], points[n, 2]
            for c in range(count):
                k = near[c]
                contained[mask, k] += (
                    boxes[k, 0, 0] <= x <= boxes[k, 1, 0]
                    and boxes[k, 0, 1] <= y <= boxes[k, 1, 1]
                    and boxes[k, 0, 2] <= z <= boxes[k, 1, 2]
                )
    return owned, contained, total


def _settle(
    claims: list[tuple[float, float, int, int]],
    covered: dict[int, tuple[int, ...]],
    config: AssociationConfig,
) -> list[Match]:
    """Best claims first; a mask shows one instance, an instance several masks only where they lie on it."""
    chosen: dict[int, tuple[int, float]] = {}
    taken: set[int] = set()
    for score, share, mask, instance in sorted(claims, key=lambda c: (-c[0], c[2], c[3])):
        if mask in chosen or (instance in taken and share < config.second_share):
            continue
        chosen[mask] = (instance, score)
        taken.add(instance)
    return [Match(mask, *chosen.get(mask, (0, 0.0)), covered[mask]) for mask in covered]
