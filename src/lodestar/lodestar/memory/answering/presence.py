"""Answers to whether something is or was there, is so, has changed, and whether the robot was somewhere."""

from __future__ import annotations

import numpy as np

from lodestar.language.asked_items import plain_item, with_asked
from lodestar.language.items import Item
from lodestar.language.question import Occurrence
from lodestar.memory.answer import Answer
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import held_by_rooms, rooms_meant
from lodestar.memory.answering.records import RoomsMeant, Search, Thing
from lodestar.memory.answering.replies import (
    coverage_in_words,
    floor_seen,
    guess_factor,
    item_or_unknown,
    no_such_room,
    not_seen,
    place_of,
    proofs_of_memories,
    proofs_of_things,
    region_proof,
    reply,
    thing_confidence,
    thing_or_unseen,
    unknown,
)
from lodestar.memory.answering.selection import When, find, find_changed, when_asked
from lodestar.memory.answering.wording import CHANGED, ago_in_words, place_in_words
from lodestar.memory.records import EventKind
from lodestar.models.english import the, with_article
from lodestar.scene.captions import shows


def is_there(inquiry: Inquiry) -> Answer:
    """Return whether such a thing was seen, whether what is asked is true of it, or whether it changed."""
    question = inquiry.question
    item = held_by_rooms(inquiry, item_or_unknown(inquiry, "what"))
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        if question.act is not None or question.past:
            return _been(inquiry, rooms)
        return _room_exists(inquiry, rooms)
    if inquiry.is_of_change:
        return _changed(inquiry, item)
    if question.occurrence is Occurrence.FIRST:
        return _still(inquiry, item)
    if question.asked:
        return _is_so(inquiry, item)
    search = find(inquiry, item, when_asked(inquiry))
    best = thing_or_unseen(inquiry, item, search)
    return _gone(inquiry, best) if best.is_gone and not question.past else _yes(inquiry, search, best)


def been_here(inquiry: Inquiry) -> Answer:
    """Return whether the robot was in the room, at the thing, or at this very place before."""
    question = inquiry.question
    if question.here or question.item is None or not question.item.alternatives:
        return _been_at_this_place(inquiry)
    rooms = rooms_meant(inquiry, question.item)
    if rooms is not None:
        return _been(inquiry, rooms)
    best = thing_or_unseen(inquiry, question.item, find(inquiry, question.item, When.PAST))
    near = inquiry.chronicle.visits_around(best.box.centre, inquiry.config.passing)
    name = the(best.name)
    if not near:
        return reply(
            inquiry, f"No, I saw {name} but was never within {inquiry.config.passing:.0f} m of it.", 0.8,
            yes=False, proof=proofs_of_things((best,)), verified=inquiry.now,
        )  # fmt: skip
    return reply(
        inquiry, f"Yes, I was at {name} {ago_in_words(near[-1].end, inquiry.now)}.", 0.95,
        yes=True, times=[v.span for v in reversed(near)],
        proof=proofs_of_memories(near[-1].memories[-1:]), verified=near[-1].end,
    )  # fmt: skip


def _yes(inquiry: Inquiry, search: Search, best: Thing) -> Answer:
    gone = " It was gone later." if best.is_gone else ""
    stay = best.stay_that_fitted(best.stays)
    words, when = place_in_words(inquiry, stay.box, best), ago_in_words(stay.last, inquiry.now)
    sentence = f"Yes, {with_article(best.name)} {words}, last seen there {when}.{gone}"
    sure = thing_confidence(inquiry, Search((best,)), best, present=not inquiry.question.past)
    return reply(
        inquiry, sentence, sure,
        yes=True, places=[place_of(inquiry, t.box, t) for t in search.things[: inquiry.config.places]],
        names=[best.label], proof=proofs_of_things(search.things[: inquiry.config.places]),
        verified=best.last,
    )  # fmt: skip


def _gone(inquiry: Inquiry, best: Thing) -> Answer:
    """Return that it was there and is gone."""
    history = inquiry.chronicle.history(best)
    when = "" if history.gone_at is None else f" when I looked {ago_in_words(history.gone_at, inquiry.now)}"
    words = place_in_words(inquiry, best.box, best)
    until = ago_in_words(best.last, inquiry.now)
    sentence = f"No: {with_article(best.name)} was {words} until {until}; it was gone{when}."
    return reply(
        inquiry, sentence, 0.8,
        yes=False, proof=[*proofs_of_memories(history.changes[-1:]), *proofs_of_things((best,))],
        places=[place_of(inquiry, best.box, best)], verified=history.gone_at or best.last,
    )  # fmt: skip


def _is_so(inquiry: Inquiry, item: Item) -> Answer:
    """Return whether what is asked is true of the thing: no where the thing is known and it is not."""
    question = inquiry.question
    true = find(inquiry, with_asked(item, question.asked), when_asked(inquiry))
    plain = find(inquiry, plain_item(item, question.asked), When.PAST if question.past else When.KNOWN)
    best = true.best or plain.best
    looks = [p.value for p in question.asked if p.name == "HasAttribute"]
    hidden = [] if best is None else [look for look in looks if not shows(best.attributes, look)]
    if best is not None and hidden:
        where = place_in_words(inquiry, best.box, best)
        why = f"I know {the(best.name)} {where}, and not whether it is {' and '.join(hidden)}"
        return unknown(inquiry, why, proof=proofs_of_things((best,)))
    if true.best is not None and not (true.best.is_gone and not question.past):
        return _yes(inquiry, true, true.best)
    if plain.best is None:
        return not_seen(inquiry, plain_item(item, question.asked), plain)
    known = set(plain.best.attributes)
    words = place_in_words(inquiry, plain.best.box, plain.best)
    if looks and not known:
        why = f"I know {the(plain.best.name)} {words}, and not whether it is {' and '.join(looks)}"
        return unknown(inquiry, why, proof=proofs_of_things((plain.best,)))
    sentence = (
        f"No: {the(plain.best.name)} is {words}, last seen {ago_in_words(plain.best.last, inquiry.now)}."
    )
    sure = thing_confidence(inquiry, plain, plain.best, present=True)
    return reply(
        inquiry, sentence, sure * min(1.0, 1.2 - true.best_miss),
        yes=False, proof=proofs_of_things((plain.best,)),
        places=[place_of(inquiry, plain.best.box, plain.best)], verified=plain.best.last,
    )  # fmt: skip


def _changed(inquiry: Inquiry, item: Item) -> Answer:
    """Return whether a thing moved, went or came."""
    act = inquiry.question.act
    assert act is not None
    kind = inquiry.change
    if kind is None:
        return unknown(inquiry, f"I keep no record of whether things {act.verb}")
    search = find_changed(inquiry, item, kind)
    best = thing_or_unseen(inquiry, item, search)
    history = inquiry.chronicle.history(best)
    events = history.of_kind(kind)
    name, proof = the(best.name), proofs_of_things((best,))
    sure = thing_confidence(inquiry, search, best)
    moved = kind is EventKind.MOVED and len(history.stays) > 1
    gone = kind is EventKind.VANISHED and history.thing.is_gone
    if events or moved or gone:
        stamp = events[-1].start if events else history.stays[-1].first
        sure *= 1.0 if events or not history.inferred else inquiry.config.confidence.inferred
        return reply(
            inquiry, f"Yes, {name} {CHANGED[kind]}; I noticed it {ago_in_words(stamp, inquiry.now)}.", sure,
            yes=True, times=[(stamp, stamp)], proof=[*proofs_of_memories(events[-1:]), *proof],
            places=[place_of(inquiry, stay.box) for stay in reversed(history.stays)], verified=stamp,
        )  # fmt: skip
    last = history.stays[-1]
    where = place_in_words(inquiry, last.box, history.thing)
    first, latest = (ago_in_words(t, inquiry.now) for t in (history.stays[0].first, last.last))
    sentence = f"No, not that I know: {name} was {where} whenever I looked, first {first} and last {latest}."
    return reply(inquiry, sentence, sure * 0.9, yes=False, proof=proof, verified=last.last)


def _still(inquiry: Inquiry, item: Item) -> Answer:
    """Return whether a thing is still where it was first seen."""
    search = find(inquiry, item, When.EVER, loosely=True)
    best = thing_or_unseen(inquiry, item, search)
    history = inquiry.chronicle.history(best)
    stays, proof = history.stays, proofs_of_things((best,))
    sure = thing_confidence(inquiry, search, best, present=True)
    still = len(stays) == 1 and not history.thing.is_gone and history.gone_at is None
    name, last = the(history.thing.name), ago_in_words(stays[-1].last, inquiry.now)
    where = place_in_words(inquiry, stays[0].box, history.thing)
    if still:
        sentence = f"Yes, {name} is still {where}; I saw it last {last}."
    elif len(stays) > 1:
        now = place_in_words(inquiry, stays[-1].box, history.thing)
        sentence = f"No, {name} was {where} at first and {now} when I saw it last, {last}."
    else:
        sentence = f"No, {name} was {where} until {last} and is gone."
    return reply(
        inquiry, sentence, sure,
        yes=still, proof=[*proofs_of_memories(history.changes[-1:]), *proof],
        places=[place_of(inquiry, stay.box) for stay in reversed(stays)], verified=stays[-1].last,
    )  # fmt: skip


def _room_exists(inquiry: Inquiry, rooms: RoomsMeant) -> Answer:
    if not rooms.ids:
        seen = floor_seen(inquiry, None)
        if seen is None:
            return unknown(inquiry, f"I know no place called {rooms.name}", f"go to {the(rooms.name)}")
        sentence = f"No, I know no place called {rooms.name}. {coverage_in_words(inquiry, seen)}"
        return reply(inquiry, sentence, 0.6 * seen.share, yes=False, coverage=seen, verified=seen.last)
    proof = [region_proof(inquiry, i) for i in sorted(rooms.ids)]
    return reply(
        inquiry, f"Yes, there is {with_article(rooms.name)}.", 0.9,
        yes=True, names=[rooms.name], proof=proof, verified=inquiry.tools.scene.stamp or None,
    )  # fmt: skip


def _been(inquiry: Inquiry, rooms: RoomsMeant) -> Answer:
    visits = inquiry.chronicle.visits(rooms)
    where = the(rooms.name)
    if rooms.guessed and not visits:
        return no_such_room(inquiry, rooms)
    if visits:
        last = visits[-1]
        return reply(
            inquiry, f"Yes, I was in {where}, last {ago_in_words(last.end, inquiry.now)}.",
            0.95 * guess_factor(inquiry, rooms),
            yes=True, times=[v.span for v in reversed(visits)],
            proof=proofs_of_memories(last.memories[-1:]), verified=last.end,
        )  # fmt: skip
    seen = floor_seen(inquiry, rooms.ids or None)
    if seen is None:
        return no_such_room(inquiry, rooms)
    known = "" if rooms.ids else f" I know no place called {rooms.name}."
    return reply(
        inquiry, f"No, I do not remember to have been in {where}.{known} {coverage_in_words(inquiry, seen)}",
        0.8, yes=False, coverage=seen, directive=f"go to {where}", verified=seen.last,
        proof=[region_proof(inquiry, i) for i in sorted(rooms.ids)],
    )  # fmt: skip


def _been_at_this_place(inquiry: Inquiry) -> Answer:
    pose = inquiry.pose
    if inquiry.question.pose is not None:
        pose = np.array([inquiry.question.pose.x, inquiry.question.pose.y, 0.0])
    if pose is None:
        return unknown(inquiry, "I do not know my own place; I may be lost")
    before = inquiry.now - inquiry.config.just_now
    begin = -np.inf if inquiry.window is None else inquiry.window[0]
    end = before if inquiry.window is None else min(before, inquiry.window[1])
    earlier = inquiry.within((float(begin), float(end))) if begin <= end else None
    near = () if earlier is None else earlier.chronicle.visits_around(np.asarray(pose), inquiry.config.here)
    if near:
        count = f", {len(near)} times" if len(near) > 1 else ""
        return reply(
            inquiry, f"Yes, I was here before{count}, last {ago_in_words(near[-1].end, inquiry.now)}.", 0.95,
            yes=True, times=[v.span for v in reversed(near)],
            proof=proofs_of_memories(near[-1].memories[-1:]), verified=near[-1].end,
        )  # fmt: skip
    x, y = (float(value) for value in np.asarray(pose)[:2])
    grid, looks = inquiry.tools.grid, inquiry.tools.looks
    if grid is None or looks is None or not inquiry.tools.use_scene:
        return unknown(inquiry, f"I have no memory of ({x:.1f}, {y:.1f}) before")
    every = np.ones(grid.cells.shape, bool)
    seen = looks.coverage(grid, every, (float(begin), float(end)), inquiry.tools.check)
    return reply(
        inquiry, f"No, I have no memory of this place before the last minute. {coverage_in_words(inquiry, seen)}",
        0.8, yes=False, coverage=seen, verified=seen.last,
    )  # fmt: skip
