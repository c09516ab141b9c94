"""Answers about the contents of a place, the choice of an object, counts, and an object's appearance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from lodestar.language.asked_items import plain_item, with_asked
from lodestar.language.directive import Step, StepKind
from lodestar.language.item_words import graph_words, plural, scope_words
from lodestar.language.items import Item
from lodestar.language.sentences import step_sentence
from lodestar.memory.answer import Answer
from lodestar.memory.answering.config import ANSWERING_LISTED
from lodestar.memory.answering.coverage import Coverage
from lodestar.memory.answering.happenings import changes_there, regions_of
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import rooms_named
from lodestar.memory.answering.records import Box, Search, Thing, name_in_words
from lodestar.memory.answering.replies import (
    ANYTHING,
    coverage_in_words,
    directive_to_find,
    floor_seen,
    not_seen,
    proofs_of_memories,
    proofs_of_things,
    quoted,
    reply,
    unknown,
)
from lodestar.memory.answering.selection import When, find, when_asked
from lodestar.memory.answering.subjects import About, Meant, Rooms, shown_things
from lodestar.memory.answering.wording import ago_in_words, place_in_words, support_of
from lodestar.memory.records import EventKind
from lodestar.memory.requests import Order, Request
from lodestar.models.english import listed, number_in_words, the, with_article
from lodestar.models.kinship import same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar.query.config import QUERY_AMBIGUOUS
from lodestar.scene.records import EntityState

_GROUPS = {
    "color": "colors",
    "colour": "colors",
    "material": "materials",
    "size": "sizes",
    "texture": "materials",
}
_SIGNS = 4  # most texts of signs quoted in an answer
_KIND = ("kind", "name", "type", "object")


# --- contents of a place -------------------------------------------------------------------------------------------


def what_is_in(rooms: Rooms) -> Answer:
    """Return an answer with the objects in a room."""
    search = find(rooms.inquiry, ANYTHING)
    inside = [t for t in search.things if rooms.inquiry.region_at(t.box.centre) in rooms.meant.ids]
    return _what(About(rooms.inquiry, ANYTHING), inside, rooms.meant.ids, rooms.visits.where)


def what_is_there(about: About) -> Answer:
    """Return an answer with the objects on or near something, or in the rooms that the question names."""
    search = find(about.inquiry, about.item, when_asked(about.inquiry))
    if search.no_room:
        return not_seen(about.inquiry, about.item, search)
    anchors = {graph.target.category for graph in about.item.neighbor_graphs}
    kept = [t for t in search.things if not any(same_kind(t.label, anchor) for anchor in anchors)]
    return _what(about, kept or search.things, search.rooms)


def _what(about: About, things: Sequence[Thing], rooms: frozenset[int] | None, words: str = "") -> Answer:
    inquiry, item, structure = about.inquiry, about.item, load_lexicon().structure
    things = [t for t in things if t.label.casefold() not in structure]
    gone = [t for t in things if t.is_gone and not inquiry.question.past]
    things = [t for t in things if t not in gone]
    words = words or (_relation_words(item) if item.neighbors else "")
    words = words or scope_words(inquiry.question.scope).strip() or "there"
    if gone and not things:
        return Meant(inquiry, Search((gone[0],))).gone_since()
    if not things:
        seen, directive = floor_seen(inquiry, rooms), directive_to_find(None, inquiry.question.scope)
        if seen is None:
            return unknown(inquiry, f"I know of nothing {words}", directive)
        sentence = f"I have seen nothing {words}. {coverage_in_words(inquiry, seen)}"
        return reply(inquiry, sentence, 0.5 * seen.share, coverage=seen, directive=directive)
    verb, last = "I saw" if inquiry.question.past else "I know of", max(thing.last for thing in things)
    names = listed(_counted([t.name for t in things], ANSWERING_LISTED))
    sentence = f"{verb} {names} {words}, last seen {ago_in_words(last, inquiry.now)}."
    sure = min(Meant(inquiry, Search((t,))).sure() for t in things[:3])
    shown = {**shown_things(inquiry, things), "verified": last}
    return reply(inquiry, sentence, sure, names=[t.label for t in things], number=float(len(things)), **shown)


def _relation_words(item: Item) -> str:
    graph = item.best[0]
    return graph_words(graph, "").removeprefix(graph.target.phrase).strip()


def what_is_in_view(inquiry: Inquiry) -> Answer:
    """Return an answer with the objects in the newest segment of the time window."""
    request = Request(window=inquiry.window, limit=20, order=Order.NEWEST)
    memory = next((m for m in inquiry.memories(request) if m.event is None), None)
    if memory is None:
        return unknown(inquiry, "I remember nothing that I saw then")
    names = _counted([name_in_words(p.caption, p.label) for p in memory.primitives])
    said = listed(names) or quoted(inquiry, memory.text)
    return reply(
        inquiry, f"{said}, {ago_in_words(memory.end, inquiry.now)}.", 0.9,
        names=[name_in_words("", p.label) for p in memory.primitives],
        proof=proofs_of_memories((memory,)), verified=memory.end,
    )  # fmt: skip


def what_is_gone(inquiry: Inquiry) -> Answer:
    """Return an answer with the objects that are gone, newest first: from the rooms named, or from anywhere.

    If the question names a kind, only objects of that kind are listed.
    """
    question = inquiry.question
    item = question.item if question.item is not None and question.item.alternatives else None
    if item is not None and item.neighbors:
        return unknown(inquiry, "I keep what went missing by rooms; ask what is gone from a room")
    labels = question.scope.labels
    rooms = rooms_named(inquiry, labels).ids
    if labels and not rooms:
        return not_seen(inquiry, ANYTHING, Search(no_room=True))
    events = [
        memory
        for memory in changes_there(inquiry)
        if memory.event in (EventKind.VANISHED, EventKind.MOVED)
        and (not rooms or rooms & set(regions_of(inquiry, memory)[:1]))
        and _is_of_kind(memory.facts.get("label", ""), item)
    ]
    given_up = [
        Thing.of_entity(entity)
        for entity in (inquiry.tools.scene.entities.values() if inquiry.tools.use_scene else ())
        if entity.state is EntityState.ARCHIVED
        and (not rooms or inquiry.region_at(Box.of_entity(entity).centre) in rooms)
        and _is_of_kind(entity.label, item)
    ]
    given_up.sort(key=lambda thing: -thing.last)
    named = [name_in_words("", m.facts.get("label", "")) for m in events]
    names = list(dict.fromkeys([*named, *(thing.label for thing in given_up)]))
    if not names:
        return unknown(inquiry, "I have not noticed that anything is gone from there")
    proof = [*proofs_of_memories(reversed(events)), *proofs_of_things(given_up)]
    verified = max([*(m.end for m in events), *(t.last for t in given_up)])
    said = listed([the(name) for name in names[:ANSWERING_LISTED]])
    sentence = f"{said}: gone since {ago_in_words(verified, inquiry.now)} at the latest."
    return reply(inquiry, sentence, 0.8 if events else 0.6, names=names, proof=proof, verified=verified)


def _is_of_kind(label: str, item: Item | None) -> bool:
    lexicon = load_lexicon()
    return item is None or any(
        lexicon.is_generic(graph.target.category) or same_kind(label, graph.target.category)
        for graph in item.best
    )


def _counted(names: Sequence[str], most: int = 8) -> list[str]:
    counts = Counter(names).most_common(most)
    return [with_article(n) if k == 1 else f"{number_in_words(k)} {plural(n)}" for n, k in counts]


# --- choice and appearance -----------------------------------------------------------------------------------------


def which(it: Meant) -> Answer:
    """Return an answer with the object that fits the description, and the number of others that fit."""
    if it.left_out:
        return it.gone_since()
    inquiry = it.inquiry
    fitting = it.search.rivals(QUERY_AMBIGUOUS)
    more = f"; {number_in_words(len(fitting) - 1)} more fit" if len(fitting) > 1 else ""
    sentence = f"{it.a} {it.where}{more}, last seen {it.last}."
    return reply(
        inquiry, sentence, it.sure(), names=[t.label for t in fitting], **shown_things(inquiry, fitting)
    )


def attribute(it: Meant) -> Answer:
    """Return an answer with a property of the object: a colour, a material, its kind, or its description."""
    asked, best = it.inquiry.question.attribute, it.best
    values = _values(asked, best)
    if not values and asked in _GROUPS:
        return unknown(it.inquiry, f"I know {it.the} {it.where}, and not its {asked}", proof=it.proof)
    sure, described = it.sure(), listed(values) if values else it.a
    sentence = f"{it.the} {it.where}: {described}"
    if not values and asked not in _KIND:
        sentence = f"I know {it.the} {it.where} only as {quoted(it.inquiry, best.name)}"
        sure *= 0.5
    names = values or (best.label, *best.attributes)
    return reply(it.inquiry, f"{sentence}, last seen {it.last}.", sure, names=names, **it.shown())


def text(it: Meant) -> Answer:
    """Return an answer that quotes the texts of signs, best match first."""
    signs = it.search.things[:_SIGNS]
    said = [thing.written for thing in signs]
    first, *others = [quoted(it.inquiry, words) for words in said]
    more = f"; another says {'; another says '.join(others)}" if others else ""
    left = f"; {len(it.search.things) - len(signs)} more fit" if len(it.search.things) > len(signs) else ""
    sentence = f"The sign {it.where} says {first}{more}{left}, last seen {it.last}."
    return reply(it.inquiry, sentence, it.sure(alone=True), names=said, **shown_things(it.inquiry, signs))


def _values(asked: str, thing: Thing) -> list[str]:
    """Return the object's attributes of the group in question, such as colours."""
    lexicon = load_lexicon()
    group = _GROUPS.get(asked)
    if group is None:
        return []
    known: Iterable[str] = (*thing.attributes, *lexicon.attributes_in(thing.name))
    return [a for a in dict.fromkeys(known) if lexicon.attribute_group.get(a) == group]


def support(it: Meant) -> Answer:
    """Return an answer with the object or place that supports or contains the object."""
    held_by, sure, shown = support_of(it.inquiry, it.best.box, it.best), it.sure(), it.shown()
    if held_by is None:
        names, said = ["floor"], "the floor, as far as I saw"
        sure *= 0.6
    else:
        names = [name_in_words("", held_by.label)]
        said = with_article(name_in_words(held_by.caption, held_by.label))
        shown["proof"] += proofs_of_things((Thing.of_entity(held_by),))
    sentence = f"{it.the} {'was' if it.best.is_gone else 'is'} on {said}, last seen {it.last}."
    return reply(it.inquiry, sentence, sure, names=names, **shown)


def either(about: About) -> Answer:
    """Return an answer with the alternative that holds: "open" for "open or closed"."""
    inquiry, item, question = about.inquiry, about.item, about.inquiry.question
    found: list[tuple[float, str, Search]] = []
    for predicate in question.asked:
        search = find(inquiry, with_asked(item, (predicate,)), When.PAST if question.past else When.KNOWN)
        said = predicate.value or item.best[0].variables[predicate.arguments[-1]].phrase
        if search.best is not None:
            found.append((search.best.score, said, search))
    if not found:
        return not_seen(inquiry, plain_item(item), Search())
    found.sort(key=lambda entry: -entry[0])
    score, said, search = found[0]
    it, close = (Meant(inquiry, search), len(found) > 1 and score - found[1][0] < QUERY_AMBIGUOUS)
    sure = it.sure() * (0.5 if close else 1.0)
    return reply(inquiry, f"{it.the}: {said}, last seen {it.last}.", sure, names=[said], **it.shown())


# --- counts --------------------------------------------------------------------------------------------------------


def how_many_rooms(rooms: Rooms) -> Answer:
    """Return an answer with the number of rooms of that name."""
    count, name, inquiry = len(rooms.meant.ids), rooms.meant.name, rooms.inquiry
    sentence = f"I know {number_in_words(count)} {name if count == 1 else plural(name)}."
    stamp = inquiry.tools.scene.stamp or None
    return reply(inquiry, sentence, 0.7, number=float(count), names=[name], verified=stamp)


def how_many(about: About) -> Answer:
    """Return an answer with the number of different objects that fit, in the rooms that the question names.

    Objects that are gone count only in a question about the past, and only if none is left, so that a moved
    object is not counted twice. Objects that nearly fit, and floor that was not looked at, lower the
    confidence.
    """
    inquiry, item, past = about.inquiry, about.item, about.inquiry.question.past
    search = find(inquiry, item, When.KNOWN if past else When.NOW)
    seen = None if search.no_room else floor_seen(inquiry, search.rooms)
    if search.best is None and seen is None:
        return not_seen(inquiry, item, search)
    things = search.things if past else search.here().things
    scope, share = scope_words(inquiry.question.scope), 1.0 if seen is None else 0.5 + 0.5 * seen.share
    facts: dict[str, Any] = {
        "number": float(len(things)),
        "coverage": seen,
        "directive": _count_by_looking(about, seen),
    }
    if search.best is None and seen is not None:
        sentence = f"I have seen no {plural(item.phrase)}{scope}. {coverage_in_words(inquiry, seen)}"
        return reply(inquiry, sentence, seen.share * (1.0 - search.best_miss), **facts)
    if not things:
        count, last = len(search.things), max(thing.last for thing in search.things)
        were = "was there and is gone" if count == 1 else "were there and are gone"
        if all(thing.moved_on for thing in search.things):
            were = "was there" if count == 1 else "were there"
        said = f"{number_in_words(count)} {were}, last seen {ago_in_words(last, inquiry.now)}"
        sentence, proof = f"I know of no {item.phrase}{scope} now: {said}.", proofs_of_things(search.things)
        return reply(inquiry, sentence, 0.8 * share, proof=proof, verified=last, **facts)
    phrase = item.phrase if len(things) == 1 else plural(item.phrase)
    kinds = Counter(place_in_words(inquiry, t.box, t) for t in things).most_common(ANSWERING_LISTED)
    detail = ", ".join(place if len(things) == 1 else f"{number_in_words(n)} {place}" for place, n in kinds)
    verb = "I saw" if past else "I know of"
    sentence = f"{verb} {number_in_words(len(things))} {phrase}{scope}: {detail}."
    sentence += "" if seen is None else f" {coverage_in_words(inquiry, seen)}"
    doubt = max(0.0, search.best_miss / inquiry.config.query.accept - 0.5)
    shown = {**shown_things(inquiry, things), "verified": min(thing.last for thing in things)}
    names = [thing.label for thing in things]
    return reply(inquiry, sentence, 0.9 * (1.0 - 0.6 * doubt) * share, names=names, **shown, **facts)


def _count_by_looking(about: About, seen: Coverage | None) -> str:
    """Return a directive to look at the rest of the floor and count; "" if all of it was looked at."""
    if seen is not None and seen.share >= 1.0:
        return ""
    return step_sentence(Step(StepKind.COUNT, about.item, scope=about.inquiry.question.scope))
