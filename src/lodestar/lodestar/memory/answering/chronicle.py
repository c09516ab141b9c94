"""Histories for one question: stays and changes of objects, and visits of the robot, under current ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from lodestar.memory.answering.config import ANSWERING_GAP, ANSWERING_MOVED, ANSWERING_SEGMENTS
from lodestar.memory.answering.records import (
    Box,
    History,
    RoomsMeant,
    Sighting,
    Stay,
    Thing,
    Visit,
    name_in_words,
    spans_of,
    stays_of,
)
from lodestar.memory.answering.tools import Tools
from lodestar.memory.records import CHANGES, SEEN, EventKind, Memory
from lodestar.memory.requests import Order, Request
from lodestar.models.kinship import looks_agree, same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.captions import attributes_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState

ANSWERING_SIGHTINGS = 2_000  # most memories of one object that are read; chosen
ANSWERING_EVENTS = 500  # most memories of events that are read; chosen


class Chronicle:
    """Stays (periods at one place) and changes of objects, and visits of the robot, as known to one question.

    Results are cached. Merged objects are one, under the current id. With a time window, histories are
    clipped to it and only memories in it are read. If the scene dictionary may not be used, all data comes
    from the memories selected as evidence. memories: returns the memories that pass a request without search
    phrases. whole: returns the same chronicle without a window.
    """

    def __init__(
        self,
        tools: Tools,
        window: tuple[float, float] | None,
        memories: Callable[[Request], list[Memory]],
        whole: Callable[[], Chronicle],
    ) -> None:
        self._scene, self._by_scene = tools.scene, tools.use_scene
        self._window = window
        self._memories, self._without_window = memories, whole
        self._histories: dict[int, History] = {}

    # --- stays of objects --------------------------------------------------------------------------------------

    def history(self, thing: Thing) -> History:
        """Return the stays and changes of an object, and the time at which it was seen to be gone.

        If the object was probably known as another entity before somebody moved it unseen, that entity's
        stays come first. With a time window, only stays that overlap it are returned, or else the last one
        before it.
        """
        known = self._histories.get(thing.id)
        if known is None:
            known = self._histories[thing.id] = self._in_window(thing)
        return known

    def _in_window(self, thing: Thing) -> History:
        window = self._window
        if window is None or not self._by_scene:
            return self._whole(thing)
        begin, end = window
        whole = self._without_window().history(thing)
        inside = tuple(_clipped(s, begin, end) for s in whole.stays if s.last >= begin and s.first <= end)
        before = tuple(s for s in whole.stays if s.last < begin)[-1:]
        changes = tuple(m for m in whole.changes if begin <= m.start <= end)
        gone_at = whole.gone_at if whole.gone_at is not None and whole.gone_at <= end else None
        stays = inside or before or whole.stays[:1]
        return History(thing, stays, changes, whole.inferred or not inside, gone_at)

    def _whole(self, thing: Thing) -> History:
        stays = self._stays(thing.id, thing.entity) or list(thing.stays)
        inferred = False
        before = self._before(thing, stays[0].first)
        if before is not None:
            older = self._stays(before.id, before)
            inferred = older[-1].box.has_left(stays[0].box, ANSWERING_MOVED)
            stays = [*older, *stays] if inferred else [*older[:-1], _joined(older[-1], stays[0]), *stays[1:]]
        changes = self.changes(thing.id)
        seen_gone = [
            m.start for m in changes if m.event is EventKind.VANISHED and m.start >= stays[-1].last - 1.0
        ]
        gone_at = seen_gone[-1] if seen_gone else None
        if thing.is_gone and gone_at is None:
            after = self._after(thing)
            gone_at = None if after is None else after.first_seen
        return History(thing, tuple(stays), changes, inferred, gone_at)

    def _stays(self, identity: int, entity: Entity | None) -> list[Stay]:
        """Return an object's stays, from memories and from the exact times and box of its scene entity."""
        seen = sightings_in(self._scene, self._memories_of(identity), {identity})
        stays = list(stays_of(seen, ANSWERING_MOVED))
        if entity is None:
            return stays
        box, first, last = Box.of_entity(entity), min(entity.first_seen, entity.last_seen), entity.last_seen
        if not stays:
            return [Stay(box, first, last)]
        if len(stays) == 1 and first <= stays[0].last:
            stays[0] = replace(stays[0], first=min(first, stays[0].first))
        newest = stays[-1]
        if not box.has_left(newest.box, ANSWERING_MOVED):
            stays[-1] = replace(newest, box=box, last=max(newest.last, last))
        elif last > newest.last:
            stays.append(Stay(box, last, last))
        return stays

    def _memories_of(self, identity: int) -> list[Memory]:
        """Return the newest and the oldest memories of an object."""
        half = max(1, ANSWERING_SIGHTINGS // 2)
        request = Request(entity_ids=self._scene.merged_into(identity), window=self._window, limit=half)
        newest = self._memories(request)
        if len(newest) < half:
            return newest
        oldest = self._memories(replace(request, order=Order.OLDEST))
        return list({memory.id: memory for memory in (*oldest, *newest)}.values())

    def _before(self, thing: Thing, first: float) -> Entity | None:
        """Return the archived entity that this object was before a move; None unless just one is likely.

        It looks alike and was last seen before this object was first seen.
        """
        if thing.is_gone:
            return None
        kin = self._alike(thing)
        gone = [e for e in kin if e.state is EntityState.ARCHIVED and e.last_seen <= first]
        if len(gone) != 1:
            return None
        rivals = [e for e in kin if e.state is not EntityState.ARCHIVED and e.first_seen >= gone[0].last_seen]
        return None if rivals else gone[0]

    def _after(self, thing: Thing) -> Entity | None:
        """Return the entity that an archived object probably is now; None unless just one fits."""
        found = [
            e for e in self._alike(thing)
            if e.state is not EntityState.ARCHIVED and thing.entity and e.first_seen >= thing.entity.last_seen
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _alike(self, thing: Thing) -> list[Entity]:
        own = thing.entity
        if own is None or not self._by_scene:
            return []
        return [
            e for e in self._scene.entities.values()
            if e.id != own.id and same_kind(e.label, own.label)
            and looks_agree((e.label, e.caption), (own.label, own.caption))
        ]  # fmt: skip

    # --- changes of objects ------------------------------------------------------------------------------------

    def changes(self, identity: int) -> tuple[Memory, ...]:
        """Return an object's appearing, moving and vanishing events in the window, oldest first."""
        return tuple(self.events(CHANGES, self._scene.merged_into(identity)))

    def events(self, kinds: Iterable[EventKind], ids: frozenset[int] = frozenset()) -> list[Memory]:
        """Return the events of these kinds in the window, oldest first; if `ids` is given, of these entities only."""
        request = Request(kinds=frozenset(kinds), entity_ids=ids, window=self._window, limit=ANSWERING_EVENTS)
        return list(reversed(self._memories(request)))

    def left_places(self) -> tuple[list[Entity], dict[int, int]]:
        """Return copies of entities at their former places, and a dict: id of the copy -> id of the entity.

        Ids of copies are negative. They are copies of archived entities, and entities that a MOVED event
        reports at another place.
        """
        scene = self._scene
        old: list[Entity] = []
        own: dict[int, int] = {}

        def stood(then: Entity) -> None:
            old.append(replace(then, id=-len(own) - 1, state=EntityState.ACTIVE))
            own[old[-1].id] = then.id

        for entity in scene.entities.values():
            if entity.state is EntityState.ARCHIVED:
                stood(entity)
        for memory in reversed(self.events((EventKind.MOVED,))):
            start = memory.place_of("from")
            moved = next((e for e in map(scene.get, memory.entity_ids) if e is not None), None)
            if start is None or moved is None:
                continue
            now = Box.of_entity(moved)
            then = Box.around(start, now.high - now.low)
            region = self._scene.region_at(start)
            stood(replace(moved, mean=start, box_min=then.low, box_max=then.high, region_id=region))
        return old, own

    # --- visits ------------------------------------------------------------------------------------------------

    @cached_property
    def segments(self) -> list[Memory]:
        """Return the window's segments, oldest first; at most the newest ANSWERING_SEGMENTS."""
        return self._segments(Request(window=self._window, limit=ANSWERING_SEGMENTS))

    def _segments(self, request: Request) -> list[Memory]:
        found = (memory for memory in self._memories(request) if memory.event is None)
        return sorted(found, key=lambda memory: memory.start)

    @property
    def driven(self) -> float:
        """Return the length of the robot's path, metres, through its positions in the segments."""
        places = np.array([memory.position[:2] for memory in self.segments])
        return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())

    def visits(self, rooms: RoomsMeant) -> tuple[Visit, ...]:
        """Return the robot's visits to these rooms, oldest first.

        A visit ends when the robot was elsewhere, or after ANSWERING_GAP seconds without data.
        """
        stays: list[list[Memory]] = []
        left, end = True, 0.0
        for memory in self.segments:
            if not self._is_in(memory, rooms):
                left = True
                continue
            if left or memory.start - end > ANSWERING_GAP:
                stays.append([])
                end = memory.end
            stays[-1].append(memory)
            left, end = False, max(end, memory.end)
        return tuple(Visit(stay[0].start, max(m.end for m in stay), tuple(stay)) for stay in stays)

    def visits_around(self, point: np.ndarray, radius: float) -> tuple[Visit, ...]:
        """Return the robot's visits within `radius` metres of a place, oldest first."""
        x, y = (float(value) for value in np.asarray(point, float)[:2])
        limit = ANSWERING_SEGMENTS
        near = self._segments(Request(near=(x, y), radius=radius, window=self._window, limit=limit))
        spans = spans_of([(m.start, m.end) for m in near], ANSWERING_GAP)
        return tuple(Visit(a, b, tuple(m for m in near if a <= m.start and m.end <= b)) for a, b in spans)

    def _is_in(self, memory: Memory, rooms: RoomsMeant) -> bool:
        """Return whether the robot was in one of the rooms when the memory was made.

        The current regions of the map decide, or else the name of the room at that time.
        """
        region = self._scene.region_at(memory.position)
        if region:
            return region in rooms.ids
        known = load_lexicon().room(memory.region) or memory.region.casefold()
        return bool(known) and known == (load_lexicon().room(rooms.name) or rooms.name.casefold())


def sightings_in(scene: SceneMirror, memories: Iterable[Memory], ids: Iterable[int]) -> list[Sighting]:
    """Return the sightings of these entities, also those under an id from before a merge."""
    wanted, resolve = set(ids), scene.resolve
    return [
        Sighting(memory, primitive)
        for memory in memories
        if memory.event in SEEN
        for primitive in memory.primitives
        if resolve(primitive.entity_id) in wanted and np.isfinite([primitive.centre, primitive.size]).all()
    ]


def thing_of_sightings(
    identity: int, seen: Sequence[Sighting], score: float, moved: float, entity: Entity | None = None
) -> Thing:
    """Return an object built from its sightings.

    moved: metres in plan beyond which two sightings are at different places. entity: its scene entity, None =
    unknown.
    """
    last = max(seen, key=lambda sighting: sighting.memory.start).primitive
    name, label = name_in_words(last.caption, last.label), name_in_words("", last.label)
    looks = attributes_of(last.caption) if entity is None else entity.attributes
    return Thing(identity, name, label, score, stays_of(seen, moved), entity, looks)


def _clipped(stay: Stay, begin: float, end: float) -> Stay:
    seen = tuple(s for s in stay.sightings if s.memory.end >= begin and s.memory.start <= end)
    return Stay(seen[-1].box if seen else stay.box, max(stay.first, begin), min(stay.last, end), seen)


def _joined(one: Stay, other: Stay) -> Stay:
    sightings = (*one.sightings, *other.sightings)
    return Stay(other.box, min(one.first, other.first), max(one.last, other.last), sightings)
