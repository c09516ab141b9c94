"""Noun phrases that refer to exactly one object of a tour, even among look-alikes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from lodestar.geometry.boxes import box_distance
from lodestar_eval.memory_qa.truth import Stay, TourTruth
from lodestar_sim.reference_truth import confusable
from lodestar_sim.tasks import PLAIN

# m, gap between boxes below which "next to" surely holds, and above which it surely does not
_TOGETHER, _APART = 0.4, 2.3
_MARGIN = 1.5  # m by which the closest object is closer than the second closest
_LARGE = 0.4  # m, least longest side of an object used as an anchor in descriptions
_WHOLE = 0.5  # share of a building above which a room of the building's name counts as the whole building
_REACH = 12.0  # m, greatest distance of a "closest" object from its anchor


class Descriptions:
    """Noun phrases for the objects of a tour. Each phrase fits only one object during the whole tour. A
    `Stay` is the time during which an object is at one place.
    """

    def __init__(self, truth: TourTruth, rng: np.random.Generator) -> None:
        self._truth, self._rng = truth, rng
        fixed = [
            s for s in truth.all_stays
            if s.start == 0.0 and truth.standing(s) and truth.known(s) and s.thing.category not in PLAIN
            and max(s.thing.size) >= _LARGE
        ]  # fmt: skip
        self._anchors = [fixed[int(i)] for i in rng.permutation(len(fixed))]
        world = truth.world
        self.rooms = [room.label for room in world.rooms]
        sizes = {room.label: _area(room.rect) for room in world.rooms}
        self._whole = [
            n for n, size in sizes.items() if n == world.kind and size > _WHOLE * _area(world.bounds)
        ]

    def rivals(self, stay: Stay, colored: bool = True) -> list[Stay]:
        """Return the stays of other objects that this object's `noun` (same `colored`) also fits."""
        return [
            other
            for other in self._truth.all_stays
            if other.thing.id != stay.thing.id
            and confusable(other.thing.category, stay.thing.category)
            and (not colored or other.thing.color == stay.thing.color)
        ]

    def noun(self, stay: Stay, colored: bool = True) -> str:
        """Return the object's caption, or its category if not `colored`."""
        return stay.thing.caption if colored else stay.thing.category

    def has_color(self, stay: Stay) -> bool:
        """Return whether the object's caption names its colour."""
        return stay.thing.color in stay.thing.caption.split()

    def phrase(self, stay: Stay, colored: bool = True, room: bool = True, rest: bool = True) -> str:
        """Return a unique phrase, without article, for the object during this stay at one place; "" if there
        is none.

        colored: may name its colour; room: may name its room; rest: may name the object on which it stands.
        """
        if colored and not self.has_color(stay):
            return ""
        rivals = self.rivals(stay, colored)
        name = self.noun(stay, colored)
        if not rivals:
            return name
        makers: list[Callable[[Stay, list[Stay]], str]] = [self._beside, self._closest]
        makers += [self._resting] if rest else []
        makers += [self._within] if room else []
        for index in self._rng.permutation(len(makers)):
            found = makers[int(index)](stay, rivals)
            if found:
                return f"{name} {found}"
        return ""

    def anchor_phrase(self, anchor: Stay, without: Stay) -> str:
        """Return a short phrase for the anchor in a description of `without`; "" if it is ambiguous."""
        if confusable(anchor.thing.category, without.thing.category) or anchor.thing.id == without.thing.id:
            return ""
        if not self.rivals(anchor, colored=False):
            return anchor.thing.category
        if self.has_color(anchor) and not self.rivals(anchor):
            return anchor.thing.caption
        return ""

    def _within(self, stay: Stay, rivals: list[Stay]) -> str:
        if not self.unique_room(stay.room_label) or any(r.room_label == stay.room_label for r in rivals):
            return ""
        return f"in the {stay.room_label}"

    def unique_room(self, label: str) -> bool:
        """Return whether exactly one room has this label, and the label cannot mean the whole building."""
        return self.rooms.count(label) == 1 and label not in self._whole

    def _resting(self, stay: Stay, rivals: list[Stay]) -> str:
        support = self.support(stay)
        if (
            support is None
            or stay.thing.contained_in
            or confusable(support.thing.category, stay.thing.category)
        ):
            return ""
        for colored in (False, True):
            if colored and not self.has_color(support):
                continue
            alike = {support.thing.id, *(s.thing.id for s in self.rivals(support, colored))}
            under = [self.support(r) for r in rivals]
            if not any(u is not None and u.thing.id in alike for u in under):
                return f"on the {self.noun(support, colored)}"
        return ""

    def support(self, stay: Stay) -> Stay | None:
        """Return the stay of the object on which this one stands.

        None if it stands on the floor, hangs on a wall, or lies in a compartment of a piece of furniture.
        """
        scene = self._truth.scene_of(stay)
        owner = stay.thing.supported_by
        if not owner:
            under = [t for t in scene.things if t.id != stay.thing.id and scene.holds("On", (stay.thing, t))]
            owner = under[0].id if under and not stay.thing.mounted else 0
        stays = self._truth.stays.get(owner, [])
        return next((s for s in stays if s.start <= stay.start <= s.end), None)

    def _beside(self, stay: Stay, rivals: list[Stay]) -> str:
        if stay.thing.supported_by or stay.thing.mounted:
            return ""
        for anchor in self._anchors:
            if anchor.room != stay.room or _gap(stay, anchor) > _TOGETHER or anchor.thing.supported_by:
                continue  # an object on a support is not beside it
            for colored in (False, True):
                if confusable(anchor.thing.category, stay.thing.category):
                    continue
                if colored and not self.has_color(anchor):
                    continue
                alike = [anchor, *self.rivals(anchor, colored)]
                if all(_gap(r, a) > _APART for r in rivals for a in alike):
                    return f"next to the {self.noun(anchor, colored)}"
        return ""

    def _closest(self, stay: Stay, rivals: list[Stay]) -> str:
        for anchor in self._anchors:
            own = _plan_distance(stay, anchor)
            if own > _REACH or any(_plan_distance(r, anchor) < own + _MARGIN for r in rivals):
                continue
            words = self.anchor_phrase(anchor, stay)
            if words:
                return f"closest to the {words}"
        return ""

    def phrased(self, stays: list[Stay], **options: bool) -> Iterator[tuple[Stay, str]]:
        """Yield (stay, unique phrase) of the stays whose object has one, in random order."""
        for index in self._rng.permutation(len(stays)):
            stay = stays[int(index)]
            words = self.phrase(stay, **options)
            if words:
                yield stay, words


def _area(rect: tuple[float, float, float, float]) -> float:
    return (rect[2] - rect[0]) * (rect[3] - rect[1])


def _gap(a: Stay, b: Stay) -> float:
    return float(box_distance(a.low, a.high, b.low, b.high))


def _plan_distance(a: Stay, b: Stay) -> float:
    return float(np.linalg.norm((a.centre - b.centre)[:2]))
