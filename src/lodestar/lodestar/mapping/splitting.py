"""When one instance turns out to be two things that a bad mask once joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.mapping.association import Masks, Match, Split
from lodestar.mapping.tracks import Tracks


@dataclass(frozen=True)
class SplitConfig:
    """evidence: frames that show two things, more than show one, from which an instance is split; a frame counts

    double where the captions differ. overlap: share of a mask's points in the box of the other, from which on
    the two are not apart. whole: of the extent, from which on one mask shows the whole and speaks against two;
    a mask that shows less speaks against them with the weight `single`.
    """

    evidence: float = 4.0
    overlap: float = 0.25
    whole: float = 0.8
    single: float = 0.25


class SplitEvidence:
    """Counts per instance the frames in which two masks lie on it apart, less those in which one shows it all."""

    def __init__(self, config: SplitConfig):
        self._config = config
        self._balance: dict[int, float] = {}

    def look(self, matches: list[Match], masks: Masks, tracks: Tracks) -> list[Split]:
        """Take in a frame's matches; returns the splits that are due."""
        shown: dict[int, list[int]] = {}
        for match in matches:
            if match.instance_id:
                shown.setdefault(match.instance_id, []).append(match.mask)
        splits = []
        for instance, own in shown.items():
            points = {m: masks.points(m) for m in own}
            own = sorted(own, key=lambda m: (-len(points[m]), m))
            if len(own) == 1:
                track = tracks[instance]
                extent = np.ptp(points[own[0]], axis=0)
                whole = self._config.whole * (track.box_max - track.box_min)
                change = -1.0 if (extent[:2] >= whole[:2]).all() else -self._config.single
                self._balance[instance] = max(
                    self._balance.get(instance, 0.0) + change, -self._config.evidence
                )
                continue
            kept, moved = own[0], own[1]
            if not self._apart(points[kept], points[moved]):
                continue
            differ = masks.detections[kept].caption != masks.detections[moved].caption
            self._balance[instance] = self._balance.get(instance, 0.0) + (2.0 if differ else 1.0)
            if self._balance[instance] >= self._config.evidence:
                del self._balance[instance]
                splits.append(Split(instance, kept, moved))
        return splits

    def forget(self, instance: int) -> None:
        """Drop what is known of an instance."""
        self._balance.pop(instance, None)

    def _apart(self, a: np.ndarray, b: np.ndarray) -> bool:
        def inside(points: np.ndarray, others: np.ndarray) -> float:
            low, high = np.percentile(others, (5, 95), axis=0)
            return float(((points >= low) & (points <= high)).all(axis=1).mean())

        return max(inside(a, b), inside(b, a)) <= self._config.overlap
