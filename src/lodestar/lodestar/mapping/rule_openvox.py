"""OpenVox's association rule: posterior mass of an instance in the mask's voxels, and similarity of captions."""

from __future__ import annotations

import numpy as np

from lodestar.mapping.association import Masks, Match, Split
from lodestar.mapping.config import OpenVoxConfig
from lodestar.mapping.tracks import Track, Tracks
from lodestar.mapping.voxel_store import VoxelStore


class OpenVoxRule:
    """Assign each mask on its own to the instance with the best score; instances neither merge nor split."""

    def __init__(self, config: OpenVoxConfig):
        self._config = config

    def associate(self, masks: Masks, store: VoxelStore, tracks: Tracks) -> list[Match]:
        config, matches = self._config, []
        for mask in np.flatnonzero(masks.usable).tolist():
            voxels = masks.samples.voxels[masks.samples.of(mask)]
            detection = masks.detections[mask]
            best, chosen = config.accept, 0
            for identity, mass in posterior_mass(store, np.unique(voxels, axis=0)).items():
                track = tracks.get(identity)
                if track is None:
                    continue
                cosine = max(track.likeness(detection), 0.0)
                score = config.geometric_weight * mass + config.caption_weight * cosine
                if score > best or (score == best and not chosen):
                    best, chosen = score, identity
            matches.append(Match(mask, chosen, best if chosen else 0.0))
        return matches

    def split(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[Split]:
        return []

    def merge(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        return []

    def differ(self, a: Track, b: Track) -> bool:
        return False

    def forget(self, instance: int) -> None:
        pass

    def set_apart(self, a: int, b: int) -> None:
        pass


def posterior_mass(store: VoxelStore, voxels: np.ndarray) -> dict[int, float]:
    """Return by id the mean posterior probability over voxels (N, 3) of each instance in any of them."""
    if not len(voxels):
        return {}
    ids, probability, _ = store.posterior(voxels)
    known = ids > 0
    found, place = np.unique(ids[known], return_inverse=True)
    mass = np.bincount(place, probability[known].astype(np.float64), len(found)) / len(voxels)
    return {int(i): float(m) for i, m in zip(found, mass)}
