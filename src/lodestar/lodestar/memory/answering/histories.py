"""History of a thing: its places and their times, over its ids, moves and returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.item_search import sightings_in
from lodestar.memory.answering.things import Stay, Thing, entity_box, stays_of
from lodestar.memory.records import CHANGES, EventKind, Memory
from lodestar.memory.requests import Order, Request
from lodestar.models.kinship import looks_agree, same_kind
from lodestar.scene.records import Entity, EntityState


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

        What was carried away is gone from its place, what came was put there, and what was moved may have come as a
        new thing: a map that lost sight of it does not know that it is the same.
        """
        for other in (kind, *_CALLED_SO[kind]):
            if any(memory.event is other for memory in self.changes):
                return other
            if EventKind.APPEARED not in (other, kind) and self.span_of_change(other) is not None:
                return other
        return kind if self.span_of_change(kind) is not None else None


_CALLED_SO = {
    EventKind.MOVED: (EventKind.APPEARED, EventKind.VANISHED),
    EventKind.VANISHED: (EventKind.MOVED,),
    EventKind.APPEARED: (EventKind.MOVED,),
}


def history_of(inquiry: Inquiry, thing: Thing) -> History:
    """Return all that is known of a thing's places: its sightings, the scene's last look, events, and the entity that
    it was before it was moved where nobody watched. In a window, the stays that reach into it, else the one before.
    """
    if inquiry.window is None or not inquiry.tools.use_scene:
        return _whole_history(inquiry, thing)
    whole = _whole_history(inquiry.within(None), thing)
    begin, end = inquiry.window
    inside = tuple(_clipped(s, begin, end) for s in whole.stays if s.last >= begin and s.first <= end)
    before = tuple(s for s in whole.stays if s.last < begin)[-1:]
    changes = tuple(m for m in whole.changes if begin <= m.start <= end)
    gone_at = whole.gone_at if whole.gone_at is not None and whole.gone_at <= end else None
    stays = inside or before or whole.stays[:1]
    return History(thing, stays, changes, whole.inferred or not inside, gone_at)


def _clipped(stay: Stay, begin: float, end: float) -> Stay:
    seen = tuple(s for s in stay.sightings if s.memory.end >= begin and s.memory.start <= end)
    return Stay(seen[-1].box if seen else stay.box, max(stay.first, begin), min(stay.last, end), seen)


def _whole_history(inquiry: Inquiry, thing: Thing) -> History:
    ids = aliases(inquiry, thing.id)
    seen = sightings_in(inquiry, _memories(inquiry, thing, ids), {thing.id})
    stays = list(stays_of(seen, inquiry.config.moved) or thing.stays)
    inferred = False
    if thing.entity is not None:
        stays = _with_scene(stays, thing.entity, inquiry)
        before = _predecessor(inquiry, thing, stays[0].first)
        if before is not None:
            older = _with_scene(_sighted(inquiry, before), before, inquiry)
            fresh = older[-1].box.has_left(stays[0].box, inquiry.config.moved)
            inferred = fresh
            stays = [*older, *stays] if fresh else [*older[:-1], _joined(older[-1], stays[0]), *stays[1:]]
    changes = changes_of(inquiry, ids)
    gone = [m.start for m in changes if m.event is EventKind.VANISHED and m.start >= stays[-1].last - 1.0]
    moved_on = _successor(inquiry, thing) if thing.is_gone and not gone else None
    gone_at = gone[-1] if gone else (moved_on.first_seen if moved_on is not None else None)
    return History(thing, tuple(stays), changes, inferred, gone_at if thing.is_gone or gone else None)


def aliases(inquiry: Inquiry, identity: int) -> frozenset[int]:
    """Return every id that a thing had."""
    return inquiry.tools.scene.merged_into(identity)


def changes_of(inquiry: Inquiry, ids: frozenset[int]) -> tuple[Memory, ...]:
    """Return the events of appearing, moving and vanishing of these entities in the window, oldest first."""
    request = Request(
        entity_ids=ids, kinds=CHANGES, window=inquiry.window, limit=inquiry.config.events, order=Order.OLDEST
    )
    return tuple(inquiry.memories(request))


def _memories(inquiry: Inquiry, thing: Thing, ids: frozenset[int]) -> list[Memory]:
    half = max(1, inquiry.config.sightings // 2)
    newest = inquiry.memories(Request(entity_ids=ids, window=inquiry.window, limit=half, order=Order.NEWEST))
    if len(newest) < half:
        return newest
    oldest = inquiry.memories(Request(entity_ids=ids, window=inquiry.window, limit=half, order=Order.OLDEST))
    known = {memory.id: memory for memory in (*oldest, *newest)}
    return list(known.values())


def _sighted(inquiry: Inquiry, entity: Entity) -> list[Stay]:
    ids = aliases(inquiry, entity.id)
    memories = inquiry.memories(
        Request(entity_ids=ids, window=inquiry.window, limit=inquiry.config.sightings)
    )
    return list(stays_of(sightings_in(inquiry, memories, {entity.id}), inquiry.config.moved))


def _with_scene(stays: Sequence[Stay], entity: Entity, inquiry: Inquiry) -> list[Stay]:
    """Return the stays with what the scene knows: the exact time of the first and the last sight, the whole box."""
    box = entity_box(entity)
    first, last = min(entity.first_seen, entity.last_seen), entity.last_seen
    if not stays:
        return [Stay(box, min(first, last), last)]
    found = list(stays)
    if len(found) == 1 and first <= found[0].last:
        found[0] = replace(found[0], first=min(first, found[0].first))
    newest = found[-1]
    if box.has_left(newest.box, inquiry.config.moved):
        if last > newest.last:
            found.append(Stay(box, last, last))
    else:
        found[-1] = Stay(box, newest.first, max(newest.last, last), newest.sightings)
    return found


def _joined(one: Stay, other: Stay) -> Stay:
    sightings = (*one.sightings, *other.sightings)
    return Stay(other.box, min(one.first, other.first), max(one.last, other.last), sightings)


def _predecessor(inquiry: Inquiry, thing: Thing, first: float) -> Entity | None:
    """Return the given-up entity that this thing probably was: alike, last seen before this one was first seen, and
    the only such one.
    """
    if not inquiry.tools.use_scene or thing.is_gone or thing.entity is None:
        return None
    others = [e for e in _alike(inquiry, thing.entity) if e.state is EntityState.ARCHIVED]
    gone = [e for e in others if e.last_seen <= first]
    younger = [
        e for e in _alike(inquiry, thing.entity)
        if e.state is not EntityState.ARCHIVED and gone and e.first_seen >= gone[-1].last_seen
    ]  # fmt: skip
    return gone[0] if len(gone) == 1 and not younger else None


def _successor(inquiry: Inquiry, thing: Thing) -> Entity | None:
    """Return the entity that a given-up thing probably is now."""
    if not inquiry.tools.use_scene or thing.entity is None:
        return None
    entity = thing.entity
    found = [
        e for e in _alike(inquiry, entity)
        if e.state is not EntityState.ARCHIVED and e.first_seen >= entity.last_seen
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _alike(inquiry: Inquiry, entity: Entity) -> list[Entity]:
    return [
        e for e in inquiry.tools.scene.entities.values()
        if e.id != entity.id and same_kind(e.label, entity.label)
        and looks_agree((e.label, e.caption), (entity.label, entity.caption))
    ]  # fmt: skip
