"""Drafts of questions before they are worded, and helpers shared by their makers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lodestar_eval.memory_qa.descriptions import Descriptions
from lodestar_eval.memory_qa.questions import PLACE, Gold, Picture
from lodestar_eval.memory_qa.truth import Interval, Stay, TourTruth
from lodestar_sim.reference_truth import confusable, is_class
from lodestar_sim.worlds.world import Event, Room

_SMALL_ROOM = 4.8  # m from a room's centre to its corners, up to which the centre stands for the whole room


@dataclass(frozen=True)
class Draft:
    """Draft of a question, with its gold answer. form: type of question. things: ids of its objects."""

    form: str
    slots: dict[str, str]
    gold: Gold
    things: tuple[int, ...] = ()
    picture: Picture | None = None


@dataclass
class Maker:
    """Source of question drafts: a tour's truth, noun phrases, helpers. All randomness comes from `rng`."""

    truth: TourTruth
    rng: np.random.Generator
    descriptions: Descriptions = field(init=False)

    def __post_init__(self) -> None:
        self.descriptions = Descriptions(self.truth, self.rng)

    def shuffled(self, items: list) -> list:
        """Return the items in random order."""
        return [items[int(i)] for i in self.rng.permutation(len(items))]

    @property
    def seen_last(self) -> list[Stay]:
        """Return each object's stay in which the robot last saw it, in random order; no plural nouns."""
        found = [self.truth.last_seen(i) for i in self.truth.stays]
        return self.shuffled([s for s in found if s is not None and is_named(s)])

    @property
    def present(self) -> list[Stay]:
        """Return the stays of `seen_last` that last until the end of the tour."""
        return [stay for stay in self.seen_last if self.truth.standing(stay)]

    @property
    def unchanged(self) -> list[Stay]:
        """Return the stays of `present` whose object no event changed."""
        return [stay for stay in self.present if self.truth.event_of(stay.thing.id) is None]

    def changes(self, kind: str) -> list[tuple[Event, list[Stay]]]:
        """Return (event, stays of its object) of a kind, in random order.

        The robot saw each object during each of its stays.
        """
        found = []
        for event in self.truth.world.events:
            stays = self.truth.stays.get(event.object_id, [])
            wanted = 2 if kind == "move" else 1
            if event.kind == kind and len(stays) == wanted and all(map(self._is_plain, stays)):
                found.append((event, stays))
        return self.shuffled(found)

    def _is_plain(self, stay: Stay) -> bool:
        return is_named(stay) and self.truth.known(stay)

    def attribute_phrase(self, stay: Stay) -> str:
        """Return the object's caption if no other object has its noun and colour, else "".

        The phrase names no place, so it holds before and after a move.
        """
        unique = self.descriptions.has_color(stay) and not self.descriptions.rivals(stay)
        return stay.thing.caption if unique else ""

    def own_rooms(self) -> list[Room]:
        """Return rooms with a unique, singular label that the robot entered, in random order."""
        visited = {room for room, start, end in self.truth.visits if end - start >= 2.0}
        own = [r for r in self.truth.world.rooms if self.descriptions.unique_room(r.label)]
        return self.shuffled([r for r in own if r.id in visited and not r.label.endswith("s")])

    def small_rooms(self) -> list[Room]:
        """Return the rooms of `own_rooms` whose every place is near the centre."""
        found = []
        for room in self.own_rooms():
            x0, y0, x1, y1 = room.rect
            if np.hypot(x1 - x0, y1 - y0) / 2.0 <= _SMALL_ROOM:
                found.append(room)
        return found

    def kinds_in(self, stays: list[Stay]) -> list[str]:
        """Return the categories of the objects, singular ones only, without duplicates, in random order."""
        return self.shuffled(sorted({s.thing.category for s in stays if is_named(s)}))

    def ever(self, category: str) -> list[Stay]:
        """Return the stays, present and past, of all objects that a person might mean by a category's name.

        A stay is the time that one object stood at one place.
        """
        return [s for s in self.truth.all_stays if confusable(s.thing.category, category)]

    def visible_at_end(self, category: str) -> list[Stay] | None:
        """Return the stays of the objects that a category may mean.

        None unless all objects surely fit the category, were seen, and never changed.
        """
        stays = self.ever(category)
        if not stays or any(not is_class(s.thing, category) for s in stays):
            return None
        if any(not self.truth.known(s) or not self.truth.standing(s) or s.start > 0.0 for s in stays):
            return None
        return stays

    def supports(self) -> Iterator[tuple[Stay, str, list[Stay]]]:
        """Yield (stay, phrase, carried objects) of uniquely named supports that carry only objects seen by
        the robot.
        """
        loads: dict[int, list[Stay]] = {}
        for stay in self.truth.all_stays:
            if stay.thing.supported_by and not stay.thing.contained_in:
                loads.setdefault(stay.thing.supported_by, []).append(stay)
        bases = [s for s in self.unchanged if s.thing.id in loads]
        for base, words in self.descriptions.phrased(bases):
            things = loads[base.thing.id]
            if all(self.truth.known(s) and self.truth.standing(s) and s.start == 0.0 for s in things):
                yield base, words, things

    def place_gold(self, stays: list[Stay]) -> Gold:
        """Return the gold answer of a question about a place; the place of each given stay is right."""
        spans = [span for stay in stays for span in self.truth.looks_in(stay)]
        return Gold(PLACE, places=tuple(s.centre for s in stays), seen=tuple(spans))


def is_named(stay: Stay) -> bool:
    """Return whether an object's category is singular ("books" is not)."""
    return not stay.thing.category.endswith("s")


def spans_of(maker: Maker, stays: list[Stay]) -> tuple[Interval, ...]:
    """Return the intervals in which the object of any of the stays was in view within 5 m."""
    return tuple(span for stay in stays for span in maker.truth.looks_in(stay))


Forms = dict[str, Iterator[Draft]]
