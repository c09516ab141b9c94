"""Subjects of questions, with their words and the facts that an answer shows of them: things, rooms, and visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lodestar.language.items import Item
from lodestar.memory.answer import Answer, AnswerPlace, Proof
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
from lodestar.memory.records import Memory
from lodestar.models.english import the, with_article


@dataclass(frozen=True)
class About:
    """A question and the item that it names, as its family reads it."""

    inquiry: Inquiry
    item: Item


@dataclass(frozen=True)
class Meant:
    """Things that a question means, the best first; there is one at least. factor: of the confidence in them."""

    inquiry: Inquiry
    search: Search
    factor: float = 1.0

    @classmethod
    def of(cls, inquiry: Inquiry, item: Item, search: Search, factor: float = 1.0) -> Meant:
        """Return the things of a search. Raises CannotAnswer, with the share of the floor seen, where there is none."""
        if search.best is None:
            raise CannotAnswer(not_seen(inquiry, item, search))
        return cls(inquiry, search, factor)

    @property
    def best(self) -> Thing:
        """Return the thing that fits best."""
        return self.search.things[0]

    @cached_property
    def history(self) -> History:
        """Its stays and changes."""
        return self.inquiry.chronicle.history(self.best)

    @property
    def stays(self) -> tuple[Stay, ...]:
        """Return its stays, oldest first."""
        return self.history.stays

    @property
    def is_gone(self) -> bool:
        """Whether it is known to be gone, by the scene or by a look."""
        return self.best.is_gone or self.history.gone_at is not None

    @property
    def left_out(self) -> bool:
        """Whether it is gone, and the question is not about the past."""
        return self.best.is_gone and not self.inquiry.question.past

    # --- words -------------------------------------------------------------------------------------------------

    @property
    def the(self) -> str:
        """Return "the red mug"."""
        return the(self.best.name)

    @property
    def a(self) -> str:
        """Return "a red mug"."""
        return with_article(self.best.name)

    @property
    def where(self) -> str:
        """Return where it stands, "on the desk in the kitchen"."""
        return self.at(self.best)

    @property
    def last(self) -> str:
        """Return how long ago it was last seen, "8 minutes ago"."""
        return self.ago(self.best.last)

    @property
    def seen_then(self) -> str:
        """Return "I saw a person in the kitchen, last 3 minutes ago"."""
        return f"I saw {self.a} {self.where}, last {self.last}"

    def at(self, stay: Stay | Thing) -> str:
        """Return where one of its stays is."""
        return place_in_words(self.inquiry, stay.box, self.best)

    def ago(self, stamp: float) -> str:
        """Return "8 minutes ago"."""
        return ago_in_words(stamp, self.inquiry.now)

    @property
    def when_gone(self) -> str:
        """Return " when I looked 8 minutes ago", "" where no look showed that it is gone."""
        gone_at = self.history.gone_at
        return "" if gone_at is None else f" when I looked {self.ago(gone_at)}"

    # --- confidence --------------------------------------------------------------------------------------------

    def sure(self, thing: Thing | None = None, *, present: bool = False, alone: bool = False) -> float:
        """Return the confidence that a thing (None = the best) is what is meant, [0, 1]: a product of factors.

        0.7 to 1 for how well it fits, from `accept` to 1; then for how it is known, how often it was seen, for rivals
        elsewhere, unless `alone`, and, where it is said to be `present`, for the time since it was seen.
        """
        config, accept = self.inquiry.config.confidence, self.inquiry.config.query.accept
        thing = self.best if thing is None else thing
        sure = 0.7 + 0.3 * (thing.score - accept) / max(1.0 - accept, 1e-6)
        if thing.is_gone:
            sure *= config.archived
        elif thing.entity is None:
            sure *= config.remembered
        count = len(thing.sightings)
        if thing.entity is not None:
            count = max(count, thing.entity.observation_count)
        sure *= config.once if count <= 1 else config.twice if count == 2 else 1.0
        if not alone and len(self.apart) > 1:
            sure *= config.ambiguous
        if not alone and self.search.is_relaxed:
            sure *= config.relaxed
        if present:
            passed = max(0.0, self.inquiry.now - thing.last)
            sure *= max(config.least_fresh, 0.5 ** (passed / config.half_life))
        return self.factor * min(max(sure, 0.0), 1.0)

    @property
    def inferred(self) -> float:
        """Return the factor for two entities that were taken for one that moved."""
        return self.inquiry.config.confidence.inferred if self.history.inferred else 1.0

    @cached_property
    def apart(self) -> tuple[Thing, ...]:
        """The best thing and those that fit as well and stand elsewhere."""
        rivals = self.search.rivals(self.inquiry.config.query.ambiguous)
        far = self.inquiry.config.evidence.max_span  # metres within which a place counts as right
        return tuple(t for k, t in enumerate(rivals) if k == 0 or t.box.away(rivals[0].box.centre) > far)

    # --- facts -------------------------------------------------------------------------------------------------

    def shown(self) -> dict[str, Any]:
        """Return the best thing's place, proof and last sight, for `reply`."""
        return shown_things(self.inquiry, (self.best,))

    @property
    def places_of_stays(self) -> list[AnswerPlace]:
        """Return the places of its stays, the newest first."""
        return [place_of(self.inquiry, stay.box) for stay in reversed(self.stays)]

    @property
    def proof_of_history(self) -> list[Proof]:
        """Return its last change and the best thing as proof."""
        return [*proofs_of_memories(self.history.changes[-1:]), *self.proof]

    @property
    def proof(self) -> list[Proof]:
        """Return the proof of the best thing."""
        return proofs_of_things((self.best,))

    def gone_since(self) -> Answer:
        """Return that it was there and is gone, which tells nothing of how things are now."""
        why = f"{self.the} was {self.where} until {self.last} and is gone"
        if self.best.moved_on:
            why = f"{self.seen_then}, and it may be elsewhere now"
        return unknown(self.inquiry, why, proof=self.proof)

    def visits(self, box: Box) -> Visited:
        """Return the robot's visits around a place of it."""
        near = self.inquiry.chronicle.visits_around(box.centre, self.inquiry.config.passing)
        return Visited(self.inquiry, f"at {self.the}", near)


@dataclass(frozen=True)
class Rooms:
    """Rooms that a question names; the map may know none of that name."""

    inquiry: Inquiry
    meant: RoomsMeant

    @property
    def the(self) -> str:
        """Return "the kitchen"."""
        return the(self.meant.name)

    @property
    def factor(self) -> float:
        """Return the factor of the confidence for rooms that may be the ones that are meant."""
        return self.inquiry.config.confidence.relaxed if self.meant.guessed else 1.0

    @cached_property
    def visits(self) -> Visited:
        """The robot's stays in them."""
        return Visited(self.inquiry, f"in {self.the}", self.inquiry.chronicle.visits(self.meant), self.factor)

    @property
    def proof(self) -> list[Proof]:
        """Return the rooms as proof."""
        return [region_proof(self.inquiry, region) for region in sorted(self.meant.ids)]

    def unvisited(self) -> Answer:
        """Return that the robot knows no such room, or was never in it."""
        never = self.meant.ids and not self.meant.guessed
        why = (
            f"I do not remember to have been in {self.the}"
            if never
            else f"I know no place called {self.meant.name}"
        )
        return unknown(self.inquiry, why, f"go to {self.the}")


@dataclass(frozen=True)
class Visited:
    """Visits of the robot, oldest first. where: "in the kitchen", "at the desk". factor: of the confidence."""

    inquiry: Inquiry
    where: str
    visits: tuple[Visit, ...]
    factor: float = 1.0

    @property
    def last(self) -> str:
        """Return how long ago the last visit ended."""
        return ago_in_words(self.visits[-1].end, self.inquiry.now)

    @property
    def spans(self) -> list[tuple[float, float]]:
        """Return begin and end of each, the newest first."""
        return [visit.span for visit in reversed(self.visits)]

    @property
    def ends(self) -> list[Memory]:
        """Return the last memory of each, the newest first."""
        return [visit.memories[-1] for visit in reversed(self.visits)]

    def shown(self) -> dict[str, Any]:
        """Return their times, and the proof and the end of the last one, for `reply`."""
        return {
            "times": self.spans,
            "proof": proofs_of_memories(self.ends[:1]),
            "verified": self.visits[-1].end,
        }


def shown_things(inquiry: Inquiry, things: Sequence[Thing]) -> dict[str, Any]:
    """Return the places and the proof of things, and when the first one was last seen, for `reply`."""
    places = [place_of(inquiry, thing.box, thing) for thing in things[: inquiry.config.places]]
    return {"places": places, "proof": proofs_of_things(things), "verified": things[0].last}


def shown_memories(memories: Sequence[Memory]) -> dict[str, Any]:
    """Return the times and the proof of memories, the newest first, and the end of that one, for `reply`."""
    times = [(memory.start, memory.end) for memory in memories]
    return {"times": times, "proof": proofs_of_memories(memories), "verified": memories[0].end}
