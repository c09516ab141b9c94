"""Answers to where something is or was, how far it is, and where the robot is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.language.items import Item
from lodestar.language.question import Occurrence, Question, QuestionKind
from lodestar.memory.answer import Answer, AnswerPlace, Proof
from lodestar.memory.answering.belongings import place_where_it_goes
from lodestar.memory.answering.happenings import happened_where
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.needs import is_need, names_no_object, things_for_need
from lodestar.memory.answering.readings import rooms_meant, without_new
from lodestar.memory.answering.records import Box, History, RoomsMeant, Search, Stay
from lodestar.memory.answering.replies import (
    CannotAnswer,
    apart,
    gone_since,
    guess_factor,
    item_or_unknown,
    no_such_room,
    place_of,
    proofs_of_memories,
    proofs_of_newest,
    proofs_of_things,
    region_proof,
    reply,
    room_place,
    thing_confidence,
    thing_or_unseen,
    unknown,
)
from lodestar.memory.answering.selection import When, find, find_changed
from lodestar.memory.answering.wording import ago_in_words, metres_in_words, place_in_words
from lodestar.memory.records import EventKind
from lodestar.models.english import listed, number_in_words, the


def where(inquiry: Inquiry) -> Answer:
    """Return where a thing or room is, was first, or was last."""
    question = inquiry.question
    item = inquiry.shown.item if inquiry.shown is not None else question.item
    if question.attribute == "home" or (question.image and not question.past and question.item == Item()):
        return place_where_it_goes(inquiry, item)
    if question.item is None and question.act is not None and question.past and not question.is_partial:
        return happened_where(inquiry)
    if is_need(inquiry, item):
        return _of_search(inquiry, things_for_need(inquiry), Item(), _need_factor(inquiry))
    item = item_or_unknown(inquiry, "of what", "name the thing or send a picture of it")
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        return _where_room(inquiry, rooms, item)
    search = _things_meant(inquiry, item)
    if search.best is None and (question.is_partial or names_no_object(item)):
        served = things_for_need(inquiry)
        if served.best is not None:
            return _of_search(inquiry, served, Item(), _need_factor(inquiry))
    return _of_search(inquiry, search, item)


def _need_factor(inquiry: Inquiry) -> float:
    """Return the factor of the confidence in what serves a need; that no rule reads the need is part of it."""
    config = inquiry.config.confidence
    return config.guessed / config.partial if inquiry.question.is_partial else config.guessed


def _things_meant(inquiry: Inquiry, item: Item) -> Search:
    """Return the things that an item means; those first that came or moved, where the question says that one did."""
    question = inquiry.question
    plain, is_new = without_new(item)
    if is_new or inquiry.change is EventKind.APPEARED:
        return find_changed(inquiry, plain, EventKind.APPEARED)
    if asks_before(question):
        return find_changed(inquiry, item, EventKind.MOVED)
    if question.occurrence is Occurrence.FIRST:
        return find(inquiry, item, When.EVER, loosely=True)
    return find(inquiry, item, When.PAST if question.past else When.KNOWN, loosely=True)


def _of_search(inquiry: Inquiry, search: Search, item: Item, factor: float = 1.0) -> Answer:
    best = thing_or_unseen(inquiry, item, search)
    history = inquiry.chronicle.history(best)
    first = inquiry.question.occurrence is Occurrence.FIRST or asks_before(inquiry.question)
    stay = history.stays[0] if first else best.stay_that_fitted(history.stays)
    sure = factor * thing_confidence(inquiry, search, best, present=not inquiry.question.past)
    if first and history.inferred:
        sure *= inquiry.config.confidence.inferred
    others = () if first else apart(inquiry, search)[1:]
    sentence = _sentence(inquiry, history, stay, first)
    if others:
        kinds = listed([place_in_words(inquiry, o.box, o) for o in others[:2]])
        also = (
            "Another one fits"
            if len(others) == 1
            else f"{number_in_words(len(others)).capitalize()} more fit"
        )
        sentence += f" {also}: {kinds}."
    rooms = [inquiry.room_name(inquiry.region_at(stay.box.centre))]
    boxes = [(stay.box, best), *((other.box, other) for other in others)]
    proof = proofs_of_things((best, *others))
    proof += proofs_of_newest(stay.sightings) + proofs_of_memories(history.changes[-1:])
    return reply(
        inquiry, sentence, sure,
        places=[place_of(inquiry, box, thing) for box, thing in boxes[: inquiry.config.places]],
        names=rooms, proof=proof, verified=stay.last, times=[(stay.first, stay.last)],
    )  # fmt: skip


def asks_before(question: Question) -> bool:
    """Tell whether the place before the last one is meant: "where was it before it was moved"."""
    end = question.window.end
    event = None if end is None else end.event
    return (
        question.kind is QuestionKind.WHERE
        and event is not None
        and event.act is not None
        and not event.act.own
    )


def _sentence(inquiry: Inquiry, history: History, stay: Stay, first: bool) -> str:
    """Return "It is on the desk in the kitchen; I saw it last 8 minutes ago"."""
    name, now = the(history.thing.name), inquiry.now
    where_words = place_in_words(inquiry, stay.box, history.thing)
    if first and len(history.stays) > 1:
        later = place_in_words(inquiry, history.stays[-1].box, history.thing)
        return (
            f"{name} was first {where_words}, from {ago_in_words(stay.first, now)} until "
            f"{ago_in_words(stay.last, now)}; since then it is {later}."
        )
    if stay is not history.stays[-1]:
        later = place_in_words(inquiry, history.stays[-1].box, history.thing)
        return f"{name} was {where_words} until {ago_in_words(stay.last, now)}; now it is {later}."
    if history.thing.is_gone or history.gone_at is not None:
        gone = "" if history.gone_at is None else f" when I looked {ago_in_words(history.gone_at, now)}"
        return f"{name} was {where_words} until {ago_in_words(stay.last, now)}; it was gone{gone}."
    if inquiry.question.past:
        return f"I saw {name} {where_words}, last {ago_in_words(stay.last, now)}."
    moved = ""
    if len(history.stays) > 1:
        before = history.stays[-2]
        old = place_in_words(inquiry, before.box, history.thing)
        moved = f" It was {old} until {ago_in_words(before.last, now)}."
    return f"{name} is {where_words}; I saw it last {ago_in_words(stay.last, now)}.{moved}"


def _where_room(inquiry: Inquiry, rooms: RoomsMeant, item: Item) -> Answer:
    if not rooms.ids:
        return no_such_room(inquiry, rooms)
    place, order = inquiry.place, inquiry.nearest_rooms(rooms.ids, inquiry.place)
    best = inquiry.tools.scene.regions[order[0]]
    x, y = (float(value) for value in np.asarray(best.centroid, float)[:2])
    away = (
        "" if place is None else f"{metres_in_words(float(np.hypot(x - place[0], y - place[1])))} from here, "
    )
    sentence = f"{the(rooms.name)} is {away}around ({x:.1f}, {y:.1f})."
    sure = (1.0 if best.named else 0.5 + 0.5 * best.label_weight) * guess_factor(inquiry, rooms)
    if len(order) > 1:
        which = "I do not know which is the nearest" if place is None else "this is the nearest"
        sentence += f" There are {number_in_words(len(order))}; {which}."
        sure *= inquiry.config.confidence.ambiguous if place is None else 1.0
    return reply(
        inquiry, sentence, sure,
        places=[room_place(inquiry, i) for i in order[: inquiry.config.places]],
        names=[rooms.name], proof=[region_proof(inquiry, i) for i in order],
        verified=inquiry.tools.scene.stamp or None,
    )  # fmt: skip


def where_are_you(inquiry: Inquiry) -> Answer:
    """Return the robot's room and place, also at the time of a window."""
    pose, now = inquiry.pose, inquiry.now
    proof = []
    if inquiry.window is not None:
        known = inquiry.chronicle.segments
        if not known:
            return unknown(inquiry, "I remember nothing of that time")
        pose, now, proof = known[-1].position, known[-1].end, proofs_of_memories(known[-1:])
    if pose is None:
        return unknown(inquiry, "I do not know my own place; I may be lost")
    x, y = (float(value) for value in np.asarray(pose, float)[:2])
    here = Box(np.array([x, y, 0.0]), np.array([x, y, 0.5]))
    region = inquiry.region_at(here.centre)
    if region in inquiry.tools.scene.regions:
        proof.append(region_proof(inquiry, region))
    verb = "am" if inquiry.window is None else "was"
    when = "" if inquiry.window is None else f" {ago_in_words(now, inquiry.now)}"
    words = place_in_words(inquiry, here)
    at = "" if words.startswith("at (") else f", at ({x:.1f}, {y:.1f})"
    return reply(
        inquiry, f"I {verb} {words}{at}{when}.", 1.0,
        places=[AnswerPlace(np.array([x, y, 0.0]))],
        names=[inquiry.room_name(region)], proof=proof, verified=now,
    )  # fmt: skip


def how_far(inquiry: Inquiry) -> Answer:
    """Return metres from the item to the other thing or to the robot, along the floor where it is known; without an
    item, how far the robot went.
    """
    question = inquiry.question
    if question.item is None or not question.item.alternatives:
        return _driven(inquiry)
    start = _here(inquiry) if question.other is None else _end(inquiry, question.other, inquiry.place)
    goal = _end(inquiry, question.item, start.box.centre)
    way = _way_to(inquiry, goal.box) if question.other is None else None
    number = goal.box.away(start.box.centre) if way is None else way
    how = "in a straight line" if way is None else "on the way that I can take"
    return reply(
        inquiry, f"{goal.name} is {metres_in_words(number)} from {start.name}, {how}.{goal.also}{start.also}",
        (0.9 if way is None else 1.0) * start.sure * goal.sure,
        number=number, places=[place_of(inquiry, goal.box)], proof=[*goal.proof, *start.proof],
        verified=min((proof.stamp for proof in (*goal.proof[:1], *start.proof[:1])), default=None),
    )  # fmt: skip


@dataclass(frozen=True)
class _End:
    """A place that a distance is measured from or to. sure: that it is meant. also: others that may be."""

    box: Box
    name: str
    sure: float = 1.0
    proof: tuple[Proof, ...] = ()
    also: str = ""


def _here(inquiry: Inquiry) -> _End:
    if inquiry.place is None:
        raise CannotAnswer(unknown(inquiry, "I do not know my own place; I may be lost"))
    return _End(Box.around(np.array([*inquiry.place, 0.0])), "here")


def _end(inquiry: Inquiry, item: Item, near: np.ndarray | None) -> _End:
    """Return the thing or the room that an item names, of several the one nearest to a place.

    Raises CannotAnswer where there is none, or none any more.
    """
    rooms = rooms_meant(inquiry, item)
    if rooms is not None:
        if not rooms.ids:
            raise CannotAnswer(no_such_room(inquiry, rooms))
        best, *rest = inquiry.nearest_rooms(rooms.ids, near)
        region = inquiry.tools.scene.regions[best]
        box = Box.around(np.array([*np.asarray(region.centroid, float)[:2], 0.0]))
        unsure = inquiry.config.confidence.ambiguous if rest and near is None else 1.0
        also = f" I know {number_in_words(1 + len(rest))} such rooms." if rest else ""
        sure = guess_factor(inquiry, rooms) * unsure
        return _End(box, the(rooms.name), sure, (region_proof(inquiry, best),), also)
    search = find(inquiry, item)
    thing = thing_or_unseen(inquiry, item, search)
    if thing.is_gone:
        raise CannotAnswer(gone_since(inquiry, thing))
    search = search.here()
    rivals = apart(inquiry, search)
    if near is not None:
        thing = min(rivals, key=lambda t: t.box.away(near))
    others = [t for t in rivals if t is not thing]
    where = listed([place_in_words(inquiry, other.box, other) for other in others[:2]])
    also = (
        f" {number_in_words(len(others)).capitalize()} more fit{'s' if len(others) == 1 else ''}: {where}."
        if others
        else ""
    )
    sure = thing_confidence(inquiry, search, thing, present=True)
    return _End(thing.box, the(thing.name), sure, tuple(proofs_of_things((thing, *others))), also)


def _way_to(inquiry: Inquiry, goal: Box) -> float | None:
    """Return the metres of the way to the reachable floor nearest to a box."""
    grid, lengths = inquiry.tools.grid, inquiry.lengths
    if grid is None or lengths is None:
        return None
    cells = np.argwhere(np.isfinite(lengths))
    if not len(cells):
        return None
    points = grid.points_of(cells)
    gaps = np.linalg.norm(points - np.clip(points, goal.low[:2], goal.high[:2]), axis=1)
    best = int(gaps.argmin())
    return None if gaps[best] > 2.0 else float(lengths[tuple(cells[best])] + gaps[best])


def _driven(inquiry: Inquiry) -> Answer:
    known = inquiry.chronicle.segments
    if len(known) < 2:
        return unknown(inquiry, "I remember too little of where I was")
    steps = np.linalg.norm(np.diff(np.array([m.position[:2] for m in known]), axis=0), axis=1)
    metres = float(steps.sum())
    sentence = f"I went about {metres_in_words(metres)} since {ago_in_words(known[0].start, inquiry.now)}."
    return reply(
        inquiry, sentence, 0.8,
        number=metres, proof=proofs_of_memories((known[0], known[-1])), verified=known[-1].end,
        times=[(known[0].start, known[-1].end)],
    )  # fmt: skip
