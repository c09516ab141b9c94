"""When one instance turns out to be two things that a bad mask once joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.mapping.association import Match
from lodestar.mapping.samples import Samples
from lodestar.perception.frames import Detection


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


@dataclass(frozen=True)
class Split:
    """`moved_mask` shows another thing than `instance_id`, which `kept_mask` still shows."""

    instance_id: int
    kept_mask: int
    moved_mask: int


class SplitEvidence:
    """Counts per instance the frames in which two masks lie on it apart, less those in which one shows it all."""

    def __init__(self, config: SplitConfig):
        self._config = config
        self._balance: dict[int, float] = {}

    def look(
        self, matches: list[Match], samples: Samples, detections: tuple[Detection, ...],
        boxes: dict[int, tuple[np.ndarray, np.ndarray]],
    ) -> list[Split]:  # fmt: skip
        """Take in a frame's matches; returns the splits that are due. boxes: of instances, (3,), (3,)."""
        masks: dict[int, list[int]] = {}
        for match in matches:
            if match.instance_id:
                masks.setdefault(match.instance_id, []).append(match.mask)
        splits = []
        for instance, own in masks.items():
            points = {m: samples.points[samples.of(m)][samples.trusted[samples.of(m)]] for m in own}
            own = sorted(own, key=lambda m: (-len(points[m]), m))
            if len(own) == 1:
                low, high = boxes[instance]
                extent = np.ptp(points[own[0]], axis=0)
                shows_all = (extent[:2] >= self._config.whole * (high - low)[:2]).all()
                change = -1.0 if shows_all else -self._config.single
                self._balance[instance] = max(self._balance.get(instance, 0.0) + change, -self._config.evidence)
                continue
            kept, moved = own[0], own[1]
            if not self._apart(points[kept], points[moved]):
                continue
            differ = detections[kept].caption != detections[moved].caption
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
