"""Yes-or-no questions; each form of question has as many answers yes as no, if the world allows it."""

from __future__ import annotations

from collections.abc import Iterator

from lodestar.models.english import with_article
from lodestar_eval.memory_qa.drafts import Draft, Forms, Maker, is_named, spans_of
from lodestar_eval.memory_qa.questions import YES_NO, Gold
from lodestar_eval.memory_qa.truth import Interval
from lodestar_sim.reference_truth import confusable
from lodestar_sim.worlds.catalogue import CATALOGUE

#: Rooms that such buildings may have; questions about a missing one have the answer no.
_ROOMS = (
    "kitchen",
    "kitchenette",
    "server room",
    "meeting room",
    "storage room",
    "workshop",
    "toilets",
    "print room",
)
_FEW = 3  # most objects that make the answer yes; with more the question is trivial


def yes_forms(maker: Maker) -> Forms:
    """Return drafts of questions with the answer yes, by form of question."""
    return {
        "saw": _saw(maker),
        "in_room": _in_room(maker),
        "on_thing": _on_thing(maker),
        "still": _still(maker),
        "moved": _moved(maker),
        "been": _been(maker),
    }


def no_forms(maker: Maker) -> Forms:
    """Return drafts of questions with the answer no, about plausible missing objects, by form of question."""
    return {
        "saw": _never_saw(maker),
        "in_room": _not_in_room(maker),
        "on_thing": _not_on_thing(maker),
        "still": _no_longer(maker),
        "moved": _not_moved(maker),
        "been": _never_been(maker),
    }


def _gold(yes: bool, seen: tuple[Interval, ...] = ()) -> Gold:
    return Gold(YES_NO, yes=yes, seen=seen)


def _saw(maker: Maker) -> Iterator[Draft]:
    for stay in maker.seen_last:
        alike = [s for s in maker.truth.all_stays if s.thing.caption == stay.thing.caption]
        seen = spans_of(maker, alike)
        if seen and len(alike) <= _FEW:
            yield Draft(
                "saw", {"a_thing": with_article(stay.thing.caption)}, _gold(True, seen), (stay.thing.id,)
            )


def _never_saw(maker: Maker) -> Iterator[Draft]:
    """Yield questions about objects in a colour that the building lacks, and about missing categories, alternately."""
    there = {s.thing.category for s in maker.truth.all_stays}
    missing = maker.shuffled(
        [n for n in sorted(CATALOGUE) if not n.endswith("s") and not any(confusable(n, c) for c in there)]
    )
    for stay in maker.seen_last:
        colors = [c for c in CATALOGUE[stay.thing.category].colors if c != stay.thing.color]
        taken = {s.thing.color for s in maker.ever(stay.thing.category)}
        free = [c for c in colors if c not in taken]
        if free and maker.descriptions.has_color(stay):
            name = stay.thing.caption.replace(stay.thing.color, free[int(maker.rng.integers(len(free)))], 1)
            yield Draft("saw", {"a_thing": with_article(name)}, _gold(False))
        if missing:
            yield Draft("saw", {"a_thing": with_article(missing.pop())}, _gold(False))


def _in_room(maker: Maker) -> Iterator[Draft]:
    rooms = {room.id: room for room in maker.own_rooms()}
    for stay in maker.present:
        if stay.room in rooms and spans_of(maker, [stay]):
            slots = {"a_thing": with_article(stay.thing.category), "room": rooms[stay.room].label}
            alike = [s for s in maker.ever(stay.thing.category) if s.room == stay.room]
            if len(alike) <= _FEW:
                yield Draft("in_room", slots, _gold(True, spans_of(maker, alike)), (stay.thing.id,))


def _not_in_room(maker: Maker) -> Iterator[Draft]:
    for room in maker.own_rooms() * 4:
        categories = [
            c for c in maker.kinds_in(maker.present) if not any(s.room == room.id for s in maker.ever(c))
        ]
        if categories:
            slots = {"a_thing": with_article(categories[0]), "room": room.label}
            yield Draft("in_room", slots, _gold(False))


def _on_thing(maker: Maker) -> Iterator[Draft]:
    for _, words, things in maker.supports():
        named = [s for s in things if is_named(s)]
        if named and spans_of(maker, named[:1]):
            slots = {"a_thing": with_article(named[0].thing.category), "support": words}
            yield Draft("on_thing", slots, _gold(True, spans_of(maker, named[:1])), (named[0].thing.id,))


def _not_on_thing(maker: Maker) -> Iterator[Draft]:
    for base, words, things in maker.supports():
        small = [s for s in maker.present if s.thing.supported_by and s.thing.supported_by != base.thing.id]
        free = [
            c
            for c in maker.kinds_in(small)
            if not any(confusable(s.thing.category, c) for s in (*things, base))
        ]
        if free:
            slots = {"a_thing": with_article(free[0]), "support": words}
            yield Draft("on_thing", slots, _gold(False), (base.thing.id,))


def _still(maker: Maker) -> Iterator[Draft]:
    half = maker.truth.end / 2.0
    loose = [s for s in maker.unchanged if s.thing.movable]
    for stay, words in maker.descriptions.phrased(loose):
        seen = spans_of(maker, [stay])
        if any(a < half for a, _ in seen) and any(b > half for _, b in seen):
            yield Draft("still", {"thing": words}, _gold(True, seen), (stay.thing.id,))


def _no_longer(maker: Maker) -> Iterator[Draft]:
    for kind in ("remove", "move"):
        for _, stays in maker.changes(kind):
            words = maker.attribute_phrase(stays[0]) or maker.descriptions.phrase(stays[0])
            if words:
                yield Draft(
                    "still", {"thing": words}, _gold(False, spans_of(maker, stays)), (stays[0].thing.id,)
                )


def _moved(maker: Maker) -> Iterator[Draft]:
    for _, stays in maker.changes("move"):
        words = maker.attribute_phrase(stays[0]) or maker.descriptions.phrase(stays[0])
        if words:
            yield Draft("moved", {"thing": words}, _gold(True, spans_of(maker, stays)), (stays[0].thing.id,))


def _not_moved(maker: Maker) -> Iterator[Draft]:
    for draft in _still(maker):
        yield Draft("moved", draft.slots, _gold(False, draft.gold.seen), draft.things)


def _been(maker: Maker) -> Iterator[Draft]:
    for room in maker.own_rooms():
        spans = tuple((a, b) for r, a, b in maker.truth.visits if r == room.id)
        yield Draft("been", {"room": room.label}, _gold(True, spans))


def _never_been(maker: Maker) -> Iterator[Draft]:
    there = {room.label for room in maker.truth.world.rooms}
    absent = [r for r in _ROOMS if not any(r in label or label in r for label in there)]
    for label in maker.shuffled(absent):
        yield Draft("been", {"room": label}, _gold(False))
