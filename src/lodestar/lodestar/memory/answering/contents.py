"""Answers to what is somewhere, which one it is, and what it looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lodestar.language.asked_items import plain_item, with_asked
from lodestar.language.item_words import graph_words, plural, scope_words
from lodestar.language.items import Item
from lodestar.memory.answer import Answer
from lodestar.memory.answering.counts import how_many
from lodestar.memory.answering.happenings import changes_there, regions_of
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.places import where
from lodestar.memory.answering.readings import GENERIC, rooms_meant, rooms_named
from lodestar.memory.answering.records import Box, Search, Thing, name_in_words
from lodestar.memory.answering.replies import (
    ANYTHING,
    coverage_in_words,
    directive_to_find,
    floor_seen,
    gone_since,
    item_or_unknown,
    not_seen,
    place_of,
    proofs_of_memories,
    proofs_of_things,
    quoted,
    reply,
    thing_confidence,
    thing_or_unseen,
    unknown,
)
from lodestar.memory.answering.selection import When, find, when_asked
from lodestar.memory.answering.wording import ago_in_words, place_in_words, support_of
from lodestar.memory.records import EventKind
from lodestar.memory.requests import Order, Request
from lodestar.models.english import listed, number_in_words, the, with_article
from lodestar.models.kinship import same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.records import EntityState

_GROUPS = {
    "color": "colors",
    "colour": "colors",
    "material": "materials",
    "size": "sizes",
    "texture": "materials",
}
_KIND = ("kind", "name", "type", "object")


def what_there(inquiry: Inquiry) -> Answer:
    """Return the things that are in, on or near something."""
    question = inquiry.question
    if inquiry.is_of_change:
        return _gone(inquiry)
    item = question.item if question.item is not None and question.item.alternatives else ANYTHING
    meant = rooms_meant(inquiry, question.item)
    if inquiry.question.item is None and not question.scope:
        return _in_view(inquiry)
    if meant is not None:
        return _things_in(inquiry, meant.ids, f"in {the(meant.name)}", ANYTHING)
    search = find(inquiry, item, when_asked(inquiry))
    if search.no_room:
        return not_seen(inquiry, item, search)
    anchors = {graph.target.category for graph in item.neighbor_graphs}
    kept = [t for t in search.things if not any(same_kind(t.label, anchor) for anchor in anchors)]
    return _of_things(inquiry, item, kept or list(search.things), search)


def _things_in(inquiry: Inquiry, rooms: frozenset[int], words: str, item: Item) -> Answer:
    search = find(inquiry, item)
    inside = [t for t in search.things if inquiry.region_at(t.box.centre) in rooms]
    return _of_things(inquiry, item, inside, replace(search, rooms=rooms), words)


def _in_view(inquiry: Inquiry) -> Answer:
    """Return what the last memory says that was in view."""
    request = Request(window=inquiry.window, limit=20, order=Order.NEWEST)
    found = [m for m in inquiry.memories(request) if m.event is None]
    if not found:
        return unknown(inquiry, "I remember nothing that I saw then")
    memory = found[0]
    names = [name_in_words(p.caption, p.label) for p in memory.primitives]
    said = listed(_counted(names)) or quoted(inquiry, memory.text)
    return reply(
        inquiry, f"{said}, {ago_in_words(memory.end, inquiry.now)}.", 0.9,
        names=[name_in_words("", p.label) for p in memory.primitives],
        proof=proofs_of_memories((memory,)), verified=memory.end,
    )  # fmt: skip


def _of_things(
    inquiry: Inquiry, item: Item, things: Sequence[Thing], search: Search, words: str = ""
) -> Answer:
    structure = load_lexicon().structure
    things = [t for t in things if t.label.casefold() not in structure]
    gone = [t for t in things if t.is_gone and not inquiry.question.past]
    things = [t for t in things if t not in gone]
    where_words = words or (_relation_words(item) if item.neighbors else "")
    where_words = where_words or scope_words(inquiry.question.scope).strip() or "there"
    if gone and not things:
        return gone_since(inquiry, gone[0])
    if not things:
        seen = floor_seen(inquiry, search.rooms)
        directive = directive_to_find(None, inquiry.question.scope)
        if seen is None:
            return unknown(inquiry, f"I know of nothing {where_words}", directive)
        sentence = f"I have seen nothing {where_words}. {coverage_in_words(inquiry, seen)}"
        return reply(
            inquiry, sentence, 0.5 * seen.share, coverage=seen, verified=seen.last, directive=directive
        )
    names = [t.name for t in things]
    verb = "I saw" if inquiry.question.past else "I know of"
    last = max(thing.last for thing in things)
    shown = listed(_counted(names, inquiry.config.listed))
    sentence = f"{verb} {shown} {where_words}, last seen {ago_in_words(last, inquiry.now)}."
    sure = min(thing_confidence(inquiry, Search((t,)), t) for t in things[:3])
    return reply(
        inquiry, sentence, sure,
        names=[t.label for t in things], number=float(len(things)),
        places=[place_of(inquiry, t.box, t) for t in things[: inquiry.config.places]],
        proof=proofs_of_things(things), verified=last,
    )  # fmt: skip


def _relation_words(item: Item) -> str:
    graph = item.best[0]
    return graph_words(graph, "").removeprefix(graph.target.phrase).strip()


def which(inquiry: Inquiry) -> Answer:
    """Return which thing of a kind fits; the room of a thing where a room is asked for."""
    question = inquiry.question
    item = item_or_unknown(inquiry, "which what", "name the kind of thing")
    graph = item.best[0]
    held = next(
        (p.arguments[0] for p in graph.predicates if len(p.arguments) == 2 and p.arguments[1] == 0), 0
    )
    if graph.target.category in GENERIC and held:
        order = [held, *(v for v in range(1, len(graph.variables)) if v != held)]
        return where(replace(inquiry, question=replace(question, item=Item(((graph.arranged(order),),)))))
    asked = with_asked(item, question.asked) if question.asked else item
    search = find(inquiry, asked, when_asked(inquiry))
    best = thing_or_unseen(inquiry, plain_item(item, question.asked), search)
    if best.is_gone and not question.past:
        return gone_since(inquiry, best)
    rest = search.rivals(inquiry.config.query.ambiguous)[1:]
    sentence = f"{with_article(best.name)} {place_in_words(inquiry, best.box, best)}"
    if rest:
        sentence += f"; {number_in_words(len(rest))} more fit"
    return reply(
        inquiry, f"{sentence}, last seen {ago_in_words(best.last, inquiry.now)}.",
        thing_confidence(inquiry, search, best),
        names=[t.label for t in (best, *rest)],
        places=[place_of(inquiry, t.box, t) for t in (best, *rest)[: inquiry.config.places]],
        proof=proofs_of_things((best, *rest)), verified=best.last,
    )  # fmt: skip


def _gone(inquiry: Inquiry) -> Answer:
    """Return what is missing from the rooms of the scope, anywhere without one; of the item's kind where it has one."""
    question = inquiry.question
    item = question.item if question.item is not None and question.item.alternatives else None
    if item is not None and item.neighbors:
        return unknown(inquiry, "I keep what went missing by rooms; ask what is gone from a room")
    labels = question.scope.labels
    rooms = rooms_named(inquiry, labels).ids
    if labels and not rooms:
        return not_seen(inquiry, ANYTHING, Search(no_room=True))
    return _things_gone(inquiry, rooms, item)


def _things_gone(inquiry: Inquiry, rooms: frozenset[int], item: Item | None) -> Answer:
    """Return the things that were in these rooms (none = anywhere) and are gone, newest first. item: of its kind."""
    events = [
        memory
        for memory in changes_there(inquiry)
        if memory.event in (EventKind.VANISHED, EventKind.MOVED)
        and (not rooms or rooms & set(regions_of(inquiry, memory)[:1]))
        and _is_of_kind(memory.facts.get("label", ""), item)
    ]
    named = [name_in_words("", m.facts.get("label", "")) for m in events]
    found: list[Thing] = []
    if inquiry.tools.use_scene:
        for entity in inquiry.tools.scene.entities.values():
            inside = not rooms or inquiry.region_at(Box.of_entity(entity).centre) in rooms
            if entity.state is EntityState.ARCHIVED and inside and _is_of_kind(entity.label, item):
                found.append(Thing.of_entity(entity))
    found.sort(key=lambda thing: -thing.last)
    names = list(dict.fromkeys([*named, *(thing.label for thing in found)]))
    if not names:
        return unknown(inquiry, "I have not noticed that anything is gone from there")
    proof = [*proofs_of_memories(reversed(events)), *proofs_of_things(found)]
    verified = max([*(m.end for m in events), *(t.last for t in found)])
    said = listed([the(name) for name in names[: inquiry.config.listed]])
    return reply(
        inquiry, f"{said}: gone since {ago_in_words(verified, inquiry.now)} at the latest.",
        0.8 if events else 0.6, names=names, proof=proof, verified=verified,
    )  # fmt: skip


def _is_of_kind(label: str, item: Item | None) -> bool:
    lexicon = load_lexicon()
    return item is None or any(
        lexicon.is_generic(graph.target.category) or same_kind(label, graph.target.category)
        for graph in item.best
    )


def attribute(inquiry: Inquiry) -> Answer:
    """Return a property of the thing: a colour, a material, its kind, its support, or the words for it."""
    question = inquiry.question
    if question.attribute == "number":
        return how_many(inquiry)
    item = item_or_unknown(inquiry, "of what", "name the thing")
    if question.asked:
        return _either(inquiry, item)
    search = find(inquiry, item, When.PAST if question.past else When.KNOWN, loosely=True)
    best = thing_or_unseen(inquiry, item, search)
    sure = thing_confidence(inquiry, search, best)
    if question.attribute == "support":
        return _support(inquiry, best, sure)
    values = _values(question.attribute, best)
    if not values and question.attribute in _GROUPS:
        why = f"I know {the(best.name)} {place_in_words(inquiry, best.box, best)}, and not its {question.attribute}"
        return unknown(inquiry, why, proof=proofs_of_things((best,)))
    described = listed(values) if values else with_article(best.name)
    kind = question.attribute in _KIND or values
    sentence = (
        f"{the(best.name)} {place_in_words(inquiry, best.box, best)}: {described}"
        if kind
        else f"I know {the(best.name)} {place_in_words(inquiry, best.box, best)} only as {quoted(inquiry, best.name)}"
    )
    return reply(
        inquiry, f"{sentence}, last seen {ago_in_words(best.last, inquiry.now)}.", sure if kind else sure * 0.5,
        names=values or (best.label, *best.attributes),
        places=[place_of(inquiry, best.box, best)], proof=proofs_of_things((best,)), verified=best.last,
    )  # fmt: skip


def _values(asked: str, thing: Thing) -> list[str]:
    """Return the attributes of the group that is asked for."""
    lexicon = load_lexicon()
    group = _GROUPS.get(asked)
    if group is None:
        return []
    known: Iterable[str] = (*thing.attributes, *lexicon.attributes_in(thing.name))
    return [a for a in dict.fromkeys(known) if lexicon.attribute_group.get(a) == group]


def _support(inquiry: Inquiry, thing: Thing, sure: float) -> Answer:
    support = support_of(inquiry, thing.box, thing)
    if support is None:
        names, said = ["floor"], "the floor, as far as I saw"
        sure *= 0.6
    else:
        held = name_in_words(support.caption, support.label)
        names, said = [name_in_words("", support.label)], with_article(held)
    proof = proofs_of_things((thing,))
    if support is not None:
        proof += proofs_of_things((Thing.of_entity(support),))
    verb, last = "was" if thing.is_gone else "is", ago_in_words(thing.last, inquiry.now)
    return reply(
        inquiry, f"{the(thing.name)} {verb} on {said}, last seen {last}.", sure,
        names=names, places=[place_of(inquiry, thing.box, thing)], proof=proof, verified=thing.last,
    )  # fmt: skip


def _either(inquiry: Inquiry, item: Item) -> Answer:
    """Return which of the asked predicates is true: "open or closed", "in the kitchen or in the hall"."""
    found: list[tuple[float, str, Search]] = []
    for predicate in inquiry.question.asked:
        search = find(
            inquiry, with_asked(item, (predicate,)), When.PAST if inquiry.question.past else When.KNOWN
        )
        said = predicate.value or item.best[0].variables[predicate.arguments[-1]].phrase
        if search.best is not None:
            found.append((search.best.score, said, search))
    if not found:
        return not_seen(inquiry, plain_item(item, inquiry.question.asked), Search())
    found.sort(key=lambda entry: -entry[0])
    score, said, search = found[0]
    best = search.best
    assert best is not None
    close = len(found) > 1 and score - found[1][0] < inquiry.config.query.ambiguous
    sure = thing_confidence(inquiry, search, best) * (0.5 if close else 1.0)
    return reply(
        inquiry, f"{the(best.name)}: {said}, last seen {ago_in_words(best.last, inquiry.now)}.", sure,
        names=[said], places=[place_of(inquiry, best.box, best)], proof=proofs_of_things((best,)),
        verified=best.last,
    )  # fmt: skip


def _counted(names: Sequence[str], most: int = 8) -> list[str]:
    counts = Counter(names).most_common(most)
    return [with_article(n) if k == 1 else f"{number_in_words(k)} {plural(n)}" for n, k in counts]
