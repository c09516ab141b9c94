"""Questions about a number of objects, an attribute, a room or a set of objects."""

from __future__ import annotations

from collections.abc import Iterator

from lodestar_eval.memory_qa.drafts import Draft, Forms, Maker, is_named, spans_of
from lodestar_eval.memory_qa.questions import NUMBER, WORDS, Gold
from lodestar_eval.memory_qa.truth import Stay
from lodestar_eval.memory_qa.wordings import plural
from lodestar_sim.reference_truth import is_class

_MOST = 8  # most objects that a question may ask to count
_TOLD = ("whiteboard", "plant")  # categories whose name implies the colour


def counting_forms(maker: Maker) -> Forms:
    """Return drafts of questions about a number of objects, by form of question."""
    return {
        "count_room": _several_first(_count_room(maker)),
        "count_all": _count_all(maker),
        "count_on": _several_first(_count_on(maker)),
    }


def descriptive_forms(maker: Maker) -> Forms:
    """Return drafts answered by words (attributes, rooms, or a set of objects), by form of question."""
    return {
        "color": _color(maker),
        "room_of": _room_of(maker),
        "on_what": _on_what(maker),
        "support_of": _support_of(maker),
        "gone_from": _gone_from(maker),
    }


def _number(maker: Maker, stays: list[Stay]) -> Gold:
    return Gold(NUMBER, number=float(len(stays)), seen=spans_of(maker, stays))


def _words(maker: Maker, words: set[str], stays: list[Stay]) -> Gold:
    return Gold(WORDS, words=frozenset(words), seen=spans_of(maker, stays))


def _several_first(drafts: Iterator[Draft]) -> Iterator[Draft]:
    """Yield first the counting questions whose answer is above one, then the others."""
    single = []
    for draft in drafts:
        if draft.gold.number > 1.0:
            yield draft
        else:
            single.append(draft)
    yield from single


def _count_room(maker: Maker) -> Iterator[Draft]:
    for room in maker.own_rooms():
        for category in maker.kinds_in([s for s in maker.present if s.room == room.id]):
            inside = [s for s in maker.ever(category) if s.room == room.id]
            sure = all(
                maker.truth.known(s)
                and maker.truth.standing(s)
                and s.start == 0.0
                and is_class(s.thing, category)
                for s in inside
            )
            if sure and 1 <= len(inside) <= _MOST:
                slots = {"plural": plural(category), "room": room.label}
                yield Draft("count_room", slots, _number(maker, inside), tuple(s.thing.id for s in inside))


def _count_all(maker: Maker) -> Iterator[Draft]:
    for category in maker.kinds_in(maker.present):
        stays = maker.visible_at_end(category)
        if stays is not None and 1 < len(stays) <= _MOST:
            things = tuple(s.thing.id for s in stays)
            yield Draft("count_all", {"plural": plural(category)}, _number(maker, stays), things)


def _count_on(maker: Maker) -> Iterator[Draft]:
    for base, words, things in maker.supports():
        for category in maker.kinds_in(things):
            chosen = [s for s in things if is_class(s.thing, category)]
            slots = {"plural": plural(category), "support": words}
            yield Draft("count_on", slots, _number(maker, chosen), (base.thing.id,))


def _color(maker: Maker) -> Iterator[Draft]:
    colored = [s for s in maker.present if maker.descriptions.has_color(s) and s.thing.category not in _TOLD]
    for stay, words in maker.descriptions.phrased(colored, colored=False):
        gold = _words(maker, {stay.thing.color}, [stay])
        if gold.seen:
            yield Draft("color", {"thing": words}, gold, (stay.thing.id,))


def _room_of(maker: Maker) -> Iterator[Draft]:
    for stay, words in maker.descriptions.phrased([s for s in maker.present if s.room_label], room=False):
        gold = _words(maker, {stay.room_label}, [stay])
        if gold.seen and stay.room_label not in words:
            yield Draft("room_of", {"thing": words}, gold, (stay.thing.id,))


def _on_what(maker: Maker) -> Iterator[Draft]:
    for base, words, things in maker.supports():
        gold = _words(maker, {s.thing.category for s in things}, things)
        if gold.seen and len(things) <= 4:
            yield Draft("on_what", {"support": words}, gold, (base.thing.id,))


def _support_of(maker: Maker) -> Iterator[Draft]:
    resting = [s for s in maker.present if s.thing.supported_by and not s.thing.contained_in and is_named(s)]
    for stay, words in maker.descriptions.phrased(resting, rest=False):
        support = maker.descriptions.support(stay)
        gold = _words(maker, {support.thing.category} if support else set(), [stay])
        if support is not None and gold.seen:
            yield Draft("support_of", {"thing": words}, gold, (stay.thing.id,))


def _gone_from(maker: Maker) -> Iterator[Draft]:
    """Yield questions about the categories of the objects that were taken from a room."""
    gone: dict[int, list[Stay]] = {}
    for event in maker.truth.world.events:
        if event.kind in ("remove", "move"):
            first, last = maker.truth.stays[event.object_id][0], maker.truth.stays[event.object_id][-1]
            if event.kind == "remove" or last.room != first.room:
                gone.setdefault(first.room, []).append(first)
    for room in maker.own_rooms():
        stays = gone.get(room.id, [])
        if stays and all(maker.truth.known(s) for s in stays) and len(stays) <= 3:
            gold = _words(maker, {s.thing.category for s in stays}, stays)
            yield Draft("gone_from", {"room": room.label}, gold, tuple(s.thing.id for s in stays))
