"""Votes, history and box of each instance, with look-ups by place, by age and in turn."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lodestar.models.kinship import kind_of, same_kind
from lodestar.perception.frames import Detection

_CELL = 1.0  # m, of the index
Bounds = tuple[float, float, float, float, float, float]  # low x, y, z, high x, y, z


@dataclass
class Track:
    """Votes, history and box of an instance. box_min, box_max: (3,) metres, voxel frame, set by `Tracks.place`."""

    id: int
    first_seen: float
    last_seen: float
    box_min: np.ndarray
    box_max: np.ndarray
    observation_count: int = 0
    labels: dict[tuple[str, str], float] = field(default_factory=dict)  # (label, caption) -> weight
    shares: dict[str, float] = field(default_factory=dict)  # label -> weight
    label: str = ""  # the one of most weight among the synonyms of most weight
    appearance: np.ndarray | None = None  # (D,) sum of unit features of its detections
    appearance_model: str = ""  # of the features
    revision: int = 0
    last_absence: float = -np.inf
    absence_count: int = 0  # since it was last observed
    last_miss: float = -np.inf  # stamp of the frame in which it was last tested for a miss
    size: int = 0  # voxels when it was last observed
    _caption: str | None = None  # None where votes have come since it was asked for

    @property
    def caption(self) -> str:
        """Return the heaviest caption among those of its label and that label's synonyms."""
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
        """Return the weight of labels of `label`'s kind relative to those of the instance's own kind, [0, 1]."""
        if not self.shares:
            return 0.0
        alike, own = (
            sum(weight for name, weight in self.shares.items() if same_kind(name, wanted))
            for wanted in (label, self.label)
        )
        return min(alike / own, 1.0) if own > 0.0 else 0.0

    def likeness(self, detection: Detection) -> float:
        """Return the cosine of a detection's feature with the instance's, [-1, 1]; without both of one model, the
        label's agreement.
        """
        cosine = self.cosine(detection.feature, detection.feature_model)
        return self.agreement(detection.label) if cosine is None else cosine

    def cosine(self, feature: np.ndarray | None, model: str) -> float | None:
        """Return the cosine of a feature (D,) with the instance's; None unless both have one of the same model."""
        own = self.appearance
        if feature is None or own is None or model != self.appearance_model or feature.shape != own.shape:
            return None
        length = float(np.linalg.norm(own) * np.linalg.norm(feature))
        return float(feature @ own) / length if length > 0.0 else None

    def show(self, feature: np.ndarray | None, model: str) -> bool:
        """Add the feature (D,) of a detection; one of another model or dimension replaces the sum.

        Returns False where it replaced another.
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
        """Sum the weights of each label, and set the instance's: the heaviest of the heaviest group of synonyms."""
        self._caption, self.shares = None, {}
        for (name, _), weight in self.labels.items():
            self.shares[name] = self.shares.get(name, 0.0) + weight
        kinds: dict[str, float] = {}
        for name, weight in self.shares.items():
            kinds[kind_of(name)] = kinds.get(kind_of(name), 0.0) + weight
        rank = {name: (-kinds[kind_of(name)], -weight, name) for name, weight in self.shares.items()}
        self.label = min(rank, key=lambda name: rank[name])

    def take(self, pair: tuple[str, str]) -> float:
        """Remove a label and caption; return their weight."""
        weight = self.labels.pop(pair)
        self._elect()
        return weight

    def vote(self, label: str, caption: str, weight: float, keep: int, most: float = math.inf) -> None:
        """Add weight to a label and caption; only the `keep` strongest pairs are kept.

        most: sum of all weights, to which older ones are scaled down, so that a label that was wrong for a long time is
        outvoted by what is seen now.
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
        """Merge `lost`, the same object: add its votes, views and history."""
        for (label, caption), weight in lost.labels.items():
            self.vote(label, caption, weight, keep)
        if self.appearance is None or lost.appearance_model == self.appearance_model:
            self.show(lost.appearance, lost.appearance_model)
        self.observation_count += lost.observation_count
        self.first_seen = min(self.first_seen, lost.first_seen)
        self.last_seen = max(self.last_seen, lost.last_seen)


class Tracks:
    """Instances by id, found by place, by age and in turn; the time of a look-up does not depend on their number."""

    def __init__(self) -> None:
        self._tracks: dict[int, Track] = {}
        self._cells: dict[tuple[int, int], set[int]] = {}
        self._spans: dict[int, tuple[int, int, int, int]] = {}
        self._bounds: dict[int, Bounds] = {}
        # those that may be unconfirmed, by time of the last sighting, ascending
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
        """Record a sighting of the instance at `stamp`."""
        track.last_seen = stamp
        if track.id in self._young:
            self._young.move_to_end(track.id)

    def bounds(self, identity: int) -> Bounds:
        """Return the instance's box as plain numbers, which compare faster than arrays."""
        return self._bounds[identity]

    def near(self, box_min: np.ndarray, box_max: np.ndarray) -> list[int]:
        """Return the ids, ascending, of the instances whose boxes touch a box of the voxel frame."""
        x0, y0, z0 = box_min.tolist()
        x1, y1, z1 = box_max.tolist()
        return self._touching(x0, y0, z0, x1, y1, z1)

    def around(self, identity: int, reach: float = 0.0) -> list[int]:
        """Return the ids, ascending, of the instances whose boxes touch that of an instance, grown by `reach` metres.

        The instance itself is among them.
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
        """Return at most `most` instances with fewer than `confirm` observations that were last seen before a stamp."""
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
        """Return the next `count` ids in turn, each at most once, cycling through all instances."""
        found: list[int] = []
        for _ in range(min(count, len(self._tracks))):
            while True:
                if self._turn >= len(
                    self._ring
                ):  # end of a round: removed instances are left out of the next
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
