"""Rooms that a question names, and when the robot was in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.language.items import Item
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.things import spans_of
from lodestar.memory.answering.tools import unit_rows
from lodestar.memory.records import Memory
from lodestar.memory.requests import Order, Request
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet
from lodestar.scene.captions import clean_text
from lodestar.scene.records import EntityState
from lodestar.scene.regions import is_called

GENERIC = frozenset({"room", "area", "place", "floor", "zone", "aisle", "part", "location", "section"})


@dataclass(frozen=True)
class RoomsMeant:
    """ids: regions that go by the name, none where nobody knows it. name: in the question's words.

    guessed: the name is near in meaning to what the regions are called or hold, and none is called so.
    """

    name: str
    ids: frozenset[int]
    guessed: bool = False


def rooms_meant(inquiry: Inquiry, item: Item | None) -> RoomsMeant | None:
    """Return the rooms that an item names, None where it is no room."""
    if item is None or not item.alternatives:
        return None
    names, lexicon = [], load_lexicon()
    for graph in item.best:
        target = graph.target
        called = [n for n in (target.phrase, target.category) if _is_label(inquiry, n)]
        room = lexicon.room_in(target.category) or lexicon.room(target.phrase)
        if room is None and _is_room(target.category):
            room = target.category
        if not called and (room is None or lexicon.canonical(target.phrase) is not None):
            return None
        names += called or [target.phrase, *([room] if room else [])]
    return rooms_named(inquiry, names, item.best[0].target.phrase)


def _is_room(category: str) -> bool:
    """Whether a noun that the lexicon does not have is a room: "kitchenette", "print room"."""
    if load_lexicon().canonical(category) is not None:
        return False
    return category.endswith(" room") or load_wordnet().is_a(category, "room")


def rooms_named(inquiry: Inquiry, names: Sequence[str], said: str = "") -> RoomsMeant:
    """Return the regions that go by one of these names; where none does, those whose label or contents mean nearly
    the same: "toilets" for a bathroom, "print room" for the room of the printer.
    """
    called = inquiry.rooms_called(names)
    regions = inquiry.tools.scene.regions
    named = RoomsMeant(said or (names[0] if names else ""), called)
    if called or not names or not regions:
        return named
    inside: dict[str, set[int]] = {}
    for region in regions.values():
        if region.label:
            inside.setdefault(clean_text(region.label), set()).add(region.id)
    if inquiry.tools.use_scene:
        for entity in inquiry.tools.scene.entities.values():
            if (
                entity.region_id in regions
                and entity.state is EntityState.ACTIVE
                and clean_text(entity.label)
            ):
                inside.setdefault(clean_text(entity.label), set()).add(entity.region_id)
    if not inside:
        return named
    words = list(inside)
    asked = unit_rows(inquiry.tools, [_kind_of_room(name) for name in names])
    cosines = (unit_rows(inquiry.tools, [_kind_of_room(word) for word in words]) @ asked.T).max(axis=1)
    best = int(cosines.argmax())
    if cosines[best] < inquiry.config.room:
        return named
    return RoomsMeant(named.name, frozenset(inside[words[best]]), guessed=True)


def _kind_of_room(name: str) -> str:
    """Return "print" of "print room": that both are rooms makes them no more alike."""
    return clean_text(name).removesuffix(" room")


def _is_label(inquiry: Inquiry, name: str) -> bool:
    return any(is_called(region, (name,)) for region in inquiry.tools.scene.regions.values())


def guess_factor(inquiry: Inquiry, rooms: RoomsMeant) -> float:
    """Return the factor of the confidence for rooms that may be the ones that are meant."""
    return inquiry.config.confidence.relaxed if rooms.guessed else 1.0


@dataclass(frozen=True)
class Visit:
    """The robot was in a room from begin to end, seconds. memories: of that time, oldest first."""

    begin: float
    end: float
    memories: tuple[Memory, ...]


def segments(inquiry: Inquiry) -> list[Memory]:
    """Return the segments of the window, oldest first, at most `AnsweringConfig.segments` of the newest."""
    found = inquiry.memories(
        Request(window=inquiry.window, limit=inquiry.config.segments, order=Order.NEWEST)
    )
    return sorted((m for m in found if m.event is None), key=lambda memory: memory.start)


def visits_of(inquiry: Inquiry, rooms: RoomsMeant) -> tuple[Visit, ...]:
    """Return when the robot was in these rooms, oldest first. It left where it was elsewhere, or nothing is known for
    `gap` seconds.
    """
    found: list[Visit] = []
    left = True
    for memory in segments(inquiry):
        if not is_in(inquiry, memory, rooms):
            left = True
            continue
        if found and not left and memory.start - found[-1].end <= inquiry.config.gap:
            before = found[-1]
            found[-1] = Visit(before.begin, max(before.end, memory.end), (*before.memories, memory))
        else:
            found.append(Visit(memory.start, memory.end, (memory,)))
        left = False
    return tuple(found)


def visits_around(inquiry: Inquiry, point: np.ndarray, radius: float) -> tuple[Visit, ...]:
    """Return when the robot was within `radius` metres of a place, oldest first."""
    x, y = (float(value) for value in np.asarray(point, float)[:2])
    found = inquiry.memories(
        Request(
            near=(x, y), radius=radius, window=inquiry.window, limit=inquiry.config.segments,
            order=Order.NEWEST,
        )
    )  # fmt: skip
    near = sorted((m for m in found if m.event is None), key=lambda memory: memory.start)
    spans = spans_of([(m.start, m.end) for m in near], inquiry.config.gap)
    return tuple(Visit(a, b, tuple(m for m in near if a <= m.start and m.end <= b)) for a, b in spans)


def is_in(inquiry: Inquiry, memory: Memory, rooms: RoomsMeant) -> bool:
    """Tell whether the robot was in one of the rooms: by the rooms of now, else by what the room was called then."""
    region = inquiry.region_at(memory.position)
    if region:
        return region in rooms.ids
    known = load_lexicon().room(memory.region) or memory.region.casefold()
    return bool(known) and known == (load_lexicon().room(rooms.name) or rooms.name.casefold())
