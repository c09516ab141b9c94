"""Answers about the presence, state and change of objects and rooms, and about the robot's visits."""

from __future__ import annotations

import numpy as np

from lodestar.language.asked_items import plain_item, with_asked
from lodestar.memory.answer import Answer
from lodestar.memory.answering.config import ANSWERING_PASSING, ANSWERING_PLACES
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.replies import (
    coverage_in_words,
    directive_to_find,
    floor_seen,
    proofs_of_memories,
    reply,
    unknown,
)
from lodestar.memory.answering.selection import When, find, when_asked
from lodestar.memory.answering.subjects import About, Meant, Rooms, Visited, shown_things
from lodestar.memory.answering.wording import CHANGED
from lodestar.memory.records import EventKind
from lodestar.models.english import with_article
from lodestar.scene.captions import tells

ANSWERING_HERE = 3.0  # metres around a place that count as "here"; chosen: half a room
ANSWERING_JUST_NOW = 60.0  # seconds before now that do not count as "before": "have you been here"; chosen

# --- objects -------------------------------------------------------------------------------------------------------


def is_there(it: Meant) -> Answer:
    """Return an answer that says whether such an object is or was there, or that it is gone."""
    if it.left_out:
        return _gone(it)
    inquiry, best = it.inquiry, it.best
    gone = " It was gone later." if best.is_gone and not best.moved_on else ""
    stay = best.stay_that_fitted(best.stays)
    sentence = f"Yes, {it.a} {it.at(stay)}, last seen there {it.ago(stay.last)}.{gone}"
    sure = it.sure(present=not inquiry.question.past, alone=True)
    shown = shown_things(inquiry, it.search.things[:ANSWERING_PLACES])
    return reply(inquiry, sentence, sure, yes=True, names=[best.label], **shown)


def _gone(it: Meant) -> Answer:
    sentence = f"No: {it.a} was {it.where} until {it.last}; it was gone{it.when_gone}."
    shown = {**it.shown(), "verified": it.history.gone_at or it.best.last, "proof": it.proof_of_history}
    if it.best.moved_on:
        return reply(it.inquiry, f"Not that I see now: {it.seen_then}.", 0.5, yes=False, **shown)
    return reply(it.inquiry, sentence, 0.8, yes=False, **shown)


def is_so(about: About) -> Answer:
    """Return an answer that says whether a property holds; "no" if the object is known without it."""
    inquiry, question = about.inquiry, about.inquiry.question
    plain_words = plain_item(about.item)
    true = find(inquiry, with_asked(about.item, question.asked), when_asked(inquiry))
    plain = find(inquiry, plain_words, When.PAST if question.past else When.KNOWN)
    looks = [p.value for p in question.asked if p.name == "HasAttribute"]
    if looks and true.best is None and plain.best is None:  # the question takes the object for granted
        why, directive = (
            f"I have not seen any {plain_words.phrase}",
            directive_to_find(plain_words, question.scope),
        )
        return unknown(inquiry, why, directive)
    it = Meant.of(inquiry, plain_words, true if true.things else plain)
    hidden = [look for look in looks if not tells(it.best.attributes, look)]
    if not hidden and true.things and not it.left_out:
        return is_there(it)
    if not hidden:
        it = Meant.of(inquiry, plain_words, plain)
        hidden = [look for look in looks if not tells(it.best.attributes, look)]
    if hidden:
        why = f"I know {it.the} {it.where}, and not whether it is {' and '.join(hidden)}"
        return unknown(inquiry, why, proof=it.proof)
    sure = it.sure(present=True) * min(1.0, 1.2 - true.best_miss)
    sentence = f"No: {it.the} is {it.where}, last seen {it.last}."
    return reply(inquiry, sentence, sure, yes=False, **it.shown())


def has_changed(it: Meant) -> Answer:
    """Return an answer that says whether an object moved, vanished or appeared."""
    inquiry, kind, history = it.inquiry, it.inquiry.change, it.history
    assert kind is not None
    events, sure = history.of_kind(kind), it.sure()
    moved = kind is EventKind.MOVED and len(it.stays) > 1
    gone = kind is EventKind.VANISHED and it.best.is_gone
    if events or moved or gone:
        stamp = events[-1].start if events else it.stays[-1].first
        return reply(
            inquiry, f"Yes, {it.the} {CHANGED[kind]}; I noticed it {it.ago(stamp)}.",
            sure * (1.0 if events else it.inferred), yes=True, times=[(stamp, stamp)],
            proof=[*proofs_of_memories(events[-1:]), *it.proof], places=it.places_of_stays, verified=stamp,
        )  # fmt: skip
    last = it.stays[-1]
    first, latest = it.ago(it.stays[0].first), it.ago(last.last)
    sentence = (
        f"No, not that I know: {it.the} was {it.at(last)} whenever I looked, first {first} and last {latest}."
    )
    return reply(inquiry, sentence, sure * 0.9, yes=False, proof=it.proof, verified=last.last)


def is_still_there(it: Meant) -> Answer:
    """Return an answer that says whether an object is still where it was first seen."""
    stays, last = it.stays, it.ago(it.stays[-1].last)
    still, where = len(stays) == 1 and not it.is_gone, it.at(it.stays[0])
    sentence = f"No, {it.the} was {where} until {last} and is gone."
    if still:
        sentence = f"Yes, {it.the} is still {where}; I saw it last {last}."
    elif len(stays) > 1:
        sentence = f"No, {it.the} was {where} at first and {it.at(stays[-1])} when I saw it last, {last}."
    return reply(
        it.inquiry, sentence, it.sure(present=True), yes=still,
        proof=it.proof_of_history, places=it.places_of_stays, verified=stays[-1].last,
    )  # fmt: skip


# --- rooms and places ----------------------------------------------------------------------------------------------


def room_exists(rooms: Rooms) -> Answer:
    """Return an answer that says whether the map has such a room.

    A "no" states the share of the floor that was looked at.
    """
    inquiry, name = rooms.inquiry, rooms.meant.name
    if rooms.meant.ids:
        stamp = inquiry.tools.scene.stamp or None
        sentence = f"Yes, there is {with_article(name)}."
        return reply(inquiry, sentence, 0.9, yes=True, names=[name], proof=rooms.proof, verified=stamp)
    seen = floor_seen(inquiry, None)
    if seen is None:
        return unknown(inquiry, f"I know no place called {name}", f"go to {rooms.the}")
    sentence = f"No, I know no place called {name}. {coverage_in_words(inquiry, seen)}"
    return reply(inquiry, sentence, 0.6 * seen.share, yes=False, coverage=seen)


def was_in(rooms: Rooms) -> Answer:
    """Return an answer that says whether the robot was in a room."""
    inquiry, it, meant = rooms.inquiry, rooms.visits, rooms.meant
    if it.visits:
        sentence = f"Yes, I was {it.where}, last {it.last}."
        return reply(inquiry, sentence, 0.95 * it.factor, yes=True, **it.shown())
    seen = None if meant.guessed else floor_seen(inquiry, meant.ids or None)
    if seen is None:
        return rooms.unvisited()
    known = "" if meant.ids else f" I know no place called {meant.name}."
    sentence = f"No, I do not remember to have been {it.where}.{known} {coverage_in_words(inquiry, seen)}"
    directive = f"go to {rooms.the}"
    return reply(inquiry, sentence, 0.8, yes=False, coverage=seen, directive=directive, proof=rooms.proof)


def was_at(it: Meant) -> Answer:
    """Return an answer that says whether the robot was at an object."""
    inquiry, near = it.inquiry, it.visits(it.best.box)
    if near.visits:
        return reply(inquiry, f"Yes, I was {near.where} {near.last}.", 0.95, yes=True, **near.shown())
    sentence = f"No, I saw {it.the} but was never within {ANSWERING_PASSING:.0f} m of it."
    return reply(inquiry, sentence, 0.8, yes=False, proof=it.proof, verified=inquiry.now)


def was_here(inquiry: Inquiry) -> Answer:
    """Return an answer that says whether the robot was at its present position before."""
    pose = inquiry.pose
    if inquiry.question.pose is not None:
        pose = np.array([inquiry.question.pose.x, inquiry.question.pose.y, 0.0])
    if pose is None:
        return unknown(inquiry, "I do not know my own place; I may be lost")
    before = inquiry.now - ANSWERING_JUST_NOW
    begin = -np.inf if inquiry.window is None else inquiry.window[0]
    end = before if inquiry.window is None else min(before, inquiry.window[1])
    earlier = inquiry.within((float(begin), float(end))) if begin <= end else None
    near = () if earlier is None else earlier.chronicle.visits_around(np.asarray(pose), ANSWERING_HERE)
    if near:
        it = Visited(inquiry, "here", near)
        count = f", {len(near)} times" if len(near) > 1 else ""
        return reply(inquiry, f"Yes, I was here before{count}, last {it.last}.", 0.95, yes=True, **it.shown())
    x, y = (float(value) for value in np.asarray(pose)[:2])
    grid, looks = inquiry.tools.grid, inquiry.tools.looks
    if grid is None or looks is None or not inquiry.tools.use_scene:
        return unknown(inquiry, f"I have no memory of ({x:.1f}, {y:.1f}) before")
    every = np.ones(grid.cells.shape, bool)
    seen = looks.coverage(grid, every, (float(begin), float(end)), inquiry.tools.check)
    sentence = (
        f"No, I have no memory of this place before the last minute. {coverage_in_words(inquiry, seen)}"
    )
    return reply(inquiry, sentence, 0.8, yes=False, coverage=seen)
