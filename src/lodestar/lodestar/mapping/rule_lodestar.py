"""Lodestar's rule of association: voxels and boxes say which, frames one after the other say whether one or two."""

from __future__ import annotations

import numpy as np

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
        config, samples = self._config, masks.samples
        owners = store.owners(samples.voxels)
        in_view = _counts(owners[samples.trusted])
        claims: list[tuple[float, float, int, int]] = []
        covered: dict[int, tuple[int, ...]] = {}
        for mask in np.flatnonzero(masks.usable).tolist():
            part = samples.of(mask)
            counts = _counts(owners[part][samples.trusted[part]])
            counts = {i: n for i, n in counts.items() if i in tracks}
            covered[mask] = tuple(
                i
                for i, n in counts.items()
                if n >= max(config.covered_points, config.covered_share * in_view[i])
            )
            claims += self._claims(mask, masks.points(mask), masks.detections[mask].label, counts, tracks)
        return _settle(claims, covered, config)

    def _claims(
        self, mask: int, points: np.ndarray, label: str, counts: dict[int, int], tracks: Tracks
    ) -> list[tuple[float, float, int, int]]:
        """(score, share of its points in voxels of the instance, mask, instance) of all that would do."""
        config = self._config
        shares = {i: n / len(points) for i, n in counts.items()}
        geometry = dict(shares)
        margin = config.box_margin
        for i in tracks.near(points.min(axis=0) - margin, points.max(axis=0) + margin):
            if tracks[i].agreement(label) < 0.5:
                continue
            low, high = tracks[i].box_min - margin, tracks[i].box_max + margin
            contained = float(((points >= low) & (points <= high)).all(axis=1).mean())
            geometry[i] = max(geometry.get(i, 0.0), config.containment_weight * contained)
        claims = []
        for i, value in geometry.items():
            score = config.geometric_weight * value + config.label_weight * tracks[i].agreement(label)
            if score >= config.accept:
                claims.append((score, shares.get(i, 0.0), mask, i))
        return claims

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


def _counts(owners: np.ndarray) -> dict[int, int]:
    """Points in voxels of each instance."""
    values, counts = np.unique(owners, return_counts=True)
    return {int(v): int(c) for v, c in zip(values, counts) if v > 0}


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
