"""Answers to when, for how long and how often, and to which of several was met most or least often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from lodestar.language.items import Item
from lodestar.language.noun_words import is_place
from lodestar.language.question import AnswerType, Occurrence
from lodestar.memory.answer import Answer, Proof
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import rooms_meant
from lodestar.memory.answering.records import History, RoomsMeant, Search, Thing, Visit
from lodestar.memory.answering.replies import (
    ANYTHING,
    guess_factor,
    item_or_unknown,
    no_such_room,
    place_of,
    proofs_of_memories,
    proofs_of_sightings,
    proofs_of_things,
    reply,
    thing_confidence,
    thing_or_unseen,
    unknown,
)
from lodestar.memory.answering.selection import When, find, find_changed
from lodestar.memory.answering.wording import CHANGED, ago_in_words, clock_in_words, place_in_words
from lodestar.memory.records import WALL_TIME, EventKind
from lodestar.models.english import duration_in_words, listed, number_in_words, the
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.captions import clean_text

_NEAR = ("visit", "reach", "stop", "stay", "drive", "cross", "turn", "enter", "leave")
_Key = TypeVar("_Key")
_MOST = 3  # things or rooms that are named where they tie


def when(inquiry: Inquiry) -> Answer:
    """Return the time of a sighting, of a visit, or of a change: the last one unless the first is asked for."""
    item = item_or_unknown(inquiry, "when what")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        visits = inquiry.chronicle.visits(rooms)
        if not visits:
            return no_such_room(inquiry, rooms)
        return _at_visit(inquiry, visits, f"I was in {the(rooms.name)}", guess_factor(inquiry, rooms))
    search, thing, history = _thing_meant(inquiry, item)
    if inquiry.is_of_change:
        return _when_changed(inquiry, search, history)
    act = inquiry.question.act
    if act is not None and act.verb in _NEAR:
        near = inquiry.chronicle.visits_around(history.stays[-1].box.centre, inquiry.config.passing)
        if near:
            return _at_visit(inquiry, near, f"I was at {the(thing.name)}")
    return _when_seen(inquiry, search, history)


def how_long(inquiry: Inquiry) -> Answer:
    """Return seconds: spent by the robot in a room or at a thing, for which a thing was seen where it is, or since it
    was moved or gone.
    """
    item = item_or_unknown(inquiry, "how long what")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        visits = inquiry.chronicle.visits(rooms)
        return _spent(inquiry, visits, f"in {the(rooms.name)}", guess_factor(inquiry, rooms))
    search, thing, history = _thing_meant(inquiry, item)
    name = the(thing.name)
    if inquiry.change is not None:
        changed = _when_changed(inquiry, search, history)
        if not changed.value.times:
            return changed
        since = max(0.0, inquiry.now - sum(changed.value.times[0]) / 2.0)
        return replace(changed, value=replace(changed.value, number=since))
    stay = history.stays[-1]
    if inquiry.is_of_robot:
        near = inquiry.chronicle.visits_around(stay.box.centre, inquiry.config.passing)
        return _spent(inquiry, near, f"at {name}")
    there = history.gone_at is None and not thing.is_gone
    seconds = max(0.0, (inquiry.now if there and not inquiry.question.past else stay.last) - stay.first)
    where = place_in_words(inquiry, stay.box, thing)
    first, last = (ago_in_words(stamp, inquiry.now) for stamp in (stay.first, stay.last))
    sentence = (
        f"{name} {'has been' if there else 'was'} {where} for {duration_in_words(seconds)} at least: "
        f"I saw it first {first} and last {last}."
    )
    return reply(
        inquiry, sentence, thing_confidence(inquiry, search, thing),
        number=seconds, times=[(stay.first, stay.last)], places=[place_of(inquiry, stay.box)],
        proof=proofs_of_things((thing,)), verified=stay.last,
    )  # fmt: skip


def how_often(inquiry: Inquiry) -> Answer:
    """Return how many times the robot was in a room or saw a thing, or how many times a thing changed."""
    item = item_or_unknown(inquiry, "how often what")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        visits = inquiry.chronicle.visits(rooms)
        proof = proofs_of_memories([v.memories[-1] for v in reversed(visits)])
        what = f"I was in {the(rooms.name)}"
        return _times(inquiry, [v.span for v in visits], what, proof, bool(rooms.ids))
    thing = thing_or_unseen(inquiry, item, find(inquiry, item, When.PAST, loosely=True))
    history = inquiry.chronicle.history(thing)
    proof = proofs_of_things((thing,))
    if inquiry.is_of_change:
        found = history.of_kind(inquiry.change)
        what = f"{the(thing.name)} {CHANGED.get(inquiry.change or EventKind.MOVED, 'changed')}"
        return _times(inquiry, [(m.start, m.end) for m in found], what, proofs_of_memories(found) or proof)
    return _times(inquiry, history.looks(inquiry.config.gap), f"I saw {the(thing.name)}", proof)


def _thing_meant(inquiry: Inquiry, item: Item) -> tuple[Search, Thing, History]:
    """Return the thing whose time is asked for; one that changed comes first where the question says that it did."""
    kind = inquiry.change
    past = find(inquiry, item, When.PAST, loosely=True) if kind is None else find_changed(inquiry, item, kind)
    thing = thing_or_unseen(inquiry, item, past)
    return past, thing, inquiry.chronicle.history(thing)


def _when_seen(inquiry: Inquiry, search: Search, history: History) -> Answer:
    occurrence, now, thing = inquiry.question.occurrence, inquiry.now, history.thing
    looks = history.looks(inquiry.config.gap)
    first = occurrence is Occurrence.FIRST
    stay = history.stays[0 if first else -1]
    stamp = min(stay.first, looks[0][0]) if first else looks[-1][1]
    times = [(stamp, stamp), *(() if first else reversed(looks))]
    where = place_in_words(inquiry, stay.box, thing)
    order = "first" if first else "last"
    sentence = f"I {order} saw {the(thing.name)} {_moment(inquiry, stamp)}, {where}."
    if occurrence is Occurrence.EACH:
        times = list(reversed(looks))
        shown = [ago_in_words(end, now) for _, end in times[: inquiry.config.listed]]
        sentence = f"I saw {the(thing.name)} {len(looks)} times: {listed(shown)}."
    proof = proofs_of_sightings(stay.sightings[:1] if first else stay.sightings[-1:])
    proof += proofs_of_things((thing,))
    return reply(
        inquiry, sentence, thing_confidence(inquiry, search, thing),
        times=times, places=[place_of(inquiry, stay.box)], proof=proof, verified=history.stays[-1].last,
    )  # fmt: skip


def _moment(inquiry: Inquiry, stamp: float) -> str:
    """Return "8 minutes ago", of wall time with the time of day."""
    said = ago_in_words(stamp, inquiry.now)
    if inquiry.now >= WALL_TIME and "at " not in said:
        return f"{said} ({clock_in_words(stamp, inquiry.now)})"
    return said


def _when_changed(inquiry: Inquiry, search: Search, history: History) -> Answer:
    """Return when a thing moved, went or came: the time of the event, else between the sightings that show it. Where it
    is known to have changed in another way that people may call so, that time, with less confidence.
    """
    act, thing, kind, now = inquiry.question.act, history.thing, inquiry.change, inquiry.now
    if kind is None or act is None:
        return unknown(inquiry, f"I keep no record of when things {'' if act is None else act.verb}")
    sure = thing_confidence(inquiry, search, thing)
    inferred = inquiry.config.confidence.inferred
    name, proof, last = the(thing.name), proofs_of_things((thing,)), history.stays[-1]
    noticed = history.noticed_as(kind)
    if noticed is None:
        where = place_in_words(inquiry, last.box, thing)
        said = f"I have not noticed that {name} {CHANGED[kind]}; I saw it last {ago_in_words(last.last, now)}, {where}."
        return reply(inquiry, said, 0.0, proof=proof, verified=last.last)
    found, span = history.of_kind(noticed), history.span_of_change(noticed)
    if found:
        event = found[0] if inquiry.question.occurrence is Occurrence.FIRST else found[-1]
        begin = event.start if noticed is EventKind.APPEARED else history.last_before(event)
        span, proof = (begin, event.start), proofs_of_memories((event,)) + proof
    assert span is not None  # noticed by an event or by its places
    sure *= (1.0 if found else inferred) * (1.0 if noticed is kind else inferred)
    begin, end = span
    between = ago_in_words(end, now)
    if end - begin > inquiry.config.gap:
        between = f"between {ago_in_words(begin, now)} and {between}"
    return reply(
        inquiry, f"{name} {CHANGED[noticed]} {between}.", sure,
        times=[span], places=[place_of(inquiry, last.box)], proof=proof, verified=end,
    )  # fmt: skip


def _at_visit(inquiry: Inquiry, visits: Sequence[Visit], what: str, factor: float = 1.0) -> Answer:
    question, now = inquiry.question, inquiry.now
    first = question.occurrence is Occurrence.FIRST
    visit = visits[0] if first else visits[-1]
    verb = "" if question.act is None else question.act.verb
    stamp = visit.end if verb == "leave" or (not first and verb not in ("enter", "reach")) else visit.begin
    times = [(stamp, stamp)]
    begin, end = (ago_in_words(stamp, now) for stamp in visit.span)
    sentence = f"{what} {'first' if first else 'last'} from {begin} to {end}."
    if question.occurrence is Occurrence.EACH:
        times = [v.span for v in reversed(visits)]
        shown = listed([ago_in_words(b, now) for _, b in times[: inquiry.config.listed]])
        sentence = f"{what} {len(visits)} times: {shown}."
    return reply(
        inquiry, sentence, 0.95 * factor,
        times=times, proof=proofs_of_memories((visit.memories[0], visit.memories[-1])), verified=visit.end,
    )  # fmt: skip


def _spent(inquiry: Inquiry, visits: Sequence[Visit], where: str, factor: float = 1.0) -> Answer:
    if not visits:
        return unknown(inquiry, f"I do not remember to have been {where}")
    seconds = sum(visit.end - visit.begin for visit in visits)
    times = "" if len(visits) == 1 else f", {len(visits)} times"
    last = ago_in_words(visits[-1].end, inquiry.now)
    return reply(
        inquiry, f"I was {where} for {duration_in_words(seconds)} in all{times}, last {last}.", 0.9 * factor,
        number=seconds, times=[v.span for v in reversed(visits)],
        proof=proofs_of_memories([v.memories[-1] for v in reversed(visits)]), verified=visits[-1].end,
    )  # fmt: skip


def _times(
    inquiry: Inquiry, spans: Sequence[tuple[float, float]], what: str, proof: list[Proof], known: bool = True
) -> Answer:
    """Return a number of times; a YES_NO form of the question is answered too."""
    if not known and not spans:
        return unknown(inquiry, f"I cannot say that {what}")
    count = len(spans)
    last = f", last {ago_in_words(spans[-1][1], inquiry.now)}" if spans else ""
    yes = count > 0 if inquiry.question.answer is AnswerType.YES_NO else None
    return reply(
        inquiry, f"{what} {count} time{'' if count == 1 else 's'}{last}.", 0.85 if count else 0.6,
        number=float(count), yes=yes, times=list(reversed(spans)), proof=proof,
        verified=spans[-1][1] if spans else None,
    )  # fmt: skip


# --- of several, the one met most or least often ---------------------------------------------------------------


def asks_how_often(inquiry: Inquiry) -> bool:
    """Return whether the question picks one of several by how often it was seen or visited."""
    return inquiry.question.attribute in ("most often", "least often")


def seen_or_visited_so_often(inquiry: Inquiry) -> Answer:
    """Return the thing that was in view, or the room that the robot was in, at the most or the fewest times."""
    item = inquiry.question.item
    categories = [] if item is None else [graph.target.category for graph in item.best]
    if any(is_place(category) for category in categories) or (inquiry.is_of_robot and not categories):
        return _room_so_often(inquiry)
    return _thing_so_often(inquiry, item if item is not None and item.alternatives else ANYTHING)


def _room_so_often(inquiry: Inquiry) -> Answer:
    labels = {clean_text(region.label) for region in inquiry.tools.scene.regions.values()} - {""}
    rooms = (RoomsMeant(label, inquiry.rooms_called([label])) for label in sorted(labels))
    visits = {one.name: inquiry.chronicle.visits(one) for one in rooms}
    found = {label: own for label, own in visits.items() if own}
    if not found:
        return unknown(inquiry, "I do not remember to have been in any room that has a name")
    names = _extreme(inquiry, {label: len(own) for label, own in found.items()})
    count, last = len(found[names[0]]), max(found[name][-1].end for name in names)
    proof = proofs_of_memories([found[name][-1].memories[-1] for name in names])
    sentence = _so_often(inquiry, names, count, last)
    return reply(inquiry, sentence, 0.9, names=names, number=float(count), proof=proof, verified=last)


def _thing_so_often(inquiry: Inquiry, item: Item) -> Answer:
    search = find(inquiry, item, When.PAST)
    structure = load_lexicon().structure
    things = {thing.id: thing for thing in search.things if thing.label.casefold() not in structure}
    thing_or_unseen(inquiry, item, replace(search, things=tuple(things.values())))
    looks = {}
    for identity, thing in things.items():
        inquiry.tools.check()
        looks[identity] = len(inquiry.chronicle.history(thing).looks(inquiry.config.gap))
    chosen = [things[identity] for identity in _extreme(inquiry, looks)]
    count, last = looks[chosen[0].id], max(thing.last for thing in chosen)
    return reply(
        inquiry, _so_often(inquiry, [thing.name for thing in chosen], count, last),
        min(thing_confidence(inquiry, search, thing) for thing in chosen),
        names=[thing.label for thing in chosen], number=float(count),
        places=[place_of(inquiry, thing.box, thing) for thing in chosen],
        proof=proofs_of_things(chosen), verified=last,
    )  # fmt: skip


def _so_often(inquiry: Inquiry, names: Sequence[str], count: int, last: float) -> str:
    times = "once" if count == 1 else f"{number_in_words(count)} times"
    each = " each" if len(names) > 1 else ""
    said = listed([the(name) for name in names])
    return f"{said}: {times}{each}, last {ago_in_words(last, inquiry.now)}."


def _extreme(inquiry: Inquiry, counts: dict[_Key, int]) -> Sequence[_Key]:
    """Return who has the highest count, or the lowest where that is asked for; at most `_MOST` of those that tie."""
    value = (min if inquiry.question.attribute.startswith("least") else max)(counts.values())
    return [key for key, count in counts.items() if count == value][:_MOST]
