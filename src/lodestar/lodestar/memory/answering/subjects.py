"""Subjects of questions (objects, rooms, visits): their names in words, confidence, places and proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lodestar.language.items import Item
from lodestar.memory.answer import Answer, AnswerPlace, Proof
from lodestar.memory.answering.config import (
    ANSWERING_PASSING,
    ANSWERING_PLACES,
    CONFIDENCE_AMBIGUOUS,
    CONFIDENCE_INFERRED,
)
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import Box, History, RoomsMeant, Search, Stay, Thing, Visit
from lodestar.memory.answering.replies import (
    CannotAnswer,
    not_seen,
    place_of,
    proofs_of_memories,
    proofs_of_things,
    region_proof,
    unknown,
)
from lodestar.memory.answering.wording import ago_in_words, place_in_words
from lodestar.memory.evidence.selection import BOTTLENECK_MAX_SPAN
from lodestar.memory.records import Memory
from lodestar.models.english import the, with_article
from lodestar.query.config import QUERY_AMBIGUOUS

CONFIDENCE_ARCHIVED = 0.8  # factor for an object that the scene has archived; chosen
CONFIDENCE_REMEMBERED = 0.9  # factor for an object known from memories alone; chosen
CONFIDENCE_ONCE = 0.8  # factor for an object seen in one segment only; chosen
CONFIDENCE_TWICE = 0.92  # factor for an object seen in two segments; chosen
# factor if a part of the description could not be checked, because its neighbour or room is not known; chosen
CONFIDENCE_RELAXED = 0.6
# seconds without a sighting in which the confidence in "it is there" halves; chosen: objects stay for a day
CONFIDENCE_HALF_LIFE = 86400.0
CONFIDENCE_LEAST_FRESH = 0.4  # least value of that factor; chosen


@dataclass(frozen=True)
class About:
    """Question being answered, and the object description (item) to answer about."""

    inquiry: Inquiry
    item: Item


@dataclass(frozen=True)
class Meant:
    """Objects that a question means, best first; never empty. factor: multiplies the confidence in them.

    Properties in words, such as `the` and `where`, describe the best object.
    """

    inquiry: Inquiry
    search: Search
    factor: float = 1.0

    @classmethod
    def of(cls, inquiry: Inquiry, item: Item, search: Search, factor: float = 1.0) -> Meant:
        """Return the objects that a search found.

        Raises CannotAnswer, with the share of the floor that was looked at, if it found none.
        """
        if search.best is None:
            raise CannotAnswer(not_seen(inquiry, item, search))
        return cls(inquiry, search, factor)

    @property
    def best(self) -> Thing:
        """Return the remembered object that fits the question's description best."""
        return self.search.things[0]

    @cached_property
    def history(self) -> History:
        """Return the best object's history."""
        return self.inquiry.chronicle.history(self.best)

    @property
    def stays(self) -> tuple[Stay, ...]:
        """Return the best object's stays, oldest first."""
        return self.history.stays

    @property
    def is_gone(self) -> bool:
        """Return whether the best object is known to be gone, from the scene or a view of its place."""
        return self.best.is_gone or self.history.gone_at is not None

    @property
    def left_out(self) -> bool:
        """Return whether the object is gone and the question is not about the past."""
        return self.best.is_gone and not self.inquiry.question.past

    # --- words -------------------------------------------------------------------------------------------------

    @property
    def the(self) -> str:
        """Return the best object's name with its article: "the red mug"."""
        return the(self.best.name)

    @property
    def a(self) -> str:
        """Return the best object's name with an indefinite article: "a red mug"."""
        return with_article(self.best.name)

    @property
    def where(self) -> str:
        """Return the object's place in words: "on the desk in the kitchen"."""
        return self.at(self.best)

    @property
    def last(self) -> str:
        """Return the time since the object was last seen, in words: "8 minutes ago"."""
        return self.ago(self.best.last)

    @property
    def seen_then(self) -> str:
        """Return the last sighting as a clause: "I saw a person in the kitchen, last 3 minutes ago"."""
        return f"I saw {self.a} {self.where}, last {self.last}"

    def at(self, stay: Stay | Thing) -> str:
        """Return the place of a stay in words."""
        return place_in_words(self.inquiry, stay.box, self.best)

    def ago(self, stamp: float) -> str:
        """Return the time since `stamp` in words: "8 minutes ago"."""
        return ago_in_words(stamp, self.inquiry.now)

    @property
    def when_gone(self) -> str:
        """Return when the object was seen to be gone: " when I looked 8 minutes ago"; "" = unknown."""
        gone_at = self.history.gone_at
        return "" if gone_at is None else f" when I looked {self.ago(gone_at)}"

    # --- confidence --------------------------------------------------------------------------------------------

    def sure(self, thing: Thing | None = None, *, present: bool = False, alone: bool = False) -> float:
        """Return the confidence, [0, 1], that an object (None = the best) is the one meant: a product of factors.

        The score gives 0.7 to 1. Further factors: source of the knowledge, number of sightings, rivals at other places
        (not if `alone`), and, if the answer says that the object is `present`, the time since it was last seen.
        """
        accept = self.inquiry.config.query.accept
        thing = self.best if thing is None else thing
        sure = 0.7 + 0.3 * (thing.score - accept) / max(1.0 - accept, 1e-6)
        if thing.is_gone:
            sure *= CONFIDENCE_ARCHIVED
        elif thing.entity is None:
            sure *= CONFIDENCE_REMEMBERED
        count = len(thing.sightings)
        if thing.entity is not None:
            count = max(count, thing.entity.observation_count)
        sure *= CONFIDENCE_ONCE if count <= 1 else CONFIDENCE_TWICE if count == 2 else 1.0
        if not alone and len(self.apart) > 1:
            sure *= CONFIDENCE_AMBIGUOUS
        if not alone and self.search.is_relaxed:
            sure *= CONFIDENCE_RELAXED
        if present:
            passed = max(0.0, self.inquiry.now - thing.last)
            sure *= max(CONFIDENCE_LEAST_FRESH, 0.5 ** (passed / CONFIDENCE_HALF_LIFE))
        return self.factor * min(max(sure, 0.0), 1.0)

    @property
    def inferred(self) -> float:
        """Return the confidence factor of the history; below 1 if it joins two entities by assumption."""
        return CONFIDENCE_INFERRED if self.history.inferred else 1.0

    @cached_property
    def apart(self) -> tuple[Thing, ...]:
        """Return the best object, and objects that fit as well and are at other places."""
        rivals = self.search.rivals(QUERY_AMBIGUOUS)
        far = BOTTLENECK_MAX_SPAN  # metres within which a place counts as correct
        return tuple(t for k, t in enumerate(rivals) if k == 0 or t.box.away(rivals[0].box.centre) > far)

    # --- facts -------------------------------------------------------------------------------------------------

    def shown(self) -> dict[str, Any]:
        """Return the best object's place, proof and last sighting, as keyword arguments of `reply`."""
        return shown_things(self.inquiry, (self.best,))

    @property
    def places_of_stays(self) -> list[AnswerPlace]:
        """Return the places of the object's stays, newest first."""
        return [place_of(self.inquiry, stay.box) for stay in reversed(self.stays)]

    @property
    def proof_of_history(self) -> list[Proof]:
        """Return the object's last change and the best object as proof."""
        return [*proofs_of_memories(self.history.changes[-1:]), *self.proof]

    @property
    def proof(self) -> list[Proof]:
        """Return the proof of the best object."""
        return proofs_of_things((self.best,))

    def gone_since(self) -> Answer:
        """Return an answer without a value: the object was there and is gone."""
        why = f"{self.the} was {self.where} until {self.last} and is gone"
        if self.best.moved_on:
            why = f"{self.seen_then}, and it may be elsewhere now"
        return unknown(self.inquiry, why, proof=self.proof)

    def visits(self, box: Box) -> Visited:
        """Return the robot's visits around a box, which is one of the object's places."""
        near = self.inquiry.chronicle.visits_around(box.centre, ANSWERING_PASSING)
        return Visited(self.inquiry, f"at {self.the}", near)


@dataclass(frozen=True)
class Rooms:
    """Rooms that a question names; the map may have none of that name."""

    inquiry: Inquiry
    meant: RoomsMeant

    @property
    def the(self) -> str:
        """Return the rooms' name with its article: "the kitchen"."""
        return the(self.meant.name)

    @property
    def factor(self) -> float:
        """Return the confidence factor, lower if the rooms are only guessed from the name's meaning."""
        return CONFIDENCE_RELAXED if self.meant.guessed else 1.0

    @cached_property
    def visits(self) -> Visited:
        """Return the robot's visits to the rooms."""
        return Visited(self.inquiry, f"in {self.the}", self.inquiry.chronicle.visits(self.meant), self.factor)

    @property
    def proof(self) -> list[Proof]:
        """Return the rooms as proof."""
        return [region_proof(self.inquiry, region) for region in sorted(self.meant.ids)]

    def unvisited(self) -> Answer:
        """Return an answer that the map has no such room, or that the robot was never in it."""
        never = self.meant.ids and not self.meant.guessed
        why = (
            f"I do not remember to have been in {self.the}"
            if never
            else f"I know no place called {self.meant.name}"
        )
        return unknown(self.inquiry, why, f"go to {self.the}")


@dataclass(frozen=True)
class Visited:
    """Visits of the robot, oldest first. where: in words, "in the kitchen". factor: multiplies the confidence."""

    inquiry: Inquiry
    where: str
    visits: tuple[Visit, ...]
    factor: float = 1.0

    @property
    def last(self) -> str:
        """Return the time since the last visit ended, in words."""
        return ago_in_words(self.visits[-1].end, self.inquiry.now)

    @property
    def spans(self) -> list[tuple[float, float]]:
        """Return the (begin, end) of each visit, newest first."""
        return [visit.span for visit in reversed(self.visits)]

    @property
    def ends(self) -> list[Memory]:
        """Return the last memory of each visit, newest first."""
        return [visit.memories[-1] for visit in reversed(self.visits)]

    def shown(self) -> dict[str, Any]:
        """Return the visits' times, and the last visit's proof and end, as keyword arguments of `reply`."""
        return {
            "times": self.spans,
            "proof": proofs_of_memories(self.ends[:1]),
            "verified": self.visits[-1].end,
        }


def shown_things(inquiry: Inquiry, things: Sequence[Thing]) -> dict[str, Any]:
    """Return places and proof of objects, and the first one's last sighting, as arguments of `reply`."""
    places = [place_of(inquiry, thing.box, thing) for thing in things[:ANSWERING_PLACES]]
    return {"places": places, "proof": proofs_of_things(things), "verified": things[0].last}


def shown_memories(memories: Sequence[Memory]) -> dict[str, Any]:
    """Return times and proof of memories, and the end of the first, as keyword arguments of `reply`.

    memories: newest first.
    """
    times = [(memory.start, memory.end) for memory in memories]
    return {"times": times, "proof": proofs_of_memories(memories), "verified": memories[0].end}
