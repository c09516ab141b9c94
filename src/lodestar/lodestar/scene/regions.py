"""Room labels of regions, from the entities and plates in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import numpy as np
from scipy import ndimage

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse
from lodestar.models.lexicon import load_lexicon, words_of
from lodestar.scene.records import EntityState, Region

ON_PLATE = 0.9  # weight of a label read from a plate; chosen
#: Words that have numbers of their own: a number after one of these is no room number.
_NUMBERED = frozenset(
    {"floor", "level", "storey", "story", "building", "block", "wing", "exit", "gate", "elevator", "lift",
     "stair", "stairs", "staircase", "stairwell", "phone", "tel", "ext", "extension", "fax", "locker", "zone"}
)  # fmt: skip
UNSURE = 1.0  # evidence for "no named room"; a single typical object outweighs it


def is_called(region: Region, names: Collection[str]) -> bool:
    """Return whether a region has one of the names: as its label or on one of its plates.

    Labels are compared in canonical words.
    """
    if region.label and _room(region.label) in {_room(name) for name in names}:
        return True
    return any(_is_on(region.plates, name) for name in names) if region.plates else False


def _is_on(plates: Collection[str], name: str) -> bool:
    """Return whether a plate shows a room's name ("kitchen"), or the name without the kind of room.

    For "room 204" the plate may read "204".
    """
    words = words_of(name)
    said = [words_of(plate) for plate in plates]
    if words in said:
        return True
    marks = load_lexicon().room_marks(name).split()
    return bool(marks) and any(_has_marks(plate, marks) for plate in said)


def _has_marks(plate: list[str], marks: list[str]) -> bool:
    """Return whether a plate has these words in a row as a mark of a room.

    "floor 2", for example, does not have the mark "2".
    """
    for start in range(len(plate) - len(marks) + 1):
        if plate[start : start + len(marks)] == marks and (start == 0 or plate[start - 1] not in _NUMBERED):
            return True
    return False


def _room(name: str) -> str:
    folded = name.casefold().strip()
    return load_lexicon().room(folded) or folded


class Occupant(Protocol):
    """Interface of an entity with the properties that indicate the room in which it is."""

    @property
    def label(self) -> str: ...

    @property
    def confidence(self) -> float: ...

    @property
    def state(self) -> EntityState: ...


@lru_cache(maxsize=4096)
def evidence_of(label: str) -> tuple[tuple[str, float], ...]:
    """Return the rooms that an object of this label indicates, with their weights."""
    lexicon = load_lexicon()
    name = lexicon.canonical(label)
    for candidate in (name, *lexicon.wider(name or "")):
        weights = lexicon.room_evidence.get(candidate or "")
        if weights:
            return tuple(weights.items())
    return ()


def label_region(entities: Iterable[Occupant], plates: Iterable[str] = ()) -> tuple[str, float]:
    """Return a room's label and its weight in [0, 1], from its plates, else from the entities inside.

    Without evidence it is ("", 0).
    """
    lexicon = load_lexicon()
    for plate in plates:
        room = lexicon.rooms.get(lexicon.singular_phrase(plate))
        if room is not None:
            return room, ON_PLATE
    evidence: dict[str, float] = defaultdict(float)
    for entity in entities:
        if entity.state == EntityState.ARCHIVED:
            continue
        for room, weight in evidence_of(entity.label):
            evidence[room] += weight * entity.confidence
    if not evidence:
        return "", 0.0
    best = min(evidence, key=lambda room: (-evidence[room], room))
    return best, evidence[best] / (sum(evidence.values()) + UNSURE)


class RegionMap:
    """Map from places to ids of regions. `regions`: records of the regions, by id."""

    def __init__(self, reach: float) -> None:
        self.regions: dict[int, Region] = {}
        self._reach = reach
        self._mask = np.zeros((0, 0), np.int64)
        self._gap: np.ndarray | None = None
        self._origin = np.zeros(2)
        self._resolution = 1.0
        self._mask_from_map = np.eye(4)
        # at most one dict, computed lazily: ids of two rooms -> (K, 2) places where they meet; shared by copies
        self._openings: list[dict[tuple[int, int], np.ndarray]] = []

    @property
    def is_empty(self) -> bool:
        """Return whether the map has no cell with a region."""
        return self._mask.size == 0

    def set_mask(self, mask: np.ndarray, origin: tuple[float, float], resolution: float) -> None:
        """Replace the regions of the cells.

        mask: (rows, columns) unsigned, 0 = none, row 0 has the lowest y. origin: corner of cell (0, 0),
        metres.
        """
        self._origin, self._resolution = np.asarray(origin, float), resolution
        self._mask_from_map = np.eye(4)
        self._openings = []
        if mask.size == 0 or not mask.any():
            self._mask = np.zeros((0, 0), np.int64)
            return
        self._mask, self._gap = np.asarray(mask), None

    def places_of(self, region: int) -> np.ndarray:
        """Return the centres (N, 2), in map, of a region's cells."""
        rows, columns = (
            np.nonzero(self._mask == region)
            if self._gap is None
            else np.nonzero((self._mask == region) & (self._gap == 0.0))
        )
        places = self._origin + (np.column_stack([columns, rows]) + 0.5) * self._resolution
        back = inverse(self._mask_from_map)
        return places @ back[:2, :2].T + back[:2, 3]

    def move(self, correction: MapCorrection) -> None:
        """Apply a correction of the map.

        If parts of the map move differently, the mask stays as it is until rooms are recomputed.
        """
        if correction.is_rigid:
            self._mask_from_map = self._mask_from_map @ inverse(correction.jump)
        self._openings = []
        self.regions = {
            region.id: replace(region, centroid=correction.moved_place(region.centroid))
            for region in self.regions.values()
        }

    def is_as(self, other: RegionMap | None) -> bool:
        """Return whether the other map is this one, or an unchanged copy of it."""
        return other is not None and self._openings is other._openings

    def openings(self, one: int, other: int) -> np.ndarray:
        """Return the places (K, 2) in map where the floors of two regions meet, as in a doorway.

        Empty if a wall separates them.
        """
        return self.all_openings().get((min(one, other), max(one, other)), np.zeros((0, 2)))

    def all_openings(self) -> Mapping[tuple[int, int], np.ndarray]:
        """Return the `openings` of all pairs of regions that have any, by (smaller id, larger id)."""
        if not self._openings:
            self._openings.append(self._all_openings())
        return self._openings[0]

    def _all_openings(self) -> dict[tuple[int, int], np.ndarray]:
        mask = self._mask.astype(np.int64)
        if self._gap is not None:
            mask = np.where(self._gap == 0.0, mask, 0)
        found: list[tuple[np.ndarray, np.ndarray]] = []
        for axis in (0, 1):
            before, after = (np.take(mask, range(k, mask.shape[axis] - 1 + k), axis) for k in (0, 1))
            rows, columns = np.nonzero((before != after) & (before > 0) & (after > 0))
            places = np.column_stack([columns, rows]) + 0.5 + ((0.5, 0.0) if axis else (0.0, 0.5))
            pairs = np.sort(np.column_stack([before[rows, columns], after[rows, columns]]), axis=1)
            found.append((pairs, self._origin + places * self._resolution))
        pairs, places = (np.concatenate(part) for part in zip(*found))
        back = inverse(self._mask_from_map)
        places = places @ back[:2, :2].T + back[:2, 3]
        return {(int(a), int(b)): places[(pairs == (a, b)).all(axis=1)] for a, b in np.unique(pairs, axis=0)}

    def _nearest(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, per cell, the region of the nearest cell that has one, and the distance to it in metres.

        Computed at the first call.
        """
        if self._gap is None:
            gap, (rows, columns) = ndimage.distance_transform_edt(self._mask == 0, return_indices=True)
            self._mask, self._gap = self._mask[rows, columns].astype(np.int64), gap * self._resolution
        return self._mask, self._gap

    def at(self, points: np.ndarray, reach: float | None = None) -> np.ndarray:
        """Return the region ids (N,) of points (N, 2+): of their cell, else of the nearest cell; 0 = none.

        reach: largest distance, metres, of that nearest cell; by default that of the map.
        """
        limit = self._reach if reach is None else reach
        if self.is_empty:
            return np.zeros(len(points), np.int64)
        mask, gap = self._nearest()
        rows, columns = mask.shape
        turn, shift = self._mask_from_map[:2, :2], self._mask_from_map[:2, 3]
        places = np.asarray(points, float)[:, :2] @ turn.T + shift
        cells = np.floor((places - self._origin) / self._resolution).astype(np.int64)
        row = np.clip(cells[:, 1], 0, rows - 1)
        column = np.clip(cells[:, 0], 0, columns - 1)
        outside = np.hypot(cells[:, 1] - row, cells[:, 0] - column) * self._resolution
        return np.where(gap[row, column] + outside <= limit, mask[row, column], 0)
