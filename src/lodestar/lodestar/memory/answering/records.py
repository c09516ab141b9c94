"""Records of objects and the robot over time: sightings and stays of objects, and visits of the robot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lodestar.memory.records import EventKind, Memory, Primitive
from lodestar.models.category_priors import CategoryPriors
from lodestar.perception.sign_text import SIGN, sign_text
from lodestar.scene.captions import words_only
from lodestar.scene.records import Entity, EntityState

#: Kinds of events that a person cannot tell apart. An object that was carried away has vanished from its
#: place, an object that was put down has appeared, and a moved one may appear as new if the map lost track.
_CALLED_SO = {
    EventKind.MOVED: (EventKind.APPEARED, EventKind.VANISHED),
    EventKind.VANISHED: (EventKind.MOVED,),
    EventKind.APPEARED: (EventKind.MOVED,),
}


@dataclass(frozen=True)
class Box:
    """Axis-aligned box in map. low, high: (3,) corners, metres."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def around(cls, centre: np.ndarray, size: np.ndarray | float = 0.0) -> Box:
        """Return the box with this centre (3,) and these side lengths."""
        return cls(centre - np.asarray(size) / 2.0, centre + np.asarray(size) / 2.0)

    @classmethod
    def of_entity(cls, entity: Entity) -> Box:
        """Return the box of an entity; a point at its mean if the box is invalid."""
        low, high = np.asarray(entity.box_min, float), np.asarray(entity.box_max, float)
        if np.isfinite([low, high]).all() and (high >= low).all():
            return cls(low, high)
        return cls.around(np.nan_to_num(np.asarray(entity.mean, float)))

    @property
    def centre(self) -> np.ndarray:
        """Return the box's centre (3,), metres."""
        return (self.low + self.high) / 2.0

    def away(self, point: np.ndarray) -> float:
        """Return the distance in plan from the centre to a point (2+,), metres."""
        return float(np.linalg.norm(self.centre[:2] - np.asarray(point, float)[:2]))

    def has_left(self, other: Box, moved: float) -> bool:
        """Return whether two boxes of an object are at different places.

        Their centres must be more than `moved` metres apart in plan, and more than half the longest side of
        both boxes, because a box grows with further observations.
        """
        sides = np.maximum((self.high - self.low)[:2], (other.high - other.low)[:2])
        return self.away(other.centre) > max(moved, 0.5 * float(sides.max()))


@dataclass(frozen=True)
class Sighting:
    """Sighting of an object in one segment of the memory."""

    memory: Memory
    primitive: Primitive

    @property
    def box(self) -> Box:
        """Return the object's box at that time."""
        return Box.around(self.primitive.centre, self.primitive.size)


@dataclass(frozen=True)
class Stay:
    """Period in which an object was at one place. first, last: stamps of the sightings there, seconds."""

    box: Box
    first: float
    last: float
    sightings: tuple[Sighting, ...] = ()


@dataclass(frozen=True)
class Thing:
    """Object that a search found. score: how well it fits the question, from `QueryConfig.accept` to 1.

    stays: periods at one place each, oldest first, never empty. entity: its scene entity, None = known from
    memory alone. matched: start of the segment in which it fitted the question, None = it fits as it is now.
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
        """Return an object for a scene entity, with one stay at its present place."""
        stay = Stay(Box.of_entity(entity), min(entity.first_seen, entity.last_seen), entity.last_seen)
        name, label = name_in_words(entity.caption, entity.label), name_in_words("", entity.label)
        return cls(entity.id, name, label, score, (stay,), entity, entity.attributes)

    @property
    def box(self) -> Box:
        """Return the box of the object's last place."""
        return self.stays[-1].box

    @property
    def last(self) -> float:
        """Return the stamp of the object's last sighting, seconds."""
        return self.stays[-1].last

    def stay_that_fitted(self, stays: Sequence[Stay]) -> Stay:
        """Return the stay in which the object fitted the question; the last one if it fits now."""
        then = self.matched
        found = [s for s in stays if then is not None and s.first - 1.0 <= then <= s.last + 1.0]
        return found[-1] if found else stays[-1]

    @property
    def written(self) -> str:
        """Return the text that was read on the object, "" if there is none."""
        return "" if self.entity is None else sign_text(self.entity.caption)

    @property
    def is_gone(self) -> bool:
        """Return whether the object counts as absent: archived, or an untracked person or animal."""
        return self.moved_on or (self.entity is not None and self.entity.state is EntityState.ARCHIVED)

    @property
    def moved_on(self) -> bool:
        """Return whether the object is a person or an animal that is not tracked now and may be anywhere."""
        return self.entity is None and CategoryPriors().of(self.label).moves_by_itself

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Return the object's sightings, oldest first."""
        return tuple(sighting for stay in self.stays for sighting in stay.sightings)


@dataclass(frozen=True)
class Search:
    """Result of a search. things: objects that fit, best first. best_miss: best score of the others.

    memories: evidence that was read. rooms: regions that limit the search, None = anywhere. no_room: no
    region has the room name in the question. is_relaxed: part of the description was ignored, because its
    room or neighbour is unknown.
    """

    things: tuple[Thing, ...] = ()
    best_miss: float = 0.0
    memories: tuple[Memory, ...] = ()
    rooms: frozenset[int] | None = None
    no_room: bool = False
    is_relaxed: bool = False

    @property
    def best(self) -> Thing | None:
        """Return the best object, None if none fits."""
        return self.things[0] if self.things else None

    def here(self) -> Search:
        """Return the search without objects that are known to be gone."""
        return replace(self, things=tuple(thing for thing in self.things if not thing.is_gone))

    def rivals(self, close: float) -> tuple[Thing, ...]:
        """Return the objects whose score is within `close` of the best one, which is included."""
        return tuple(t for t in self.things if self.things[0].score - t.score < close)


@dataclass(frozen=True)
class History:
    """History of an object. stays: periods at one place each, oldest first, never empty.

    changes: events about the object, oldest first. inferred: two entities are assumed to be one object that
    moved. gone_at: stamp at which it was seen to be gone; None = present as far as known.
    """

    thing: Thing
    stays: tuple[Stay, ...]
    changes: tuple[Memory, ...] = ()
    inferred: bool = False
    gone_at: float | None = None

    def of_kind(self, kind: EventKind | None) -> list[Memory]:
        """Return the object's changes of a kind, oldest first."""
        return [memory for memory in self.changes if memory.event is kind]

    def span_of_change(self, kind: EventKind) -> tuple[float, float] | None:
        """Return (begin, end), seconds, around a change that sightings show; None = no such change."""
        stays = self.stays
        if kind is EventKind.MOVED and len(stays) > 1:
            return stays[-2].last, max(stays[-1].first, stays[-2].last)
        if kind is EventKind.VANISHED and self.thing.is_gone:
            return stays[-1].last, max(self.gone_at or stays[-1].last, stays[-1].last)
        if kind is EventKind.APPEARED:
            return stays[0].first, stays[0].first
        return None

    def noticed_as(self, kind: EventKind) -> EventKind | None:
        """Return the kind of the known change that a question about `kind` means; None if there is none.

        It is `kind` itself or one that a person cannot tell apart from it (`_CALLED_SO`).
        """
        for other in (kind, *_CALLED_SO[kind]):
            if self.of_kind(other):
                return other
            if EventKind.APPEARED not in (other, kind) and self.span_of_change(other) is not None:
                return other
        return kind if self.span_of_change(kind) is not None else None

    def last_before(self, event: Memory) -> float:
        """Return the stamp of the last sighting before a change; the change's own if none is known."""
        if event.event is EventKind.MOVED and len(self.stays) > 1:
            return min(self.stays[-2].last, event.start)
        ends = [s.memory.end for stay in self.stays for s in stay.sightings] + [s.last for s in self.stays]
        return max((end for end in ends if end <= event.start), default=event.start)

    def looks(self, gap: float) -> list[tuple[float, float]]:
        """Return the times (begin, end), seconds, in which the object was in view, oldest first.

        Gaps of up to `gap` seconds are joined.
        """
        times = [(s.memory.start, s.memory.end) for stay in self.stays for s in stay.sightings]
        last = max(stay.last for stay in self.stays)
        return spans_of([*(times or [(s.first, s.last) for s in self.stays]), (last, last)], gap)


@dataclass(frozen=True)
class RoomsMeant:
    """Rooms that a name refers to. ids: of the regions, empty if unknown. name: in the question's words.

    guessed: no region has this name; its meaning is close to a region's label or contents.
    """

    name: str
    ids: frozenset[int]
    guessed: bool = False


@dataclass(frozen=True)
class Visit:
    """Visit of the robot to a place, from begin to end, seconds. memories: made meanwhile, oldest first."""

    begin: float
    end: float
    memories: tuple[Memory, ...]

    @cached_property
    def span(self) -> tuple[float, float]:
        """Return the visit's (begin, end)."""
        return self.begin, self.end


def stays_of(sightings: Iterable[Sighting], moved: float) -> tuple[Stay, ...]:
    """Return the stays (periods at one place) of an object, oldest first, from its sightings.

    A box that grows with more observations is not a new place. moved: see `Box.has_left`.
    """
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
    """Return the name for an object, without punctuation and control characters.

    Captions and labels are untrusted.
    """
    written = sign_text(caption)  # stays in quotation marks
    if written:
        return f'"{words_only(written)}" {SIGN}'
    return words_only(caption) or words_only(label) or "thing"


def spans_of(times: Sequence[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Return the times (begin, end), seconds, oldest first; times at most `gap` seconds apart are joined."""
    joined: list[tuple[float, float]] = []
    for begin, end in sorted(times):
        if joined and begin - joined[-1][1] <= gap:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined
