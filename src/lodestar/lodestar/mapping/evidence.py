"""Evidence from successive frames for and against two instances being the same object."""

from __future__ import annotations

import math

import numpy as np

from lodestar.mapping.appearance import AppearanceCalibration
from lodestar.mapping.association import Match
from lodestar.mapping.config import AssociationConfig
from lodestar.mapping.sights import SightMemory
from lodestar.mapping.tracks import Bounds, Track, Tracks
from lodestar.models.kinship import looks_agree, same_kind

_LEAST = -20  # of a balance, so that a pair long seen as two can still become one


class PairCounts:
    """A number per unordered pair of instances; dropping an instance takes time proportional to its pairs."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int], int] = {}
        self._partners: dict[int, set[int]] = {}

    def __getitem__(self, pair: tuple[int, int]) -> int:
        return self._counts.get(pair, 0)

    def __setitem__(self, pair: tuple[int, int], value: int) -> None:
        self._counts[pair] = value
        for a, b in (pair, pair[::-1]):
            self._partners.setdefault(a, set()).add(b)

    def forget(self, instance: int) -> None:
        """Drop every pair with this instance."""
        for other in self._partners.pop(instance, ()):
            del self._counts[pair_of(instance, other)]
            partners = self._partners.get(other)
            if partners is not None:
                partners.discard(instance)
                if not partners:
                    del self._partners[other]


def pair_of(a: int, b: int) -> tuple[int, int]:
    """Return the key of the unordered pair."""
    return (a, b) if a < b else (b, a)


class MergeEvidence:
    """Counts, per pair of instances, the frames that show one object less those that show two."""

    def __init__(self, config: AssociationConfig, looks: AppearanceCalibration):
        self._config, self._looks = config, looks
        self._balance = PairCounts()

    def look(self, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        """Apply a frame's matches; return the pairs that are now one, ascending."""
        config = self._config
        seen = sorted({m.instance_id for m in matches if m.instance_id in tracks})
        together: set[tuple[int, int]] = set()
        for match in matches:
            group = sorted((set(match.covered) | {match.instance_id}) - {0})
            together |= {(a, b) for k, a in enumerate(group) for b in group[k + 1 :] if alike(tracks, a, b)}
        for a in seen:
            together |= {pair_of(a, b) for b in nested(a, tracks, config.contained_share) if b not in seen}
        for pair in together:
            self._balance[pair] += 1
        for k, a in enumerate(seen):
            for b in seen[k + 1 :]:
                if alike(tracks, a, b) and gap(tracks.bounds(a), tracks.bounds(b)) <= config.near:
                    balance = self._balance[(a, b)] - 1 - ((a, b) in together)
                    self._balance[(a, b)] = max(balance, _LEAST)
        due = sorted(pair for pair in together if self._balance[pair] >= config.merge_evidence)
        return [(a, b) for a, b in due if not self._looks.differ(tracks[a], tracks[b])]

    def balance(self, a: int, b: int) -> int:
        """Return the frames that showed one object less those that showed two."""
        return self._balance[pair_of(a, b)]

    def set_apart(self, a: int, b: int) -> None:
        """Start a pair with the evidence that it is two objects."""
        self._balance[pair_of(a, b)] = -self._config.merge_evidence

    def forget(self, instance: int) -> None:
        """Drop the evidence of pairs with this instance."""
        self._balance.forget(instance)


def nested(identity: int, tracks: Tracks, share: float) -> list[int]:
    """Return ids of instances of the same kind whose boxes share at least `share` of the smaller box with this one."""
    own, label, found = tracks.bounds(identity), tracks[identity].label, []
    for i in tracks.around(identity):
        if i == identity or not same_kind(tracks[i].label, label):
            continue
        other = tracks.bounds(i)
        smaller = max(min(volume(own), volume(other)), 1e-9)
        if shared(own, other) >= share * smaller:
            found.append(i)
    return found


def volume(box: Bounds) -> float:
    """Return the volume of a box in m^3."""
    return (box[3] - box[0]) * (box[4] - box[1]) * (box[5] - box[2])


def shared(a: Bounds, b: Bounds) -> float:
    """Return the volume of two boxes' intersection in m^3."""
    x, y, z = (min(a[k + 3], b[k + 3]) - max(a[k], b[k]) for k in range(3))
    return x * y * z if x > 0.0 and y > 0.0 and z > 0.0 else 0.0


def gap(a: Bounds, b: Bounds) -> float:
    """Return the distance between two boxes in metres; 0 if they touch."""
    return math.hypot(*(max(a[k] - b[k + 3], b[k] - a[k + 3], 0.0) for k in range(3)))


def alike(tracks: Tracks, a: int, b: int) -> bool:
    """Return whether both are known and their labels name the same kind."""
    return a in tracks and b in tracks and same_kind(tracks[a].label, tracks[b].label)


class FaceEvidence:
    """Find faces of one solid object that were seen from different sides and share no voxel.

    Two instances are merged if their labels are of one kind, their captions agree, they are together no longer than the
    longer of them, stand at the same height, nothing between them was ever seen empty, and few frames showed both
    as two. This joins the two sides of a bed that was seen from its left and then from its right.
    """

    def __init__(self, config: AssociationConfig, looks: AppearanceCalibration):
        self._config, self._looks = config, looks
        self._looked = PairCounts()

    def look(
        self, seen: list[int], tracks: Tracks, sights: SightMemory, merging: MergeEvidence
    ) -> list[tuple[int, int]]:
        """Return the pairs of faces of one object that contain an instance seen now, ascending."""
        config = self._config
        found = set()
        for a in seen:
            track = tracks[a]
            if track.observation_count < config.face_observations:
                continue
            x0, y0, z0, x1, y1, z1 = tracks.bounds(a)
            reach = config.face_growth * max(x1 - x0, y1 - y0, z1 - z0) + config.face_slack
            for b in tracks.around(a, reach):
                other, pair = tracks[b], pair_of(a, b)
                if a == b or not same_kind(other.label, track.label):
                    continue
                if other.observation_count < config.face_observations:
                    continue
                looks = track.observation_count + other.observation_count
                if looks < self._looked[pair] + config.face_observations:
                    continue
                self._looked[pair] = looks
                apart = -merging.balance(a, b)
                if self._are_faces(track, other, tracks.bounds(a), tracks.bounds(b), sights, apart):
                    found.add(pair)
        return sorted(found)

    def forget(self, instance: int) -> None:
        """Drop the evidence of pairs with this instance."""
        self._looked.forget(instance)

    def _are_faces(
        self, a: Track, b: Track, box: Bounds, other: Bounds, sights: SightMemory, apart: int
    ) -> bool:
        """Return whether a and b, with their boxes, are faces. apart: frames that showed two less those that showed
        one.
        """
        config = self._config
        if not looks_agree((a.label, a.caption), (b.label, b.caption)) or self._looks.differ(a, b):
            return False
        if apart > config.face_apart * min(a.observation_count, b.observation_count):
            return False
        low, high = tuple(map(min, box[:3], other[:3])), tuple(map(max, box[3:], other[3:]))
        longest = max(one[k + 3] - one[k] for one in (box, other) for k in (0, 1))
        if max(high[0] - low[0], high[1] - low[1]) > config.face_growth * longest + config.face_slack:
            return False
        if min(box[5], other[5]) - max(box[2], other[2]) < config.face_height * (high[2] - low[2]):
            return False
        points = _between(box, other, np.array(low), np.array(high), config.face_slack)
        if not len(points):
            return True
        empty, hidden = sights.empty(points)
        return bool(empty.mean() <= config.face_empty and hidden.mean() >= config.face_hidden)


def _between(a: Bounds, b: Bounds, low: np.ndarray, high: np.ndarray, margin: float) -> np.ndarray:
    """Return grid points (N, 3) in the joint bounding box that lie outside both boxes."""
    points = low + _GRID * (high - low)
    off = np.ones(len(points), bool)
    for box in (a, b):
        off &= ~((points >= np.array(box[:3]) - margin) & (points <= np.array(box[3:]) + margin)).all(axis=1)
    return points[off]


_AXIS = np.linspace(0.15, 0.85, 6)
_GRID = np.stack(np.meshgrid(_AXIS, _AXIS, [0.3, 0.5, 0.7], indexing="ij"), axis=-1).reshape(-1, 3)
