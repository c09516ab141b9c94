"""Questions with a picture of an object at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lodestar_eval.memory_qa.drafts import Draft, Forms, Maker
from lodestar_eval.memory_qa.questions import TIME, Gold, Picture
from lodestar_eval.memory_qa.truth import Stay
from lodestar_eval.settings import NOISES
from lodestar_eval.subtasks import Photographer

_TWINS = (2, 5)  # least and most objects of equal look for "where are more of these"

#: Takes a picture of an object at its place; None if no viewpoint shows it well.
Camera = Callable[[Stay], Picture | None]


def picture_forms(maker: Maker, camera: Camera) -> Forms:
    """Return drafts of questions with a picture, by form of question."""
    return {
        "picture_place": _places(maker, camera),
        "picture_belongs": _belongs(maker, camera),
        "picture_when": _when(maker, camera),
        "picture_twins": _twins(maker, camera),
    }


class SimulatedCamera:
    """Takes pictures in the world as it is during a stay, with one simulator per state of the world."""

    def __init__(self, maker: Maker, seed: int) -> None:
        self._maker, self._seed = maker, seed
        self._photographers: dict[float, Photographer] = {}

    def __call__(self, stay: Stay) -> Picture | None:
        """Return a picture of the object at the beginning of its stay."""
        if stay.start not in self._photographers:
            world = self._maker.truth.world.at(stay.start)
            self._photographers[stay.start] = Photographer(world, self._seed, NOISES["mild"], self._maker.rng)
        thing = replace(stay.thing)
        taken = self._photographers[stay.start].take(thing, rgb=True)
        if taken is None or taken[0].rgb is None:
            return None
        return Picture(taken[0].rgb, taken[1])


def _alone(maker: Maker, stays: list[Stay]) -> Iterator[Stay]:
    """Yield the stays of objects that have no look-alike in the tour."""
    for stay in stays:
        if maker.attribute_phrase(stay):
            yield stay


def _places(maker: Maker, camera: Camera) -> Iterator[Draft]:
    for stay in _alone(maker, maker.present):
        gold = maker.place_gold([stay])
        picture = camera(stay) if gold.seen else None
        if picture is not None:
            yield Draft("picture_place", {}, gold, (stay.thing.id,), picture)


def _belongs(maker: Maker, camera: Camera) -> Iterator[Draft]:
    """Yield questions about where a pictured object belongs.

    The object was moved and is pictured at its new place; the old place is right.
    """
    for _, stays in maker.changes("move"):
        gold = maker.place_gold(stays[:1])
        alike = [s for s in maker.truth.all_stays if s.thing.caption == stays[0].thing.caption]
        if not gold.seen or len({s.thing.id for s in alike}) > 1:
            continue
        picture = camera(stays[-1])
        if picture is not None:
            yield Draft("picture_belongs", {}, gold, (stays[0].thing.id,), picture)


def _when(maker: Maker, camera: Camera) -> Iterator[Draft]:
    for stay in _alone(maker, maker.seen_last):
        near, far = maker.truth.noticed(stay.thing.id), maker.truth.looks(stay.thing.id, near=False)
        picture = camera(stay) if near else None
        if picture is not None:
            gold = Gold(TIME, times=((near[-1][1], far[-1][1]),), seen=(near[-1],))
            yield Draft("picture_when", {}, gold, (stay.thing.id,), picture)


def _twins(maker: Maker, camera: Camera) -> Iterator[Draft]:
    """Yield questions about where another object like the pictured one is.

    The place of any of its look-alikes is right.
    """
    for stay in maker.present:
        alike = [
            s for s in maker.present if s.thing.caption == stay.thing.caption and s.thing.id != stay.thing.id
        ]
        gold = maker.place_gold(alike)
        if not (
            _TWINS[0] <= len(alike) + 1 <= _TWINS[1] and gold.seen and maker.descriptions.has_color(stay)
        ):
            continue
        picture = camera(stay)
        if picture is not None:
            yield Draft("picture_twins", {}, gold, (stay.thing.id,), picture)
