"""Mutable state of each instance (track): votes, history, box; look-ups by place, by age and round robin."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lodestar.models.kinship import kind_of, same_kind
from lodestar.perception.frames import Detection

_CELL = 1.0  # m, cell of the spatial index
Bounds = tuple[float, float, float, float, float, float]  # low x, y, z, high x, y, z


@dataclass
class Track:
    """Mutable state of an instance: votes, history and box.

    box_min, box_max: (3,) metres, voxel frame, set by `Tracks.place`.
    """

    id: int
    first_seen: float
    last_seen: float
    box_min: np.ndarray
    box_max: np.ndarray
    observation_count: int = 0
    labels: dict[tuple[str, str], float] = field(default_factory=dict)  # (label, caption) -> weight
    shares: dict[str, float] = field(default_factory=dict)  # label -> weight
    label: str = ""  # heaviest label in the heaviest group of synonyms
    appearance: np.ndarray | None = None  # (D,) sum of unit features of its detections
    appearance_model: str = ""  # model of the features
    revision: int = 0
    last_absence: float = -np.inf
    absence_count: int = 0  # clear views through its place since it was last observed
    last_miss: float = -np.inf  # stamp of the frame in which it was last tested for a miss
    size: int = 0  # number of voxels when it was last observed
    _caption: str | None = None  # cached caption; None after a new vote

    @property
    def caption(self) -> str:
        """Return the heaviest caption among the instance's label and its synonyms."""
        if self._caption is None:
            kind = kind_of(self.label)
            own = [
                (weight, caption)
                for (label, caption), weight in self.labels.items()
                if kind_of(label) == kind
            ]
            self._caption = min(own, key=lambda item: (-item[0], item[1]))[1] if own else ""
        return self._caption

    def agreement(self, label: str) -> float:
        """Return how well a label agrees with the votes, in [0, 1].

        It is the weight of labels of its kind divided by that of labels of the instance's own kind.
        """
        if not self.shares:
            return 0.0
        alike, own = (
            sum(weight for name, weight in self.shares.items() if same_kind(name, wanted))
            for wanted in (label, self.label)
        )
        return min(alike / own, 1.0) if own > 0.0 else 0.0

    def likeness(self, detection: Detection) -> float:
        """Return how much a detection looks like the instance.

        It is the cosine of their features, [-1, 1], if both have a feature of the same model; otherwise the
        agreement of the labels, [0, 1].
        """
        cosine = self.cosine(detection.feature, detection.feature_model)
        return self.agreement(detection.label) if cosine is None else cosine

    def cosine(self, feature: np.ndarray | None, model: str) -> float | None:
        """Return the cosine between a feature (D,) and the instance's; None if they are not of one model."""
        own = self.appearance
        if feature is None or own is None or model != self.appearance_model or feature.shape != own.shape:
            return None
        length = float(np.linalg.norm(own) * np.linalg.norm(feature))
        return float(feature @ own) / length if length > 0.0 else None

    def show(self, feature: np.ndarray | None, model: str) -> bool:
        """Add the feature (D,) of a detection to the instance's sum of features.

        A feature of another model or dimension replaces the sum; then False is returned.
        """
        if feature is None:
            return True
        own, known = self.appearance, self.appearance_model
        if own is not None and model == known and own.shape == feature.shape:
            self.appearance = own + feature
            return True
        self.appearance, self.appearance_model = np.array(feature, np.float32), model
        return own is None

    def _elect(self) -> None:
        """Sum the weights per label; set the instance's label: the heaviest of its heaviest synonyms."""
        self._caption, self.shares = None, {}
        for (name, _), weight in self.labels.items():
            self.shares[name] = self.shares.get(name, 0.0) + weight
        kinds: dict[str, float] = {}
        for name, weight in self.shares.items():
            kinds[kind_of(name)] = kinds.get(kind_of(name), 0.0) + weight
        rank = {name: (-kinds[kind_of(name)], -weight, name) for name, weight in self.shares.items()}
        self.label = min(rank, key=lambda name: rank[name])

    def take(self, pair: tuple[str, str]) -> float:
        """Remove a (label, caption) pair; return its weight."""
        weight = self.labels.pop(pair)
        self._elect()
        return weight

    def vote(self, label: str, caption: str, weight: float, keep: int, most: float = math.inf) -> None:
        """Add weight to a label and caption; only the `keep` strongest pairs are kept.

        most: largest sum of all weights; older weights are scaled down to it, so that new observations can outvote a
        label that was wrong for a long time.
        """
        pair = (label, caption)
        total = sum(self.labels.values())
        if total + weight > most > weight:
            share = (most - weight) / total
            self.labels = {known: value * share for known, value in self.labels.items()}
        self.labels[pair] = self.labels.get(pair, 0.0) + weight
        if len(self.labels) > keep:
            del self.labels[min(self.labels, key=lambda known: (self.labels[known], known))]
        self._elect()

    def absorb(self, lost: Track, keep: int) -> None:
        """Merge `lost`, which is the same object, into this track: add its votes, features and history."""
        for (label, caption), weight in lost.labels.items():
            self.vote(label, caption, weight, keep)
        if self.appearance is None or lost.appearance_model == self.appearance_model:
            self.show(lost.appearance, lost.appearance_model)
        self.observation_count += lost.observation_count
        self.first_seen = min(self.first_seen, lost.first_seen)
        self.last_seen = max(self.last_seen, lost.last_seen)


class Tracks:
    """Instances by id, with fast look-ups by place, by age and round robin.

    The cost of a look-up does not grow with the number of instances.
    """

    def __init__(self) -> None:
        self._tracks: dict[int, Track] = {}
        self._cells: dict[tuple[int, int], set[int]] = {}
        self._spans: dict[int, tuple[int, int, int, int]] = {}
        self._bounds: dict[int, Bounds] = {}
        # possibly unconfirmed instances by time of the last observation, ascending
        self._young: OrderedDict[int, None] = OrderedDict()
        self._ring: list[int] = []
        self._turn = 0

    def __contains__(self, identity: int) -> bool:
        return identity in self._tracks

    def __getitem__(self, identity: int) -> Track:
        return self._tracks[identity]

    def __iter__(self) -> Iterator[int]:
        return iter(self._tracks)

    def __len__(self) -> int:
        return len(self._tracks)

    def get(self, identity: int) -> Track | None:
        """Return the instance of an id, or None."""
        return self._tracks.get(identity)

    def values(self) -> Iterator[Track]:
        """Iterate over all instances."""
        return iter(self._tracks.values())

    def add(self, track: Track) -> None:
        """Add a new instance."""
        self._tracks[track.id] = track
        self._young[track.id] = None
        self._ring.append(track.id)
        self._index(track)

    def pop(self, identity: int) -> Track:
        """Remove and return an instance. Raises KeyError for an unknown id."""
        track = self._tracks.pop(identity)
        self._young.pop(identity, None)
        del self._bounds[identity]
        for cell in self._cells_of(self._spans.pop(identity)):
            self._cells[cell].discard(identity)
            if not self._cells[cell]:
                del self._cells[cell]
        return track

    def place(self, track: Track, box_min: np.ndarray, box_max: np.ndarray) -> None:
        """Set the instance's box."""
        track.box_min, track.box_max = box_min, box_max
        self._index(track)

    def seen(self, track: Track, stamp: float) -> None:
        """Set the time of the last observation of an instance to `stamp`."""
        track.last_seen = stamp
        if track.id in self._young:
            self._young.move_to_end(track.id)

    def bounds(self, identity: int) -> Bounds:
        """Return the instance's box as plain numbers, which compare faster than arrays."""
        return self._bounds[identity]

    def near(self, box_min: np.ndarray, box_max: np.ndarray) -> list[int]:
        """Return the ids, ascending, of the instances whose boxes touch a given box, voxel frame, metres."""
        x0, y0, z0 = box_min.tolist()
        x1, y1, z1 = box_max.tolist()
        return self._touching(x0, y0, z0, x1, y1, z1)

    def around(self, identity: int, reach: float = 0.0) -> list[int]:
        """Return the ids, ascending, of instances whose boxes touch an instance's box grown by `reach`.

        The instance itself is included. reach: metres.
        """
        x0, y0, z0, x1, y1, z1 = self._bounds[identity]
        return self._touching(x0 - reach, y0 - reach, z0 - reach, x1 + reach, y1 + reach, z1 + reach)

    def _touching(self, x0: float, y0: float, z0: float, x1: float, y1: float, z1: float) -> list[int]:
        found: set[int] = set()
        for cell in self._cells_of(_span((x0, y0, z0, x1, y1, z1))):
            found.update(self._cells.get(cell, ()))
        bounds, near = self._bounds, []
        for i in found:
            a0, b0, c0, a1, b1, c1 = bounds[i]
            if a0 <= x1 and a1 >= x0 and b0 <= y1 and b1 >= y0 and c0 <= z1 and c1 >= z0:
                near.append(i)
        near.sort()
        return near

    def expired(self, before: float, confirm: int, most: int) -> list[int]:
        """Return at most `most` ids of instances with fewer than `confirm` observations, not seen lately.

        before: stamp, seconds, before which they were last seen.
        """
        found: list[int] = []
        grown: list[int] = []
        for identity in self._young:
            track = self._tracks[identity]
            if track.observation_count >= confirm:
                grown.append(identity)
            elif track.last_seen >= before or len(found) == most:
                break
            else:
                found.append(identity)
        for identity in grown:
            del self._young[identity]
        return found

    def next_in_turn(self, count: int) -> list[int]:
        """Return the next `count` ids of a round robin over all instances, each at most once."""
        found: list[int] = []
        for _ in range(min(count, len(self._tracks))):
            while True:
                if self._turn >= len(self._ring):  # start of a new round: drop removed instances
                    self._ring = [i for i in self._ring if i in self._tracks]
                    self._turn = 0
                self._turn += 1
                if self._ring[self._turn - 1] in self._tracks:
                    break
            found.append(self._ring[self._turn - 1])
        return list(dict.fromkeys(found))

    def _index(self, track: Track) -> None:
        low, high = track.box_min.tolist(), track.box_max.tolist()
        bounds = low[0], low[1], low[2], high[0], high[1], high[2]
        self._bounds[track.id] = bounds
        span, before = _span(bounds), self._spans.get(track.id)
        if span == before:
            return
        if before is not None:
            for cell in self._cells_of(before):
                self._cells[cell].discard(track.id)
                if not self._cells[cell]:
                    del self._cells[cell]
        for cell in self._cells_of(span):
            self._cells.setdefault(cell, set()).add(track.id)
        self._spans[track.id] = span

    @staticmethod
    def _cells_of(span: tuple[int, int, int, int]) -> list[tuple[int, int]]:
        x0, y0, x1, y1 = span
        return [(x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)]


def _span(bounds: Bounds) -> tuple[int, int, int, int]:
    floor = math.floor
    return (
        floor(bounds[0] / _CELL),
        floor(bounds[1] / _CELL),
        floor(bounds[3] / _CELL),
        floor(bounds[4] / _CELL),
    )
