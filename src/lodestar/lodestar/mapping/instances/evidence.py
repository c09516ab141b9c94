"""Evidence from successive frames for and against two instances being the same object."""

from __future__ import annotations

import math

import numpy as np

from lodestar.mapping.instances.appearance import AppearanceCalibration
from lodestar.mapping.instances.association import Match
from lodestar.mapping.instances.sights import SightMemory
from lodestar.mapping.instances.tracks import Bounds, Track, Tracks
from lodestar.models.kinship import looks_agree, same_kind

# share of the smaller box in the larger, from which two instances of a kind may be one; chosen
ASSOCIATION_CONTAINED_SHARE = 0.6
ASSOCIATION_MERGE_EVIDENCE = 3  # frames for a merge minus those against it, from which two are merged; chosen
ASSOCIATION_NEAR = 0.5  # metres between boxes of instances that may be one; chosen
# Faces of one object (`FaceEvidence`); all chosen:
ASSOCIATION_FACE_OBSERVATIONS = 2  # least observations of each face
ASSOCIATION_FACE_GROWTH = 1.15  # largest length of both faces together over that of the longer one
ASSOCIATION_FACE_SLACK = 0.1  # metres by which both faces together may be longer still
ASSOCIATION_FACE_HEIGHT = 0.6  # least share of their heights that two faces have in common
ASSOCIATION_FACE_EMPTY = 0.15  # largest share of the space between two faces that was ever seen empty
ASSOCIATION_FACE_HIDDEN = 0.5  # least share of the space between two faces that was hidden in some view
ASSOCIATION_FACE_APART = 0.15  # largest share of the frames that showed two objects

_LEAST = -20  # lowest balance, so that a pair that was long seen as two objects can still be merged


class PairCounts:
    """Integer per unordered pair of instances; `forget` takes time proportional to the affected pairs."""

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
    """Balance per pair of instances: frames that show them as one object, minus frames that show two."""

    def __init__(self, looks: AppearanceCalibration):
        self._looks = looks
        self._balance = PairCounts()

    def look(self, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        """Count which instances a frame shows as one or as two objects; return the pairs to merge, ascending.

        matches: the frame's masks with their instances.
        """
        seen = sorted({m.instance_id for m in matches if m.instance_id in tracks})
        together: set[tuple[int, int]] = set()
        for match in matches:
            group = sorted((set(match.covered) | {match.instance_id}) - {0})
            together |= {(a, b) for k, a in enumerate(group) for b in group[k + 1 :] if alike(tracks, a, b)}
        for a in seen:
            together |= {pair_of(a, b) for b in nested(a, tracks) if b not in seen}
        for pair in together:
            self._balance[pair] += 1
        for k, a in enumerate(seen):
            for b in seen[k + 1 :]:
                if alike(tracks, a, b) and gap(tracks.bounds(a), tracks.bounds(b)) <= ASSOCIATION_NEAR:
                    balance = self._balance[(a, b)] - 1 - ((a, b) in together)
                    self._balance[(a, b)] = max(balance, _LEAST)
        due = sorted(pair for pair in together if self._balance[pair] >= ASSOCIATION_MERGE_EVIDENCE)
        return [(a, b) for a, b in due if not self._looks.differ(tracks[a], tracks[b])]

    def balance(self, a: int, b: int) -> int:
        """Return the number of frames that showed one object, minus those that showed two."""
        return self._balance[pair_of(a, b)]

    def set_apart(self, a: int, b: int) -> None:
        """Set the balance of a pair as if enough frames had shown two objects."""
        self._balance[pair_of(a, b)] = -ASSOCIATION_MERGE_EVIDENCE

    def forget(self, instance: int) -> None:
        """Drop the evidence of pairs with this instance."""
        self._balance.forget(instance)


def nested(identity: int, tracks: Tracks) -> list[int]:
    """Return the ids of instances of the same kind whose boxes largely overlap this one's.

    The intersection must be at least ASSOCIATION_CONTAINED_SHARE of the smaller box.
    """
    own, label, found = tracks.bounds(identity), tracks[identity].label, []
    for i in tracks.around(identity):
        if i == identity or not same_kind(tracks[i].label, label):
            continue
        other = tracks.bounds(i)
        smaller = max(min(volume(own), volume(other)), 1e-9)
        if shared(own, other) >= ASSOCIATION_CONTAINED_SHARE * smaller:
            found.append(i)
    return found


def volume(box: Bounds) -> float:
    """Return the volume of a box in m^3."""
    return (box[3] - box[0]) * (box[4] - box[1]) * (box[5] - box[2])


def shared(a: Bounds, b: Bounds) -> float:
    """Return the volume of the intersection of two boxes in m^3."""
    x, y, z = (min(a[k + 3], b[k + 3]) - max(a[k], b[k]) for k in range(3))
    return x * y * z if x > 0.0 and y > 0.0 and z > 0.0 else 0.0


def gap(a: Bounds, b: Bounds) -> float:
    """Return the distance between two boxes in metres; 0 if they touch."""
    return math.hypot(*(max(a[k] - b[k + 3], b[k] - a[k + 3], 0.0) for k in range(3)))


def alike(tracks: Tracks, a: int, b: int) -> bool:
    """Return whether both instances exist and their labels name the same kind."""
    return a in tracks and b in tracks and same_kind(tracks[a].label, tracks[b].label)


class FaceEvidence:
    """Finds pairs of instances that are two faces of one solid object, seen from different sides.

    They share no voxel. Two instances are faces of one object if their labels are of one kind, their captions
    agree, their joint box is hardly longer than the longer of them, they have most of their height in common,
    hardly any space between them was ever seen empty, and few frames showed them as two objects. Example: a
    bed that was seen from its left and then from its right.
    """

    def __init__(self, looks: AppearanceCalibration):
        self._looks = looks
        self._looked = PairCounts()

    def look(
        self, seen: list[int], tracks: Tracks, sights: SightMemory, merging: MergeEvidence
    ) -> list[tuple[int, int]]:
        """Return pairs of instances that are faces of one object, ascending; each pair has one of the ids in `seen`."""
        found = set()
        for a in seen:
            track = tracks[a]
            if track.observation_count < ASSOCIATION_FACE_OBSERVATIONS:
                continue
            x0, y0, z0, x1, y1, z1 = tracks.bounds(a)
            reach = ASSOCIATION_FACE_GROWTH * max(x1 - x0, y1 - y0, z1 - z0) + ASSOCIATION_FACE_SLACK
            for b in tracks.around(a, reach):
                other, pair = tracks[b], pair_of(a, b)
                if a == b or not same_kind(other.label, track.label):
                    continue
                if other.observation_count < ASSOCIATION_FACE_OBSERVATIONS:
                    continue
                looks = track.observation_count + other.observation_count
                if looks < self._looked[pair] + ASSOCIATION_FACE_OBSERVATIONS:
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
        """Return whether a and b, with boxes `box` and `other`, are faces of one object.

        apart: number of frames that showed two objects, minus those that showed one.
        """
        if not looks_agree((a.label, a.caption), (b.label, b.caption)) or self._looks.differ(a, b):
            return False
        if apart > ASSOCIATION_FACE_APART * min(a.observation_count, b.observation_count):
            return False
        low, high = tuple(map(min, box[:3], other[:3])), tuple(map(max, box[3:], other[3:]))
        longest = max(one[k + 3] - one[k] for one in (box, other) for k in (0, 1))
        length = max(high[0] - low[0], high[1] - low[1])
        if length > ASSOCIATION_FACE_GROWTH * longest + ASSOCIATION_FACE_SLACK:
            return False
        if min(box[5], other[5]) - max(box[2], other[2]) < ASSOCIATION_FACE_HEIGHT * (high[2] - low[2]):
            return False
        points = _between(box, other, np.array(low), np.array(high))
        if not len(points):
            return True
        empty, hidden = sights.empty(points)
        return bool(empty.mean() <= ASSOCIATION_FACE_EMPTY and hidden.mean() >= ASSOCIATION_FACE_HIDDEN)


def _between(a: Bounds, b: Bounds, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return grid points (N, 3) inside the joint bounding box (low, high) but outside both boxes."""
    points = low + _GRID * (high - low)
    off, margin = np.ones(len(points), bool), ASSOCIATION_FACE_SLACK
    for box in (a, b):
        off &= ~((points >= np.array(box[:3]) - margin) & (points <= np.array(box[3:]) + margin)).all(axis=1)
    return points[off]


_AXIS = np.linspace(0.15, 0.85, 6)
_GRID = np.stack(np.meshgrid(_AXIS, _AXIS, [0.3, 0.5, 0.7], indexing="ij"), axis=-1).reshape(-1, 3)
