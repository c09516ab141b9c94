"""Records of a chronicle: sightings of things, where each stood and for how long, and where the robot was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lodestar.memory.records import EventKind, Memory, Primitive
from lodestar.perception.sign_text import SIGN, sign_text
from lodestar.scene.captions import words_only
from lodestar.scene.category_priors import CategoryPriors
from lodestar.scene.records import Entity, EntityState

#: Events that look like one of a kind to who asks. What was carried away is gone from its place, what came was put
#: there, and what was moved may have come as a new thing: a map that lost sight of it does not know it is the same.
_CALLED_SO = {
    EventKind.MOVED: (EventKind.APPEARED, EventKind.VANISHED),
    EventKind.VANISHED: (EventKind.MOVED,),
    EventKind.APPEARED: (EventKind.MOVED,),
}


@dataclass(frozen=True)
class Box:
    """An axis-aligned box in map, metres: (3,) each."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def around(cls, centre: np.ndarray, size: np.ndarray | float = 0.0) -> Box:
        """Return the box of a centre (3,) and its sides."""
        return cls(centre - np.asarray(size) / 2.0, centre + np.asarray(size) / 2.0)

    @classmethod
    def of_entity(cls, entity: Entity) -> Box:
        """Return the box of an entity; a point at its mean where the box cannot be used."""
        low, high = np.asarray(entity.box_min, float), np.asarray(entity.box_max, float)
        if np.isfinite([low, high]).all() and (high >= low).all():
            return cls(low, high)
        return cls.around(np.nan_to_num(np.asarray(entity.mean, float)))

    @property
    def centre(self) -> np.ndarray:
        """Return the centre (3,)."""
        return (self.low + self.high) / 2.0

    def away(self, point: np.ndarray) -> float:
        """Return the metres in plan from the centre to a point (2+,)."""
        return float(np.linalg.norm(self.centre[:2] - np.asarray(point, float)[:2]))

    def has_left(self, other: Box, moved: float) -> bool:
        """Tell whether the two are different places: further apart than `moved` and than a box that grew."""
        sides = np.maximum((self.high - self.low)[:2], (other.high - other.low)[:2])
        return self.away(other.centre) > max(moved, 0.5 * float(sides.max()))


@dataclass(frozen=True)
class Sighting:
    """A thing in one segment of the memory."""

    memory: Memory
    primitive: Primitive

    @property
    def box(self) -> Box:
        """Return the box that it had then."""
        return Box.around(self.primitive.centre, self.primitive.size)


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
    matched: start of the segment in which it fitted, None = as it is now.
    """

    id: int
    name: str
    label: str
    score: float
    stays: tuple[Stay, ...]
    entity: Entity | None = None
    attributes: tuple[str, ...] = ()
    matched: float | None = None

    @classmethod
    def of_entity(cls, entity: Entity, score: float = 1.0) -> Thing:
        """Return an entity as a thing, with the place where it is now."""
        stay = Stay(Box.of_entity(entity), min(entity.first_seen, entity.last_seen), entity.last_seen)
        name, label = name_in_words(entity.caption, entity.label), name_in_words("", entity.label)
        return cls(entity.id, name, label, score, (stay,), entity, entity.attributes)

    @property
    def box(self) -> Box:
        """Return the box of its last place."""
        return self.stays[-1].box

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
    def written(self) -> str:
        """Return what is written on it, "" where nothing was read."""
        return "" if self.entity is None else sign_text(self.entity.caption)

    @property
    def is_gone(self) -> bool:
        """Tell whether it does not count as being there now: the scene says so, or it moves by itself."""
        return self.moved_on or (self.entity is not None and self.entity.state is EntityState.ARCHIVED)

    @property
    def moved_on(self) -> bool:
        """Tell whether it is a person or an animal that is not tracked now: it was there then, and may be anywhere."""
        return self.entity is None and CategoryPriors().of(self.label).moves_by_itself

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Return its sightings, oldest first."""
        return tuple(sighting for stay in self.stays for sighting in stay.sightings)


@dataclass(frozen=True)
class Search:
    """Things that fit, best first. best_miss: the best score of what does not. memories: evidence that was read.

    rooms: regions of the scope, None = anywhere. no_room: a room was named that no region is called. is_relaxed: a part
    of the description was left out, because its room or neighbour is not known.
    """

    things: tuple[Thing, ...] = ()
    best_miss: float = 0.0
    memories: tuple[Memory, ...] = ()
    rooms: frozenset[int] | None = None
    no_room: bool = False
    is_relaxed: bool = False

    @property
    def best(self) -> Thing | None:
        """Return the first thing, None where none fits."""
        return self.things[0] if self.things else None

    def here(self) -> Search:
        """Return the search without the things that are known to be gone."""
        return replace(self, things=tuple(thing for thing in self.things if not thing.is_gone))

    def rivals(self, close: float) -> tuple[Thing, ...]:
        """Return the things that fit as well as the first one, within `close`; it is one of them."""
        return tuple(t for t in self.things if self.things[0].score - t.score < close)


@dataclass(frozen=True)
class History:
    """Stays of a thing, oldest first, never empty. inferred: two entities were taken for one that moved.

    changes: events about it, oldest first. gone_at: when it was seen to be gone; None = it is there as far as known.
    """

    thing: Thing
    stays: tuple[Stay, ...]
    changes: tuple[Memory, ...] = ()
    inferred: bool = False
    gone_at: float | None = None

    def of_kind(self, kind: EventKind | None) -> list[Memory]:
        """Return its changes of a kind, oldest first."""
        return [memory for memory in self.changes if memory.event is kind]

    def span_of_change(self, kind: EventKind) -> tuple[float, float] | None:
        """Return the times between which it must have moved, gone or come, by its sightings; None if it did not."""
        stays = self.stays
        if kind is EventKind.MOVED and len(stays) > 1:
            return stays[-2].last, max(stays[-1].first, stays[-2].last)
        if kind is EventKind.VANISHED and self.thing.is_gone:
            return stays[-1].last, max(self.gone_at or stays[-1].last, stays[-1].last)
        if kind is EventKind.APPEARED:
            return stays[0].first, stays[0].first
        return None

    def noticed_as(self, kind: EventKind) -> EventKind | None:
        """Return the change that a question for one of `kind` is about: that one, else one that looks the same to who
        asks; None where none was noticed.
        """
        for other in (kind, *_CALLED_SO[kind]):
            if self.of_kind(other):
                return other
            if EventKind.APPEARED not in (other, kind) and self.span_of_change(other) is not None:
                return other
        return kind if self.span_of_change(kind) is not None else None

    def last_before(self, event: Memory) -> float:
        """Return when it was last seen before a change, where that is known to be before it."""
        if event.event is EventKind.MOVED and len(self.stays) > 1:
            return min(self.stays[-2].last, event.start)
        ends = [s.memory.end for stay in self.stays for s in stay.sightings] + [s.last for s in self.stays]
        return max((end for end in ends if end <= event.start), default=event.start)

    def looks(self, gap: float) -> list[tuple[float, float]]:
        """Return the times in which it was in view, seconds, oldest first; those `gap` apart at most are one."""
        times = [(s.memory.start, s.memory.end) for stay in self.stays for s in stay.sightings]
        last = max(stay.last for stay in self.stays)
        return spans_of([*(times or [(s.first, s.last) for s in self.stays]), (last, last)], gap)


@dataclass(frozen=True)
class RoomsMeant:
    """ids: regions that go by the name, none where nobody knows it. name: in the question's words.

    guessed: the name is near in meaning to what the regions are called or hold, and none is called so.
    """

    name: str
    ids: frozenset[int]
    guessed: bool = False


@dataclass(frozen=True)
class Visit:
    """The robot was at a place from begin to end, seconds. memories: of that time, oldest first."""

    begin: float
    end: float
    memories: tuple[Memory, ...]

    @cached_property
    def span(self) -> tuple[float, float]:
        """Return its begin and end."""
        return self.begin, self.end


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
    written = sign_text(caption)  # which stays a quotation
    if written:
        return f'"{words_only(written)}" {SIGN}'
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
