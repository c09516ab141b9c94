"""Records of what was found: sightings of things, and where things stood and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lodestar.memory.records import Memory, Primitive
from lodestar.scene.captions import words_only
from lodestar.scene.records import Entity, EntityState


@dataclass(frozen=True)
class Box:
    """An axis-aligned box in map, metres: (3,) each."""

    low: np.ndarray
    high: np.ndarray

    @property
    def centre(self) -> np.ndarray:
        """Return the centre (3,)."""
        return (self.low + self.high) / 2.0

    def has_left(self, other: Box, moved: float) -> bool:
        """Tell whether the two are different places: further apart than `moved` and than a box that grew."""
        shift = float(np.linalg.norm((self.centre - other.centre)[:2]))
        sides = np.maximum((self.high - self.low)[:2], (other.high - other.low)[:2])
        return shift > max(moved, 0.5 * float(sides.max()))


@dataclass(frozen=True)
class Sighting:
    """A thing in one segment of the memory."""

    memory: Memory
    primitive: Primitive

    @property
    def box(self) -> Box:
        """Return the box that it had then."""
        half = self.primitive.size / 2.0
        return Box(self.primitive.centre - half, self.primitive.centre + half)


@dataclass(frozen=True)
class Stay:
    """A thing at one place from its first to its last sighting there, seconds."""

    box: Box
    first: float
    last: float
    sightings: tuple[Sighting, ...] = ()


@dataclass(frozen=True)
class Thing:
    """A thing that was found. score: how well it fits the question, [0, 1], `QueryConfig.accept` and above.

    stays: places where it was seen, oldest first, never empty. entity: what the scene holds of it, None = memory alone.
    """

    id: int
    name: str
    label: str
    score: float
    stays: tuple[Stay, ...]
    entity: Entity | None = None
    attributes: tuple[str, ...] = field(default=())
    matched: float | None = None  # start of the segment in which it fitted; None = as it is now

    @property
    def box(self) -> Box:
        """Return the box of its last place."""
        return self.stays[-1].box

    @property
    def first(self) -> float:
        """Return when it was first seen, seconds."""
        return self.stays[0].first

    @property
    def last(self) -> float:
        """Return when it was last seen, seconds."""
        return self.stays[-1].last

    def stay_that_fitted(self, stays: Sequence[Stay]) -> Stay:
        """Return the one of its stays in which it fitted the question; the last one where it fits now."""
        then = self.matched
        found = [s for s in stays if then is not None and s.first - 1.0 <= then <= s.last + 1.0]
        return found[-1] if found else stays[-1]

    @property
    def is_gone(self) -> bool:
        """Tell whether the scene says that it is not there any more."""
        return self.entity is not None and self.entity.state is EntityState.ARCHIVED

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Return its sightings, oldest first."""
        return tuple(sighting for stay in self.stays for sighting in stay.sightings)


def entity_box(entity: Entity) -> Box:
    """Return the box of an entity; a point at its mean where the box cannot be used."""
    low, high = np.asarray(entity.box_min, float), np.asarray(entity.box_max, float)
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (high >= low).all()):
        mean = np.nan_to_num(np.asarray(entity.mean, float))
        return Box(mean, mean)
    return Box(low, high)


def stays_of(sightings: Iterable[Sighting], moved: float) -> tuple[Stay, ...]:
    """Return the places of a thing, oldest first. A box that grows as more is seen stays where it is."""
    found: list[Stay] = []
    for sighting in sorted(sightings, key=lambda s: s.memory.start):
        start, end, box = sighting.memory.start, sighting.memory.end, sighting.box
        if found and not box.has_left(found[-1].box, moved):
            before = found[-1]
            found[-1] = Stay(box, before.first, max(before.last, end), (*before.sightings, sighting))
        else:
            found.append(Stay(box, start, end, (sighting,)))
    return tuple(found)


def name_in_words(caption: str, label: str) -> str:
    """Return what a thing is called, without marks or control characters; captions and labels are untrusted."""
    return words_only(caption) or words_only(label) or "thing"


def spans_of(times: Sequence[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Return the times, (begin, end), with those joined that are at most `gap` seconds apart; oldest first."""
    joined: list[tuple[float, float]] = []
    for begin, end in sorted(times):
        if joined and begin - joined[-1][1] <= gap:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined
