"""Answers to when, for how long and how often."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.items import Item
from lodestar.language.question import AnswerType, Occurrence
from lodestar.memory.answer import Answer, Proof
from lodestar.memory.answering.change_times import DONE, since_change, when_changed
from lodestar.memory.answering.changed_things import find_changed
from lodestar.memory.answering.frequencies import looks_of
from lodestar.memory.answering.happenings import KIND_OF_ACT
from lodestar.memory.answering.histories import History, history_of
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.item_search import Search, find_described
from lodestar.memory.answering.replies import (
    not_seen,
    place_of,
    proofs_of_memories,
    proofs_of_sightings,
    proofs_of_things,
    reply,
    thing_confidence,
    unknown,
)
from lodestar.memory.answering.rooms import (
    RoomsMeant,
    Visit,
    guess_factor,
    rooms_meant,
    visits_around,
    visits_of,
)
from lodestar.memory.answering.wording import ago_in_words, clock_in_words, place_in_words
from lodestar.memory.records import WALL_TIME, EventKind
from lodestar.models.english import duration_in_words, listed, the

_NEAR = ("visit", "reach", "stop", "stay", "drive", "cross", "turn", "enter", "leave")


def when(inquiry: Inquiry) -> Answer:
    """Return the time of a sighting, of a visit, or of a change: the last one unless the first is asked for."""
    item = _item(inquiry)
    act = inquiry.question.act
    if item is None:
        return unknown(inquiry, "the question does not say when what; name the thing or the room")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        return _when_there(inquiry, rooms)
    kind = KIND_OF_ACT.get(act.verb) if act is not None and not act.own else None
    search = find_described(inquiry, item, past=True) if kind is None else find_changed(inquiry, item, kind)
    if search.best is None:
        return not_seen(inquiry, item, search)
    history = history_of(inquiry, search.best)
    if act is not None and not act.own:
        return when_changed(inquiry, search, history)
    if act is not None and act.verb in _NEAR:
        near = visits_around(inquiry, history.stays[-1].box.centre, inquiry.config.passing)
        if near:
            return _at_visit(inquiry, near, f"I was at {the(history.thing.name)}")
    return _when_seen(inquiry, search, history)


def how_long(inquiry: Inquiry) -> Answer:
    """Return seconds: spent by the robot in a room or at a thing, for which a thing was seen where it is, or since it
    was moved or gone.
    """
    item, act = _item(inquiry), inquiry.question.act
    if item is None:
        return unknown(inquiry, "the question does not say how long what; name the thing or the room")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        visits = visits_of(inquiry, rooms)
        return _spent(inquiry, visits, f"in {the(rooms.name)}", guess_factor(inquiry, rooms))
    kind = KIND_OF_ACT.get(act.verb) if act is not None and not act.own else None
    search = find_described(inquiry, item, past=True) if kind is None else find_changed(inquiry, item, kind)
    if search.best is None:
        return not_seen(inquiry, item, search)
    history = history_of(inquiry, search.best)
    if kind is not None:
        return since_change(inquiry, when_changed(inquiry, search, history))
    if act is not None and act.own:
        near = visits_around(inquiry, history.stays[-1].box.centre, inquiry.config.passing)
        return _spent(inquiry, near, f"at {the(history.thing.name)}")
    stay = history.stays[-1]
    there = history.gone_at is None and not history.thing.is_gone
    seconds = max(0.0, (inquiry.now if there and not inquiry.question.past else stay.last) - stay.first)
    where = place_in_words(inquiry, stay.box, history.thing)
    verb = "has been" if there else "was"
    sentence = (
        f"{the(history.thing.name)} {verb} {where} for {duration_in_words(seconds)} at least: "
        f"I saw it first {ago_in_words(stay.first, inquiry.now)} and last {ago_in_words(stay.last, inquiry.now)}."
    )
    return reply(
        inquiry, sentence, thing_confidence(inquiry, search, search.best),
        number=seconds, times=[(stay.first, stay.last)], places=[place_of(inquiry, stay.box)],
        proof=proofs_of_things(inquiry, (search.best,)), verified=stay.last,
    )  # fmt: skip


def how_often(inquiry: Inquiry) -> Answer:
    """Return how many times the robot was in a room or saw a thing, or how many times a thing changed."""
    item, act = _item(inquiry), inquiry.question.act
    if item is None:
        return unknown(inquiry, "the question does not say how often what; name the thing or the room")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        visits = visits_of(inquiry, rooms)
        spans = [(v.begin, v.end) for v in visits]
        proof = proofs_of_memories(inquiry, [v.memories[-1] for v in reversed(visits)])
        return _times(inquiry, spans, f"I was in {the(rooms.name)}", proof, bool(rooms.ids))
    search = find_described(inquiry, item, past=True)
    if search.best is None:
        return not_seen(inquiry, item, search)
    history = history_of(inquiry, search.best)
    if act is not None and not act.own:
        kind = KIND_OF_ACT.get(act.verb)
        found = [m for m in history.changes if m.event is kind]
        proof = proofs_of_memories(inquiry, found) or proofs_of_things(inquiry, (search.best,))
        spans = [(m.start, m.end) for m in found]
        what = f"{the(history.thing.name)} {DONE.get(kind or EventKind.MOVED, 'changed')}"
        return _times(inquiry, spans, what, proof, True)
    looks = looks_of(inquiry, history)
    return _times(
        inquiry, looks, f"I saw {the(history.thing.name)}", proofs_of_things(inquiry, (search.best,)), True
    )


def _item(inquiry: Inquiry) -> Item | None:
    item = inquiry.shown.item if inquiry.shown is not None else inquiry.question.item
    return item if item is not None and item.alternatives else None


def _when_seen(inquiry: Inquiry, search: Search, history: History) -> Answer:
    question, now = inquiry.question, inquiry.now
    looks = looks_of(inquiry, history)
    name = the(history.thing.name)
    first = question.occurrence is Occurrence.FIRST
    begin = min(history.stays[0].first, looks[0][0])
    if first:
        times = [(begin, begin)]
        sentence = f"I first saw {name} {_moment(inquiry, begin)}, {_place(inquiry, history, 0)}."
    else:
        end = looks[-1][1]
        times = [(end, end), *reversed(looks)]
        sentence = f"I last saw {name} {_moment(inquiry, end)}, {_place(inquiry, history, -1)}."
        if question.occurrence is Occurrence.EACH:
            times = list(reversed(looks))
            shown = [ago_in_words(b, now) for _, b in times[: inquiry.config.listed]]
            sentence = f"I saw {name} {len(looks)} times: {listed(shown)}."
    stay = history.stays[0 if first else -1]
    proof = proofs_of_sightings(stay.sightings[:1] if first else stay.sightings[-1:])
    proof += proofs_of_things(inquiry, (search.best,) if search.best is not None else ())
    assert search.best is not None
    return reply(
        inquiry, sentence, thing_confidence(inquiry, search, search.best),
        times=times, places=[place_of(inquiry, stay.box)], proof=proof, verified=history.stays[-1].last,
    )  # fmt: skip


def _moment(inquiry: Inquiry, stamp: float) -> str:
    """Return "8 minutes ago", of wall time with the time of day."""
    said = ago_in_words(stamp, inquiry.now)
    if inquiry.now >= WALL_TIME and "at " not in said:
        return f"{said} ({clock_in_words(stamp, inquiry.now)})"
    return said


def _place(inquiry: Inquiry, history: History, index: int) -> str:
    return place_in_words(inquiry, history.stays[index].box, history.thing)


def _when_there(inquiry: Inquiry, rooms: RoomsMeant) -> Answer:
    visits = visits_of(inquiry, rooms)
    if not visits:
        return _never_there(inquiry, rooms)
    return _at_visit(inquiry, visits, f"I was in {the(rooms.name)}", guess_factor(inquiry, rooms))


def _at_visit(inquiry: Inquiry, visits: Sequence[Visit], what: str, factor: float = 1.0) -> Answer:
    question, now = inquiry.question, inquiry.now
    first = question.occurrence is Occurrence.FIRST
    visit = visits[0] if first else visits[-1]
    verb = "" if question.act is None else question.act.verb
    stamp = visit.end if verb == "leave" or (not first and verb not in ("enter", "reach")) else visit.begin
    times = [(stamp, stamp)]
    order, begin, end = (
        "first" if first else "last",
        ago_in_words(visit.begin, now),
        ago_in_words(visit.end, now),
    )
    sentence = f"{what} {order} from {begin} to {end}."
    if question.occurrence is Occurrence.EACH:
        times = [(v.begin, v.end) for v in reversed(visits)]
        shown = listed([ago_in_words(b, now) for _, b in times[: inquiry.config.listed]])
        sentence = f"{what} {len(visits)} times: {shown}."
    return reply(
        inquiry, sentence, 0.95 * factor,
        times=times, proof=proofs_of_memories(inquiry, (visit.memories[0], visit.memories[-1])),
        verified=visit.end,
    )  # fmt: skip


def _never_there(inquiry: Inquiry, rooms: RoomsMeant) -> Answer:
    where = the(rooms.name)
    if not rooms.ids:
        return unknown(inquiry, f"I know no place called {rooms.name}", f"go to {where}")
    return unknown(inquiry, f"I do not remember to have been in {where}", f"go to {where}")


def _spent(inquiry: Inquiry, visits: Sequence[Visit], where: str, factor: float = 1.0) -> Answer:
    if not visits:
        return unknown(inquiry, f"I do not remember to have been {where}")
    seconds = sum(visit.end - visit.begin for visit in visits)
    times = "" if len(visits) == 1 else f", {len(visits)} times"
    last = ago_in_words(visits[-1].end, inquiry.now)
    return reply(
        inquiry, f"I was {where} for {duration_in_words(seconds)} in all{times}, last {last}.", 0.9 * factor,
        number=seconds, times=[(v.begin, v.end) for v in reversed(visits)],
        proof=proofs_of_memories(inquiry, [v.memories[-1] for v in reversed(visits)]), verified=visits[-1].end,
    )  # fmt: skip


def _times(
    inquiry: Inquiry, spans: Sequence[tuple[float, float]], what: str, proof: list[Proof], known: bool
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
