"""Evidence that one instance is two objects that a bad mask once joined."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit

from lodestar.mapping.association import Masks, Match, Split
from lodestar.mapping.config import SplitConfig
from lodestar.mapping.tracks import Tracks
from lodestar.models.kinship import looks_agree, same_kind


class SplitEvidence:
    """Counts per instance the frames in which two masks lie apart on it, less those in which one shows it whole."""

    def __init__(self, config: SplitConfig):
        self._config = config
        self._balance: dict[int, float] = {}

    def look(self, matches: list[Match], masks: Masks, tracks: Tracks) -> list[Split]:
        """Apply a frame's matches; return the splits that are due."""
        shown: dict[int, list[int]] = {}
        for match in matches:
            if match.instance_id:
                shown.setdefault(match.instance_id, []).append(match.mask)
        strangers = {match.mask for match in matches if match.stranger}
        splits = []
        for instance, own in shown.items():
            others = [mask for mask in own if mask in strangers]
            if len(own) == 1:
                self._look_at_one(instance, own[0], masks, tracks)
                continue
            if others:
                (kept, *_), (moved, *_) = (_by_size(m, masks) for m in (set(own) - strangers, others))
                weight = 2.0
            else:
                kept, moved = _by_size(own, masks)[:2]
                if not self._apart(masks, kept, moved):
                    continue
                names = [(masks.detections[m].label, masks.detections[m].caption) for m in (kept, moved)]
                weight = 1.0 if same_kind(names[0][0], names[1][0]) and looks_agree(*names) else 2.0
            balance = self._balance.get(instance, 0.0) + weight
            self._balance[instance] = min(balance, self._config.evidence)
            if balance >= self._config.evidence and (others or self._shows_all(instance, own, masks, tracks)):
                del self._balance[instance]
                splits.append(Split(instance, kept, moved, inside=bool(others)))
        return splits

    def _look_at_one(self, instance: int, mask: int, masks: Masks, tracks: Tracks) -> None:
        """Count a single mask on an instance against two objects, with more weight if it shows all of it."""
        config = self._config
        whole = self._shows_all(instance, [mask], masks, tracks)
        balance = self._balance.get(instance, 0.0) - (1.0 if whole else config.single)
        self._balance[instance] = max(balance, -config.evidence)

    def _shows_all(self, instance: int, own: list[int], masks: Masks, tracks: Tracks) -> bool:
        """Return whether the masks together cover the instance's extent in plan."""
        share, box = self._config.whole, tracks.bounds(instance)
        low, high = masks.samples.low[own].min(axis=0), masks.samples.high[own].max(axis=0)
        return all(high[a] - low[a] >= share * (box[a + 3] - box[a]) for a in (0, 1))

    def forget(self, instance: int) -> None:
        """Drop the evidence of an instance."""
        self._balance.pop(instance, None)

    def _apart(self, masks: Masks, a: int, b: int) -> bool:
        samples, overlap = masks.samples, self._config.overlap
        if (samples.low[a] > samples.high[b]).any() or (samples.low[b] > samples.high[a]).any():
            return True
        points, others = masks.points(a), masks.points(b)
        return bool(_share_inside(points, others) <= overlap and _share_inside(others, points) <= overlap)


def _by_size(masks: Iterable[int], of: Masks) -> list[int]:
    """Return masks by their number of points, the largest first."""
    sizes = np.diff(of.samples.start)
    return sorted(masks, key=lambda mask: (-sizes[mask], mask))


@njit(cache=True, nogil=True)
def _share_inside(points, others):
    """Return the share of points (N, 3) in the box of the middle nine tenths, along each axis, of others (M, 3)."""
    inside = np.ones(len(points), np.bool_)
    for a in range(3):
        low, high = np.percentile(others[:, a], (5, 95))
        for n in range(len(points)):
            inside[n] &= low <= points[n, a] <= high
    return inside.mean()
