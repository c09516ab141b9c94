"""Which instance a mask shows, if any that is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from lodestar.geometry.boxes import box_distance, box_intersection, box_volume
from lodestar.mapping.samples import Samples
from lodestar.perception.frames import Detection


@dataclass(frozen=True)
class AssociationConfig:
    """A mask shows an instance where geometric_weight x geometry + label_weight x agreement >= accept.

    Geometry is the share of the mask's points in voxels of the instance or, where the labels agree,
    `containment_weight` times the share within the instance's box grown by `box_margin` metres. A second mask
    of a frame shows the same instance only with at least `second_share` of it in its voxels.
    `covered_share`: of an instance's points in a frame (`covered_points` at least) that lie in one mask, from
    which on the mask covers it; a mask that covers two alike speaks for their being one.
    `contained_share`: of the smaller box inside the larger, from which on two instances of a label may be one.
    merge_evidence: frames that say so, more than say the opposite. near: metres between boxes that may be one.
    """

    accept: float = 0.4
    geometric_weight: float = 0.8
    label_weight: float = 0.2
    containment_weight: float = 0.75
    box_margin: float = 0.05
    second_share: float = 0.5
    covered_share: float = 0.6
    covered_points: int = 8
    contained_share: float = 0.6
    merge_evidence: int = 3
    near: float = 0.5


@dataclass
class Track:
    """What the map keeps of an instance beside its voxels. box_min, box_max: (3,), voxel frame, metres."""

    id: int
    first_seen: float
    last_seen: float
    box_min: np.ndarray
    box_max: np.ndarray
    observation_count: int = 0
    labels: dict[tuple[str, str], float] = field(default_factory=dict)  # (label, caption) -> weight
    shares: dict[str, float] = field(default_factory=dict)  # label -> weight
    label: str = ""  # the one of most weight
    revision: int = 0
    last_absence: float = -np.inf
    absence_count: int = 0  # since it was last observed
    peak: int = 0  # voxels at most so far

    def agreement(self, label: str) -> float:
        """Weight of `label` relative to the strongest label's, [0, 1]."""
        return self.shares.get(label, 0.0) / self.shares[self.label] if self.shares else 0.0

    def take(self, pair: tuple[str, str]) -> float:
        """Remove a label and caption; returns the weight that they had."""
        weight = self.labels.pop(pair)
        self.shares[pair[0]] -= weight
        if self.shares[pair[0]] <= 1e-9:
            del self.shares[pair[0]]
        self.label = min(self.shares, key=lambda name: (-self.shares[name], name))
        return weight

    def vote(self, label: str, caption: str, weight: float, keep: int) -> None:
        """Add weight to a label and caption; only the `keep` strongest pairs are kept."""
        pair = (label, caption)
        self.labels[pair] = self.labels.get(pair, 0.0) + weight
        self.shares[label] = self.shares.get(label, 0.0) + weight
        if len(self.labels) > keep:
            weakest = min(self.labels, key=lambda pair: (self.labels[pair], pair))
            self.shares[weakest[0]] -= self.labels.pop(weakest)
        self.label = min(self.shares, key=lambda name: (-self.shares[name], name))


@dataclass(frozen=True)
class Match:
    """A mask, the instance that it shows (0 = none known), and the instances that it lies on."""

    mask: int
    instance_id: int
    score: float
    covered: tuple[int, ...]


def _counts(owners: np.ndarray) -> dict[int, int]:
    """Points in voxels of each instance."""
    values, counts = np.unique(owners, return_counts=True)
    return {int(v): int(c) for v, c in zip(values, counts) if v > 0}


def _boxed(boxes: tuple[np.ndarray, np.ndarray], points: np.ndarray, margin: float) -> np.ndarray:
    """Rows of the boxes (M, 3), (M, 3) that touch the box of the points."""
    low, high = points.min(0) - margin, points.max(0) + margin
    return np.flatnonzero(((boxes[0] <= high) & (boxes[1] >= low)).all(1))


def associate(
    samples: Samples, owners: np.ndarray, usable: np.ndarray, detections: tuple[Detection, ...],
    tracks: dict[int, Track], config: AssociationConfig,
) -> list[Match]:  # fmt: skip
    """The instance of each usable mask, each given to its best claim.

    owners: (N,) int32, owner of each sample's voxel. usable: (D,) bool.
    """
    ids = list(tracks)
    boxes = (
        np.array([tracks[i].box_min for i in ids]).reshape(-1, 3),
        np.array([tracks[i].box_max for i in ids]).reshape(-1, 3),
    )
    in_view = _counts(owners[samples.trusted])
    claims: list[tuple[float, float, int, int]] = []
    covered: dict[int, tuple[int, ...]] = {}
    for mask in np.flatnonzero(usable).tolist():
        part = samples.of(mask)
        trusted = samples.trusted[part]
        points = samples.points[part][trusted]
        counts = {i: n for i, n in _counts(owners[part][trusted]).items() if i in tracks}
        shares = {i: n / len(points) for i, n in counts.items()}
        covered[mask] = tuple(
            i for i, n in counts.items() if n >= max(config.covered_points, config.covered_share * in_view[i])
        )
        agreements = {i: tracks[i].agreement(detections[mask].label) for i in shares}
        geometry = dict(shares)
        for row in _boxed(boxes, points, config.box_margin):
            track = tracks[ids[row]]
            agreement = agreements.setdefault(track.id, track.agreement(detections[mask].label))
            if agreement < 0.5:
                continue
            low, high = track.box_min - config.box_margin, track.box_max + config.box_margin
            contained = float(((points >= low) & (points <= high)).all(1).mean())
            geometry[track.id] = max(geometry.get(track.id, 0.0), config.containment_weight * contained)
        for i, value in geometry.items():
            score = config.geometric_weight * value + config.label_weight * agreements[i]
            if score >= config.accept:
                claims.append((score, shares.get(i, 0.0), mask, i))
    return _settle(claims, covered, config)


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


class MergeEvidence:
    """Counts, per pair of instances, the frames that show them to be one thing less those that show two."""

    def __init__(self, config: AssociationConfig):
        self._config = config
        self._balance: Counter = Counter()

    def look(self, matches: list[Match], tracks: dict[int, Track]) -> list[tuple[int, int]]:
        """Take in a frame's matches; returns pairs that have become one, (loser, winner)."""
        config = self._config
        seen = sorted({m.instance_id for m in matches if m.instance_id})
        together: set[tuple[int, int]] = set()
        for match in matches:
            group = sorted(set(match.covered) | ({match.instance_id} - {0}))
            together |= {(a, b) for k, a in enumerate(group) for b in group[k + 1 :] if self._alike(tracks, a, b)}
        for a in seen:
            together |= {tuple(sorted((a, b))) for b in self._inside(a, tracks) if b not in seen}  # type: ignore
        for pair in together:
            self._balance[pair] += 1
        for k, a in enumerate(seen):
            for b in seen[k + 1 :]:
                if self._alike(tracks, a, b) and self._near(tracks[a], tracks[b]):
                    self._balance[(a, b)] = max(self._balance[(a, b)] - 1 - ((a, b) in together), -20)
        ready = [pair for pair in together if self._balance[pair] >= config.merge_evidence]
        return [self._order(tracks, pair) for pair in sorted(ready)]

    def set_apart(self, a: int, b: int) -> None:
        """Begin with the knowledge that these are two."""
        self._balance[(min(a, b), max(a, b))] = -self._config.merge_evidence

    def forget(self, instance: int) -> None:
        """Drop what is known of pairs with this instance."""
        for pair in [p for p in self._balance if instance in p]:
            del self._balance[pair]

    def _near(self, a: Track, b: Track) -> bool:
        return bool(box_distance(a.box_min, a.box_max, b.box_min, b.box_max) <= self._config.near)

    @staticmethod
    def _alike(tracks: dict[int, Track], a: int, b: int) -> bool:
        return a in tracks and b in tracks and tracks[a].label == tracks[b].label

    def _inside(self, a: int, tracks: dict[int, Track]) -> list[int]:
        """Instances like `a` whose box and that of `a` lie in one another for the most part."""
        track = tracks[a]
        others = [i for i in tracks if i != a and self._alike(tracks, a, i)]
        if not others:
            return []
        low = np.array([tracks[i].box_min for i in others])
        high = np.array([tracks[i].box_max for i in others])
        smaller = np.minimum(box_volume(low, high), box_volume(track.box_min, track.box_max))
        shared = box_intersection(low, high, track.box_min, track.box_max)
        rows = np.flatnonzero(shared >= self._config.contained_share * np.maximum(smaller, 1e-9))
        return [others[row] for row in rows]

    @staticmethod
    def _order(tracks: dict[int, Track], pair: tuple[int, int]) -> tuple[int, int]:
        """(loser, winner): the one observed more often wins, then the older."""
        a, b = pair
        count_a, count_b = tracks[a].observation_count, tracks[b].observation_count
        return (b, a) if count_a >= count_b else (a, b)
