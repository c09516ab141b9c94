"""Answers about places of objects, where they belong, distances, and the robot's position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.language.items import Item
from lodestar.language.question import Question, QuestionKind
from lodestar.memory.answer import Answer, AnswerPlace, Proof
from lodestar.memory.answering.config import ANSWERING_PLACES, CONFIDENCE_AMBIGUOUS
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import rooms_meant
from lodestar.memory.answering.records import Box, Stay, Thing
from lodestar.memory.answering.replies import (
    CannotAnswer,
    place_of,
    proofs_of_memories,
    proofs_of_newest,
    proofs_of_things,
    region_proof,
    reply,
    room_place,
    unknown,
)
from lodestar.memory.answering.selection import When, find
from lodestar.memory.answering.subjects import About, Meant, Rooms
from lodestar.memory.answering.wording import ago_in_words, metres_in_words, place_in_words, support_of
from lodestar.models.english import listed, number_in_words, the
from lodestar.scene.captions import clean_text

ANSWERING_ALIKE = 4.0  # metres between objects of a kind that form one group; chosen

_LOST = "I do not know my own place; I may be lost"

# --- places --------------------------------------------------------------------------------------------------------


def where(it: Meant) -> Answer:
    """Return an answer with the object's present, first or last place."""
    inquiry, question, best = it.inquiry, it.inquiry.question, it.best
    first = inquiry.asks_first or asks_before(question)
    stay = it.stays[0] if first else best.stay_that_fitted(it.stays)
    sure = it.sure(present=not question.past) * (it.inferred if first else 1.0)
    others = () if first else it.apart[1:]
    sentence = _sentence(it, stay, first)
    if others:
        places = listed([place_in_words(inquiry, o.box, o) for o in others[:2]])
        many = f"{number_in_words(len(others)).capitalize()} more fit" if others[1:] else "Another one fits"
        sentence += f" {many}: {places}."
    boxes = [(stay.box, best), *((other.box, other) for other in others)]
    proof = proofs_of_things((best, *others))
    proof += proofs_of_newest(stay.sightings) + proofs_of_memories(it.history.changes[-1:])
    return reply(
        inquiry, sentence, sure,
        places=[place_of(inquiry, box, thing) for box, thing in boxes[: ANSWERING_PLACES]],
        names=[inquiry.room_at(stay.box.centre)], proof=proof, verified=stay.last,
        times=[(stay.first, stay.last)],
    )  # fmt: skip


def asks_before(question: Question) -> bool:
    """Return whether the question asks for the place before a change: "where was it before it was moved"."""
    end = question.window.end
    act = None if end is None or end.event is None else end.event.act
    return question.kind is QuestionKind.WHERE and act is not None and not act.own


def _sentence(it: Meant, stay: Stay, first: bool) -> str:
    """Return a sentence such as "It is on the desk in the kitchen; I saw it last 8 minutes ago"."""
    stays, place, until = it.stays, it.at(stay), it.ago(stay.last)
    if first and len(stays) > 1:
        since = f"from {it.ago(stay.first)} until {until}; since then it is {it.at(stays[-1])}"
        return f"{it.the} was first {place}, {since}."
    if stay is not stays[-1]:
        return f"{it.the} was {place} until {until}; now it is {it.at(stays[-1])}."
    if it.best.moved_on:
        return f"I saw {it.the} {place}, last {until}."
    if it.is_gone:
        return f"{it.the} was {place} until {until}; it was gone{it.when_gone}."
    if it.inquiry.question.past:
        return f"I saw {it.the} {place}, last {until}."
    moved = f" It was {it.at(stays[-2])} until {it.ago(stays[-2].last)}." if len(stays) > 1 else ""
    return f"{it.the} is {place}; I saw it last {until}.{moved}"


def where_rooms(rooms: Rooms) -> Answer:
    """Return an answer with the place of a room; of several rooms the nearest."""
    inquiry, place = rooms.inquiry, rooms.inquiry.place
    if not rooms.meant.ids:
        return rooms.unvisited()
    order = inquiry.nearest_rooms(rooms.meant.ids, place)
    best = inquiry.tools.scene.regions[order[0]]
    x, y = (float(value) for value in np.asarray(best.centroid, float)[:2])
    away = ""
    if place is not None:
        away = f"{metres_in_words(float(np.hypot(x - place[0], y - place[1])))} from here, "
    sentence = f"{rooms.the} is {away}around ({x:.1f}, {y:.1f})."
    sure = (1.0 if best.named else 0.5 + 0.5 * best.label_weight) * rooms.factor
    if len(order) > 1:
        which = "I do not know which is the nearest" if place is None else "this is the nearest"
        sentence += f" There are {number_in_words(len(order))}; {which}."
        sure *= CONFIDENCE_AMBIGUOUS if place is None else 1.0
    return reply(
        inquiry, sentence, sure,
        places=[room_place(inquiry, i) for i in order[: ANSWERING_PLACES]], names=[rooms.meant.name],
        proof=[region_proof(inquiry, i) for i in order], verified=inquiry.tools.scene.stamp or None,
    )  # fmt: skip


def where_are_you(inquiry: Inquiry) -> Answer:
    """Return an answer with the robot's room and position, now or in the window."""
    pose, now, proof, verb, when = inquiry.pose, inquiry.now, list[Proof](), "am", ""
    if inquiry.window is not None:
        known = inquiry.chronicle.segments
        if not known:
            return unknown(inquiry, "I remember nothing of that time")
        pose, now, proof = known[-1].position, known[-1].end, proofs_of_memories(known[-1:])
        verb, when = "was", f" {ago_in_words(now, inquiry.now)}"
    if pose is None:
        return unknown(inquiry, _LOST)
    x, y = (float(value) for value in np.asarray(pose, float)[:2])
    here = Box(np.array([x, y, 0.0]), np.array([x, y, 0.5]))
    region = inquiry.region_at(here.centre)
    if region in inquiry.tools.scene.regions:
        proof.append(region_proof(inquiry, region))
    words = place_in_words(inquiry, here)
    at = "" if words.startswith("at (") else f", at ({x:.1f}, {y:.1f})"
    places, names = [AnswerPlace(np.array([x, y, 0.0]))], [inquiry.room_name(region)]
    sentence = f"I {verb} {words}{at}{when}."
    return reply(inquiry, sentence, 1.0, places=places, names=names, proof=proof, verified=now)


# --- usual places --------------------------------------------------------------------------------------------------


def where_it_belongs(inquiry: Inquiry) -> Answer:
    """Return an answer with an object's first place if it was moved, else the usual place of its kind.

    The usual place is that of most objects of the kind, without the object itself if it is known.
    """
    item = inquiry.item
    if item is None:
        return unknown(inquiry, "I do not know which thing is meant; name it or send a picture of it")
    search = find(inquiry, item, When.PAST)
    if search.best is None:  # search by kind alone, without appearance and neighbours
        bare = Item(tuple((readings[0].of_variable(0),) for readings in item.alternatives))
        search = find(inquiry, bare, When.PAST)
    it = Meant.of(inquiry, item, search)
    if len(search.here().things) <= 1 and len(it.stays) > 1:
        return _first_place(it)
    shown = 0 if inquiry.shown is None else inquiry.shown.entity_id
    kin = [t for t in search.things if t.id != shown and not t.is_gone] or list(search.things)
    words, group = _largest_group(inquiry, kin)
    middle = np.mean([thing.box.centre for thing in group], axis=0)
    best = min(group, key=lambda t: (float(np.linalg.norm(t.box.centre - middle)), t.id))
    many = f"{number_in_words(len(group))} of {len(kin)} like it are" if kin[1:] else "the one that I know is"
    return reply(
        inquiry, f"It goes {words}: {many} there.",
        it.sure(best, alone=True) * (0.5 + 0.5 * (len(group) / len(kin))),
        places=[place_of(inquiry, best.box, best)], names=[inquiry.room_at(best.box.centre)],
        proof=proofs_of_things(group[: ANSWERING_PLACES]), verified=max(thing.last for thing in group),
    )  # fmt: skip


def _first_place(it: Meant) -> Answer:
    """Return an answer with an object's place before it was moved."""
    inquiry, first = it.inquiry, it.stays[0]
    until = f"until {it.ago(first.last)}; it was moved since, so it goes there"
    return reply(
        inquiry, f"{it.the} was {it.at(first)} at first, {until}.", it.sure() * it.inferred,
        places=[place_of(inquiry, first.box)], names=[inquiry.room_at(first.box.centre)],
        proof=proofs_of_newest(first.sightings) + it.proof, verified=first.last,
        times=[(first.first, first.last)],
    )  # fmt: skip


def _largest_group(inquiry: Inquiry, things: Sequence[Thing]) -> tuple[str, list[Thing]]:
    """Return place (words) and members of the largest group of objects on one support or near each other."""
    groups: dict[str, list[Thing]] = defaultdict(list)
    names: dict[str, str] = {}

    def near(thing: Thing) -> str:
        for key, members in groups.items():
            gap = min(m.box.away(thing.box.centre) for m in members)
            if not key.startswith("on ") and gap <= ANSWERING_ALIKE:
                return key
        return f"near {thing.id}"

    for thing in sorted(things, key=lambda t: t.id):
        support = support_of(inquiry, thing.box, thing)
        key = near(thing) if support is None else f"on {support.id}"
        names.setdefault(key, place_in_words(inquiry, thing.box, thing))
        groups[key].append(thing)
    best = max(groups, key=lambda key: (len(groups[key]), key.startswith("on "), clean_text(names[key])))
    return names[best], groups[best]


# --- distances -----------------------------------------------------------------------------------------------------


def how_far(about: About) -> Answer:
    """Return an answer with the distance of an object from another one or the robot.

    From the robot it is the length of the path if that is known, else it is in a straight line.
    """
    inquiry, question = about.inquiry, about.inquiry.question
    start = _here(inquiry) if question.other is None else _end(inquiry, question.other, inquiry.place)
    goal = _end(inquiry, about.item, start.box.centre)
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
    """One end of a distance. sure: confidence that it is meant. also: sentence on other candidates."""

    box: Box
    name: str
    sure: float = 1.0
    proof: tuple[Proof, ...] = ()
    also: str = ""


def _here(inquiry: Inquiry) -> _End:
    if inquiry.place is None:
        raise CannotAnswer(unknown(inquiry, _LOST))
    return _End(Box.around(np.array([*inquiry.place, 0.0])), "here")


def _end(inquiry: Inquiry, item: Item, near: np.ndarray | None) -> _End:
    """Return the object or room that an item names; of several the one nearest to a place.

    Raises CannotAnswer if there is none, or if it is gone.
    """
    meant = rooms_meant(inquiry, item)
    if meant is not None:
        rooms = Rooms(inquiry, meant)
        if not meant.ids:
            raise CannotAnswer(rooms.unvisited())
        best, *rest = inquiry.nearest_rooms(meant.ids, near)
        region = inquiry.tools.scene.regions[best]
        box = Box.around(np.array([*np.asarray(region.centroid, float)[:2], 0.0]))
        unsure = CONFIDENCE_AMBIGUOUS if rest and near is None else 1.0
        also = f" I know {number_in_words(1 + len(rest))} such rooms." if rest else ""
        return _End(box, rooms.the, rooms.factor * unsure, (region_proof(inquiry, best),), also)
    it = Meant.of(inquiry, item, find(inquiry, item))
    if it.best.is_gone:
        raise CannotAnswer(it.gone_since())
    it = Meant(inquiry, it.search.here())
    thing = it.best if near is None else min(it.apart, key=lambda t: t.box.away(near))
    others = [t for t in it.apart if t is not thing]
    places = listed([place_in_words(inquiry, other.box, other) for other in others[:2]])
    many = f"{number_in_words(len(others)).capitalize()} more fit{'' if others[1:] else 's'}"
    also = f" {many}: {places}." if others else ""
    proof = tuple(proofs_of_things((thing, *others)))
    return _End(thing.box, the(thing.name), it.sure(thing, present=True), proof, also)


def _way_to(inquiry: Inquiry, goal: Box) -> float | None:
    """Return the path length, metres, to the reachable floor nearest to a box; None if it is unknown."""
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


def how_far_driven(inquiry: Inquiry) -> Answer:
    """Return an answer with the distance that the robot drove."""
    known = inquiry.chronicle.segments
    if len(known) < 2:
        return unknown(inquiry, "I remember too little of where I was")
    metres, begin, end = inquiry.chronicle.driven, known[0].start, known[-1].end
    return reply(
        inquiry, f"I went about {metres_in_words(metres)} since {ago_in_words(begin, inquiry.now)}.", 0.8,
        number=metres, proof=proofs_of_memories((known[0], known[-1])), verified=end, times=[(begin, end)],
    )  # fmt: skip
