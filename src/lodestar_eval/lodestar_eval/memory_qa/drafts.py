"""Drafts of questions before they are worded, and what their makers share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lodestar_eval.memory_qa.descriptions import Descriptions
from lodestar_eval.memory_qa.questions import PLACE, Gold, Picture
from lodestar_eval.memory_qa.truth import Interval, Stay, TourTruth
from lodestar_sim.reference_truth import confusable, is_class
from lodestar_sim.worlds.world import Event, Room

_SMALL_ROOM = 4.8  # metres, from a room's middle to its corners, so that its middle means all of it


@dataclass(frozen=True)
class Draft:
    """A question of a form with its gold. things: ids that it is about, so that none is asked about too often."""

    form: str
    slots: dict[str, str]
    gold: Gold
    things: tuple[int, ...] = ()
    picture: Picture | None = None


@dataclass
class Maker:
    """Sources of the forms of questions. All randomness comes from `rng`."""

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
        """Return where each known thing was seen last, in random order; plural nouns are left out."""
        found = [self.truth.last_seen(i) for i in self.truth.stays]
        return self.shuffled([s for s in found if s is not None and is_named(s)])

    @property
    def present(self) -> list[Stay]:
        """Return the known things that stand, at the end, where they were seen last."""
        return [stay for stay in self.seen_last if self.truth.standing(stay)]

    @property
    def unchanged(self) -> list[Stay]:
        """Return the known things that no event changed."""
        return [stay for stay in self.present if self.truth.event_of(stay.thing.id) is None]

    def changes(self, kind: str) -> list[tuple[Event, list[Stay]]]:
        """Return the events of a kind whose thing was seen at each of its places, with its stays."""
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
        """Return the thing's caption where no other thing has its noun and colour; "" otherwise. Its place does not
        matter, so it holds before and after a move.
        """
        unique = self.descriptions.has_color(stay) and not self.descriptions.rivals(stay)
        return stay.thing.caption if unique else ""

    def own_rooms(self) -> list[Room]:
        """Return rooms with a label of their own, in the singular, that the robot entered, in random order."""
        visited = {room for room, start, end in self.truth.visits if end - start >= 2.0}
        own = [r for r in self.truth.world.rooms if self.descriptions.unique_room(r.label)]
        return self.shuffled([r for r in own if r.id in visited and not r.label.endswith("s")])

    def small_rooms(self) -> list[Room]:
        """Return the own rooms of which every place is near the middle."""
        found = []
        for room in self.own_rooms():
            x0, y0, x1, y1 = room.rect
            if np.hypot(x1 - x0, y1 - y0) / 2.0 <= _SMALL_ROOM:
                found.append(room)
        return found

    def kinds_in(self, stays: list[Stay]) -> list[str]:
        """Return the categories of stays, each once, in random order."""
        return self.shuffled(sorted({s.thing.category for s in stays if is_named(s)}))

    def ever(self, category: str) -> list[Stay]:
        """Return every stay that a listener might call by a category."""
        return [s for s in self.truth.all_stays if confusable(s.thing.category, category)]

    def visible_at_end(self, category: str) -> list[Stay] | None:
        """Return the present things of a category; None if one of them, or of a kind that it may be confused with,
        was not seen where it stands, changed, or is not surely of the category.
        """
        stays = self.ever(category)
        if not stays or any(not is_class(s.thing, category) for s in stays):
            return None
        if any(not self.truth.known(s) or not self.truth.standing(s) or s.start > 0.0 for s in stays):
            return None
        return stays

    def supports(self) -> Iterator[tuple[Stay, str, list[Stay]]]:
        """Yield things with a phrase of their own on which only known things stand, and those."""
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
        """Return the gold of a question for the place of any of these."""
        spans = [span for stay in stays for span in self.truth.looks_in(stay)]
        return Gold(PLACE, places=tuple(s.centre for s in stays), seen=tuple(spans))


def is_named(stay: Stay) -> bool:
    """Tell whether a thing's category names one thing ("books" does not)."""
    return not stay.thing.category.endswith("s")


def spans_of(maker: Maker, stays: list[Stay]) -> tuple[Interval, ...]:
    """Return when any of the stays was in view within 5 m."""
    return tuple(span for stay in stays for span in maker.truth.looks_in(stay))


Forms = dict[str, Iterator[Draft]]
