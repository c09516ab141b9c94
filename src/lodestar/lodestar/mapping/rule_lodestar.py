"""Lodestar's association rule: voxels and boxes match masks; evidence over frames merges and splits instances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.mapping.appearance import AppearanceCalibration
from lodestar.mapping.association import Masks, Match, Split, loser_and_winner
from lodestar.mapping.config import AssociationConfig, SplitConfig
from lodestar.mapping.evidence import FaceEvidence, MergeEvidence
from lodestar.mapping.split_evidence import SplitEvidence
from lodestar.mapping.tracks import Track, Tracks
from lodestar.mapping.voxel_store import VoxelStore


@dataclass(frozen=True)
class Claim:
    """A mask that may show an instance. share: of its points in the instance's voxels; agrees: of the same kind."""

    mask: int
    instance: int
    score: float
    share: float
    agrees: bool


class LodestarRule:
    """Assign each mask to its best claim; merge and split instances after enough frames with evidence."""

    def __init__(self, config: AssociationConfig, splitting: SplitConfig):
        self._config = config
        self._looks = AppearanceCalibration(config.appearance)
        self._merges = MergeEvidence(config, self._looks)
        self._faces = FaceEvidence(config, self._looks)
        self._splits = SplitEvidence(splitting)

    def associate(self, masks: Masks, store: VoxelStore, tracks: Tracks) -> list[Match]:
        config = self._config
        if not masks.usable.any():
            return []
        ids, owned, contained, close, total = self._count(masks, store, tracks)
        in_view = owned.sum(axis=0)
        needed = np.maximum(config.covered_points, config.covered_share * in_view)
        share = owned / np.maximum(total, 1)[:, None]
        box_share = config.containment_weight * contained / np.maximum(total, 1)[:, None]
        near_share = config.appearance.near * close / np.maximum(total, 1)[:, None]
        claims: list[Claim] = []
        covered: dict[int, tuple[int, ...]] = {}
        for mask in np.flatnonzero(masks.usable).tolist():
            detection = masks.detections[mask]
            own = owned[mask]
            covered[mask] = tuple(ids[k] for k in np.flatnonzero((own > 0) & (own >= needed)).tolist())
            for k in np.flatnonzero((own > 0) | (close[mask] > 0)).tolist():
                agreement = tracks[ids[k]].agreement(detection.label)
                look = self._looks.evidence(tracks[ids[k]], detection)
                value = share[mask, k]
                if agreement >= 0.5:
                    value = max(value, box_share[mask, k], look * near_share[mask, k])
                score = config.geometric_weight * value + config.label_weight * agreement
                if score >= config.accept:
                    score += config.label_weight * look
                    claims.append(Claim(mask, ids[k], float(score), float(share[mask, k]), agreement >= 0.5))
        matches = _settle(claims, covered, config)
        index, certain = {identity: k for k, identity in enumerate(ids)}, config.appearance.certain
        self._looks.learn([
            (masks.detections[m.mask], tracks[m.instance_id])
            for m in matches
            if m.instance_id and share[m.mask, index[m.instance_id]] >= certain
        ])  # fmt: skip
        return matches

    def _count(
        self, masks: Masks, store: VoxelStore, tracks: Tracks
    ) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return ids (M,) of the instances near a frame's masks, and the numbers of each mask's trusted points

        in voxels of each, (D, M), in the grown box of each, (D, M), in reach of it, (D, M), and in total, (D,).
        """
        samples, margin, reach = masks.samples, self._config.box_margin, self._config.appearance.reach
        ids = tracks.near(samples.low.min(axis=0) - reach, samples.high.max(axis=0) + reach)
        owners = store.owners(samples.voxels)
        runs = owners[
            np.flatnonzero(np.diff(owners, prepend=0))
        ]  # adjacent points mostly lie in voxels of one owner
        ids = sorted({*ids, *(i for i in set(runs.tolist()) if i in tracks)})
        boxes = np.array([tracks.bounds(i) for i in ids], np.float64).reshape(-1, 2, 3)
        sides = np.array([-1.0, 1.0])[:, None]
        return ids, *_tally(
            samples.start, samples.points, samples.low, samples.high, owners, np.array(ids, np.int64),
            boxes + margin * sides, boxes + reach * sides,
        )  # fmt: skip

    def split(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[Split]:
        return self._splits.look(matches, masks, tracks)

    def merge(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        pairs = self._merges.look(matches, tracks)
        seen = sorted({m.instance_id for m in matches if m.instance_id in tracks})
        pairs += [p for p in self._faces.look(seen, tracks, masks.sights, self._merges) if p not in pairs]
        return [loser_and_winner(tracks[a], tracks[b]) for a, b in pairs]

    def differ(self, a: Track, b: Track) -> bool:
        return self._looks.differ(a, b)

    def forget(self, instance: int) -> None:
        for evidence in (self._merges, self._faces, self._splits):
            evidence.forget(instance)

    def set_apart(self, a: int, b: int) -> None:
        self._merges.set_apart(a, b)


@njit(cache=True, nogil=True)
def _tally(start, points, low, high, owners, ids, boxes, reaches):
    """Count the points of each mask in voxels of each instance, in two boxes of it, and in total; ids ascend."""
    masks = len(start) - 1
    owned = np.zeros((masks, len(ids)), np.int64)
    contained, close = np.zeros((masks, len(ids)), np.int64), np.zeros((masks, len(ids)), np.int64)
    for mask in range(masks):
        last, place = 0, -1
        for n in range(start[mask], start[mask + 1]):
            if owners[n] != last:
                last = owners[n]
                place = np.searchsorted(ids, last) if last > 0 else -1
                if place >= 0 and (place == len(ids) or ids[place] != last):
                    place = -1
            if place >= 0:
                owned[mask, place] += 1
        for k in range(len(ids)):
            if not ((reaches[k, 0] <= high[mask]).all() and (reaches[k, 1] >= low[mask]).all()):
                continue
            for n in range(start[mask], start[mask + 1]):
                if _is_in(points[n], reaches[k]):
                    close[mask, k] += 1
                    contained[mask, k] += _is_in(points[n], boxes[k])
    return owned, contained, close, np.diff(start)


@njit(cache=True, nogil=True, inline="always")
def _is_in(point, box):
    return (
        box[0, 0] <= point[0] <= box[1, 0] and box[0, 1] <= point[1] <= box[1, 1]
        and box[0, 2] <= point[2] <= box[1, 2]
    )  # fmt: skip


def _settle(
    claims: list[Claim], covered: dict[int, tuple[int, ...]], config: AssociationConfig
) -> list[Match]:
    """Assign claims, best first: one instance per mask; further masks of an instance must lie on its voxels.

    A mask of another kind may show an instance whose label was wrong, or be labelled wrongly itself; but where a mask
    of its own kind shows the instance in the same frame, it is a stranger.
    """
    chosen: dict[int, Claim] = {}
    taken: set[int] = set()
    for claim in sorted(claims, key=lambda c: (-c.score, c.mask, c.instance)):
        if claim.mask in chosen or (claim.instance in taken and claim.share < config.second_share):
            continue
        chosen[claim.mask] = claim
        taken.add(claim.instance)
    shown = {claim.instance for claim in chosen.values() if claim.agrees}
    matches = []
    for mask, instances in covered.items():
        claim = chosen.get(mask, Claim(mask, 0, 0.0, 0.0, agrees=False))
        stranger = claim.instance in shown and not claim.agrees
        matches.append(Match(mask, claim.instance, claim.score, instances, stranger))
    return matches
