"""Answers to which thing was seen, or which room was visited, most or least often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from lodestar.language.items import Item
from lodestar.language.noun_words import is_place
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.memory.answer import Answer
from lodestar.memory.answering.histories import History, history_of
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.item_search import find_things
from lodestar.memory.answering.replies import (
    not_seen,
    place_of,
    proofs_of_memories,
    proofs_of_things,
    reply,
    thing_confidence,
    unknown,
)
from lodestar.memory.answering.rooms import RoomsMeant, Visit, visits_of
from lodestar.memory.answering.things import spans_of
from lodestar.memory.answering.wording import ago_in_words, number_in_words
from lodestar.models.english import listed, the
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.captions import clean_text

_ANYTHING = Item(((QueryGraph((QueryVariable("object", "object"),)),),))
_Key = TypeVar("_Key")
_MOST = 3  # things or rooms that are named where they tie


def asks_how_often(inquiry: Inquiry) -> bool:
    """Return whether the question picks one of several by how often it was seen or visited."""
    return inquiry.question.attribute in ("most often", "least often")


def seen_or_visited_so_often(inquiry: Inquiry) -> Answer:
    """Return the thing that was in view, or the room that the robot was in, at the most or the fewest times."""
    item = inquiry.question.item
    categories = [] if item is None else [graph.target.category for graph in item.best]
    goes = inquiry.question.act is not None and inquiry.question.act.own
    if any(is_place(category) for category in categories) or (goes and not categories):
        return _room(inquiry)
    return _thing(inquiry, item if item is not None and item.alternatives else _ANYTHING)


def looks_of(inquiry: Inquiry, history: History) -> list[tuple[float, float]]:
    """Return the times in which a thing was in view, seconds, oldest first."""
    times = [(s.memory.start, s.memory.end) for stay in history.stays for s in stay.sightings]
    spans = spans_of(times or [(stay.first, stay.last) for stay in history.stays], inquiry.config.gap)
    last = max(stay.last for stay in history.stays)
    if last - spans[-1][1] > inquiry.config.gap:
        return [*spans, (last, last)]
    return [*spans[:-1], (spans[-1][0], max(spans[-1][1], last))]


def _room(inquiry: Inquiry) -> Answer:
    found: dict[str, tuple[Visit, ...]] = {}
    labels = {clean_text(region.label) for region in inquiry.tools.scene.regions.values()} - {""}
    for label in sorted(labels):
        visits = visits_of(inquiry, RoomsMeant(label, inquiry.rooms_called([label])))
        if visits:
            found[label] = visits
    if not found:
        return unknown(inquiry, "I do not remember to have been in any room that has a name")
    names = _extreme(inquiry, {label: len(visits) for label, visits in found.items()})
    count, last = len(found[names[0]]), max(found[name][-1].end for name in names)
    said = listed([the(name) for name in names])
    sentence = (
        f"{said}: {_times(count)}{' each' if len(names) > 1 else ''}, last {ago_in_words(last, inquiry.now)}."
    )
    proof = proofs_of_memories(inquiry, [found[name][-1].memories[-1] for name in names])
    return reply(inquiry, sentence, 0.9, names=names, number=float(count), proof=proof, verified=last)


def _thing(inquiry: Inquiry, item: Item) -> Answer:
    search = find_things(inquiry, item, past=True)
    structure = load_lexicon().structure
    things = {thing.id: thing for thing in search.things if thing.label.casefold() not in structure}
    if not things:
        return not_seen(inquiry, item, search)
    looks = {}
    for identity, thing in things.items():
        inquiry.tools.check()
        looks[identity] = len(looks_of(inquiry, history_of(inquiry, thing)))
    chosen = [things[identity] for identity in _extreme(inquiry, looks)]
    count, last = looks[chosen[0].id], max(thing.last for thing in chosen)
    said = listed([the(thing.name) for thing in chosen])
    sentence = f"{said}: {_times(count)}{' each' if len(chosen) > 1 else ''}, last {ago_in_words(last, inquiry.now)}."
    return reply(
        inquiry, sentence, min(thing_confidence(inquiry, search, thing) for thing in chosen),
        names=[thing.label for thing in chosen], number=float(count),
        places=[place_of(inquiry, thing.box, thing) for thing in chosen],
        proof=proofs_of_things(inquiry, chosen), verified=last,
    )  # fmt: skip


def _extreme(inquiry: Inquiry, counts: dict[_Key, int]) -> Sequence[_Key]:
    """Return who has the highest count, or the lowest where that is asked for; at most `_MOST` of those that tie."""
    value = (min if inquiry.question.attribute.startswith("least") else max)(counts.values())
    return [key for key, count in counts.items() if count == value][:_MOST]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{number_in_words(count)} times"
