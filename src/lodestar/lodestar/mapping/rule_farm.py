"""FARM's association rule: similar features, small Hellinger distance, and bridging by union-find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.geometry.gaussians import hellinger_distance
from lodestar.mapping.association import Masks, Match, Split, loser_and_winner
from lodestar.mapping.config import FarmConfig
from lodestar.mapping.tracks import Track, Tracks
from lodestar.mapping.voxel_store import VoxelStore


@dataclass
class _Moments:
    """Running Gaussian: weight, and weighted sums of mean (3,) and of covariance + mean mean^T (3, 3)."""

    weight: float
    first: np.ndarray
    second: np.ndarray

    @property
    def gaussian(self) -> tuple[np.ndarray, np.ndarray]:
        mean = self.first / self.weight
        return mean, self.second / self.weight - np.outer(mean, mean)

    def add(self, other: _Moments) -> None:
        self.weight += other.weight
        self.first = self.first + other.first
        self.second = self.second + other.second


class FarmRule:
    """A mask shows every instance within the budget; a mask with several instances bridges them."""

    def __init__(self, config: FarmConfig):
        self._config = config
        self._moments: dict[int, _Moments] = {}
        self._bridges: list[tuple[int, int]] = []

    def associate(self, masks: Masks, store: VoxelStore, tracks: Tracks) -> list[Match]:
        self._bridges = []
        matches = []
        for mask in np.flatnonzero(masks.usable).tolist():
            found = self._neighbours(masks, mask, tracks)
            self._bridges += [(found[0][1], other) for _, other in found[1:]]
            matches.append(Match(mask, *((found[0][1], 1.0 - found[0][0]) if found else (0, 0.0))))
        return matches

    def _neighbours(self, masks: Masks, mask: int, tracks: Tracks) -> list[tuple[float, int]]:
        """Return (Hellinger distance, id) of the instances that a mask may show, nearest first."""
        config, detection = self._config, masks.detections[mask]
        points = masks.points(mask)
        near = tracks.near(points.min(axis=0) - config.reach, points.max(axis=0) + config.reach)
        alike = [i for i in near if i in self._moments and tracks[i].likeness(detection) >= config.similar]
        if not alike:
            return []
        mean, covariance = _moments(points).gaussian
        known = [self._moments[i].gaussian for i in alike]
        means, covariances = np.array([k[0] for k in known]), np.array([k[1] for k in known])
        distance = hellinger_distance(mean, covariance, means, covariances)
        return sorted((float(d), i) for d, i in zip(distance, alike) if d <= config.budget)

    def split(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[Split]:
        return []

    def merge(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        for match in matches:
            if match.instance_id:
                moments = _moments(masks.points(match.mask))
                if match.instance_id in self._moments:
                    self._moments[match.instance_id].add(moments)
                else:
                    self._moments[match.instance_id] = moments
        merges = []
        root: dict[int, int] = {}
        for a, b in self._bridges:
            a, b = _find(root, a), _find(root, b)
            if a == b or a not in tracks or b not in tracks:
                continue
            loser, winner = loser_and_winner(tracks[a], tracks[b])
            root[loser] = winner
            self._moments[winner].add(self._moments[loser])
            merges.append((loser, winner))
        return merges

    def differ(self, a: Track, b: Track) -> bool:
        cosine = a.cosine(b.appearance, b.appearance_model)
        return cosine is not None and cosine < self._config.similar

    def forget(self, instance: int) -> None:
        self._moments.pop(instance, None)

    def set_apart(self, a: int, b: int) -> None:
        pass


def _find(root: dict[int, int], identity: int) -> int:
    """Return the representative of an id, with path compression."""
    top = identity
    while top in root:
        top = root[top]
    while identity in root:
        root[identity], identity = top, root[identity]
    return top


def _moments(points: np.ndarray) -> _Moments:
    """Return the moments of one detection's points (N, 3)."""
    mean = points.mean(axis=0, dtype=np.float64)
    offset = points - mean
    return _Moments(1.0, mean, offset.T @ offset / len(points) + np.outer(mean, mean))
