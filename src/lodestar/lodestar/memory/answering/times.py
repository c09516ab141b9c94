"""Answers about times, durations and frequencies of sightings, changes and the robot's visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from lodestar.language.question import AnswerType, Occurrence
from lodestar.memory.answer import Answer, Proof
from lodestar.memory.answering.config import ANSWERING_GAP, ANSWERING_LISTED, CONFIDENCE_INFERRED
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import RoomsMeant
from lodestar.memory.answering.replies import (
    place_of,
    proofs_of_memories,
    proofs_of_sightings,
    reply,
    unknown,
)
from lodestar.memory.answering.selection import When, find
from lodestar.memory.answering.subjects import About, Meant, Rooms, Visited, shown_things
from lodestar.memory.answering.wording import CHANGED, ago_in_words, clock_in_words
from lodestar.memory.records import WALL_TIME, EventKind
from lodestar.models.english import duration_in_words, listed, number_in_words, the
from lodestar.models.lexicon import load_lexicon
from lodestar.scene.captions import clean_text

_Key = TypeVar("_Key")
_MOST = 3  # most objects or rooms listed in a tie


# --- times ---------------------------------------------------------------------------------------------------------


def when_seen(it: Meant) -> Answer:
    """Return an answer with the time of a sighting: the last one by default, else the first one or all."""
    inquiry, occurrence = it.inquiry, it.inquiry.question.occurrence
    looks = it.history.looks(ANSWERING_GAP)
    first = inquiry.asks_first
    stay = it.stays[0 if first else -1]
    stamp = min(stay.first, looks[0][0]) if first else looks[-1][1]
    times = [(stamp, stamp), *(() if first else reversed(looks))]
    sentence = f"I {'first' if first else 'last'} saw {it.the} {_moment(inquiry, stamp)}, {it.at(stay)}."
    if occurrence is Occurrence.EACH:
        times = list(reversed(looks))
        shown = listed([it.ago(end) for _, end in times[:ANSWERING_LISTED]])
        sentence = f"I saw {it.the} {len(looks)} times: {shown}."
    proof = proofs_of_sightings(stay.sightings[:1] if first else stay.sightings[-1:]) + it.proof
    places = [place_of(inquiry, stay.box)]
    return reply(
        inquiry, sentence, it.sure(), times=times, places=places, proof=proof, verified=it.stays[-1].last
    )


def _moment(inquiry: Inquiry, stamp: float) -> str:
    """Return the time in words: "8 minutes ago", for wall time with the time of day."""
    said = ago_in_words(stamp, inquiry.now)
    if inquiry.now >= WALL_TIME and "at " not in said:
        return f"{said} ({clock_in_words(stamp, inquiry.now)})"
    return said


def when_changed(it: Meant) -> Answer:
    """Return an answer with the time of an object's change.

    It is the time of the event, else the interval between the sightings around it. If only a similar kind of change is
    known, its time is given with less confidence.
    """
    inquiry, kind, act, history = it.inquiry, it.inquiry.change, it.inquiry.question.act, it.history
    if kind is None or act is None:
        return unknown(inquiry, f"I keep no record of when things {'' if act is None else act.verb}")
    last, proof = it.stays[-1], it.proof
    noticed = history.noticed_as(kind)
    if noticed is None:
        said = f"I have not noticed that {it.the} {CHANGED[kind]}; I saw it last {it.ago(last.last)}, {it.at(last)}."
        return reply(inquiry, said, 0.0, proof=proof, verified=last.last)
    found, span = history.of_kind(noticed), history.span_of_change(noticed)
    if found:
        event = found[0] if inquiry.asks_first else found[-1]
        begin = event.start if noticed is EventKind.APPEARED else history.last_before(event)
        span, proof = (begin, event.start), proofs_of_memories((event,)) + proof
    assert span is not None  # it was found in an event or from the stays
    inferred = CONFIDENCE_INFERRED
    sure = it.sure() * ((1.0 if found else inferred) * (1.0 if noticed is kind else inferred))
    begin, end = span
    between = it.ago(end)
    if end - begin > ANSWERING_GAP:
        between = f"between {it.ago(begin)} and {between}"
    sentence, places = f"{it.the} {CHANGED[noticed]} {between}.", [place_of(inquiry, last.box)]
    return reply(inquiry, sentence, sure, times=[span], places=places, proof=proof, verified=end)


def when_in(rooms: Rooms) -> Answer:
    """Return an answer with the time of a visit to a room."""
    return when_visited(rooms.visits) if rooms.visits.visits else rooms.unvisited()


def when_visited(it: Visited) -> Answer:
    """Return an answer with the time of a visit: the last one by default, else the first one or all."""
    inquiry, question = it.inquiry, it.inquiry.question
    first = inquiry.asks_first
    visit = it.visits[0] if first else it.visits[-1]
    verb = "" if question.act is None else question.act.verb
    stamp = visit.end if verb == "leave" or (not first and verb not in ("enter", "reach")) else visit.begin
    times = [(stamp, stamp)]
    begin, end = (ago_in_words(stamp, inquiry.now) for stamp in visit.span)
    sentence = f"I was {it.where} {'first' if first else 'last'} from {begin} to {end}."
    if question.occurrence is Occurrence.EACH:
        times = it.spans
        shown = listed([ago_in_words(b, inquiry.now) for b, _ in times[:ANSWERING_LISTED]])
        sentence = f"I was {it.where} {len(times)} times: {shown}."
    proof = proofs_of_memories((visit.memories[0], visit.memories[-1]))
    return reply(inquiry, sentence, 0.95 * it.factor, times=times, proof=proof, verified=visit.end)


# --- durations -----------------------------------------------------------------------------------------------------


def how_long_it_stayed(it: Meant) -> Answer:
    """Return an answer with the seconds for which an object has been, or was, at its last place."""
    inquiry, stay, there = it.inquiry, it.stays[-1], not it.is_gone
    seconds = max(0.0, (inquiry.now if there and not inquiry.question.past else stay.last) - stay.first)
    sentence = (
        f"{it.the} {'has been' if there else 'was'} {it.at(stay)} for {duration_in_words(seconds)} at least: "
        f"I saw it first {it.ago(stay.first)} and last {it.ago(stay.last)}."
    )
    return reply(
        inquiry, sentence, it.sure(), number=seconds, times=[(stay.first, stay.last)],
        places=[place_of(inquiry, stay.box)], proof=it.proof, verified=stay.last,
    )  # fmt: skip


def how_long_since(it: Meant) -> Answer:
    """Return an answer with the seconds since an object was moved, vanished or arrived."""
    changed = when_changed(it)
    if not changed.value.times:
        return changed
    since = max(0.0, it.inquiry.now - sum(changed.value.times[0]) / 2.0)
    return replace(changed, value=replace(changed.value, number=since))


def how_long_visited(it: Visited) -> Answer:
    """Return an answer with the seconds that the robot spent in a room or at an object."""
    if not it.visits:
        return unknown(it.inquiry, f"I do not remember to have been {it.where}")
    seconds = sum(visit.end - visit.begin for visit in it.visits)
    times = "" if len(it.visits) == 1 else f", {len(it.visits)} times"
    sentence = f"I was {it.where} for {duration_in_words(seconds)} in all{times}, last {it.last}."
    shown = {**it.shown(), "proof": proofs_of_memories(it.ends)}
    return reply(it.inquiry, sentence, 0.9 * it.factor, number=seconds, **shown)


# --- frequencies ---------------------------------------------------------------------------------------------------


def how_often_visited(rooms: Rooms) -> Answer:
    """Return an answer with the number of the robot's visits to a room."""
    it = rooms.visits
    if not rooms.meant.ids and not it.visits:
        return unknown(it.inquiry, f"I cannot say that I was {it.where}")
    return _times(it.inquiry, it.spans[::-1], f"I was {it.where}", proofs_of_memories(it.ends))


def how_often_changed(it: Meant) -> Answer:
    """Return an answer with the number of an object's changes."""
    found = it.history.of_kind(it.inquiry.change)
    what = f"{it.the} {CHANGED.get(it.inquiry.change or EventKind.MOVED, 'changed')}"
    return _times(it.inquiry, [(m.start, m.end) for m in found], what, proofs_of_memories(found) or it.proof)


def how_often_seen(it: Meant) -> Answer:
    """Return an answer with the number of times that the robot saw an object."""
    return _times(it.inquiry, it.history.looks(ANSWERING_GAP), f"I saw {it.the}", it.proof)


def _times(inquiry: Inquiry, spans: Sequence[tuple[float, float]], what: str, proof: list[Proof]) -> Answer:
    """Return an answer with the number of spans; for a YES_NO question also whether there are any."""
    count = len(spans)
    last = f", last {ago_in_words(spans[-1][1], inquiry.now)}" if spans else ""
    yes = count > 0 if inquiry.question.answer is AnswerType.YES_NO else None
    return reply(
        inquiry, f"{what} {count} time{'' if count == 1 else 's'}{last}.", 0.85 if count else 0.6,
        number=float(count), yes=yes, times=list(reversed(spans)), proof=proof,
        verified=spans[-1][1] if spans else None,
    )  # fmt: skip


# --- most or least frequent ----------------------------------------------------------------------------------------


def room_so_often(inquiry: Inquiry) -> Answer:
    """Return an answer with the room that the robot visited most or least often."""
    labels = {clean_text(region.label) for region in inquiry.tools.scene.regions.values()} - {""}
    rooms = [Rooms(inquiry, RoomsMeant(label, inquiry.rooms_called([label]))) for label in sorted(labels)]
    found = {room.meant.name: room.visits.visits for room in rooms if room.visits.visits}
    if not found:
        return unknown(inquiry, "I do not remember to have been in any room that has a name")
    names = _extreme(inquiry, {label: len(own) for label, own in found.items()})
    count, last = len(found[names[0]]), max(found[name][-1].end for name in names)
    proof = proofs_of_memories([found[name][-1].memories[-1] for name in names])
    sentence = _so_often(inquiry, names, count, last)
    return reply(inquiry, sentence, 0.9, names=names, number=float(count), proof=proof, verified=last)


def thing_so_often(about: About) -> Answer:
    """Return an answer with the object that was in view most or least often."""
    inquiry, structure = about.inquiry, load_lexicon().structure
    search = find(inquiry, about.item, When.PAST)
    things = {thing.id: thing for thing in search.things if thing.label.casefold() not in structure}
    Meant.of(inquiry, about.item, replace(search, things=tuple(things.values())))
    looks = {}
    for identity, thing in things.items():
        inquiry.tools.check()
        looks[identity] = len(inquiry.chronicle.history(thing).looks(ANSWERING_GAP))
    chosen = [things[identity] for identity in _extreme(inquiry, looks)]
    count, last = looks[chosen[0].id], max(thing.last for thing in chosen)
    sentence = _so_often(inquiry, [thing.name for thing in chosen], count, last)
    sure = min(Meant(inquiry, search).sure(thing) for thing in chosen)
    shown = {**shown_things(inquiry, chosen), "verified": last}
    return reply(inquiry, sentence, sure, names=[t.label for t in chosen], number=float(count), **shown)


def _so_often(inquiry: Inquiry, names: Sequence[str], count: int, last: float) -> str:
    times = "once" if count == 1 else f"{number_in_words(count)} times"
    each = " each" if len(names) > 1 else ""
    said = listed([the(name) for name in names])
    return f"{said}: {times}{each}, last {ago_in_words(last, inquiry.now)}."


def _extreme(inquiry: Inquiry, counts: dict[_Key, int]) -> Sequence[_Key]:
    """Return the keys with the highest count, or the lowest if the question asks for it; at most `_MOST` in a tie."""
    value = (min if inquiry.question.attribute.startswith("least") else max)(counts.values())
    return [key for key, count in counts.items() if count == value][:_MOST]
