"""Questions about a place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lodestar_eval.memory_qa.drafts import Draft, Forms, Maker
from lodestar_eval.memory_qa.questions import PLACE, Gold
from lodestar_eval.memory_qa.truth import Stay
from lodestar_sim.reference_truth import is_class

_MARGIN = 1.5  # m by which the nearest object is nearer than the second nearest
_MOST = 6  # most places that satisfy a need; with more the question is trivial

#: Categories of the catalogue that satisfy a need.
NEEDS = {
    "need_sit": ("chair", "armchair", "sofa", "stool", "bench", "ottoman"),
    "need_waste": ("trash can",),
    "need_wash": ("sink",),
    "need_fire": ("fire extinguisher",),
    "need_drink": ("water cooler", "sink", "vending machine"),
    "need_print": ("printer",),
    "need_hurt": ("first aid kit",),
    "need_coffee": ("coffee machine",),
    "need_climb": ("ladder", "stool"),
    "need_write": ("whiteboard", "flip chart"),
}


def spatial_forms(maker: Maker) -> Forms:
    """Return drafts of questions about a place, by form of question."""
    return {
        "where_now": _described(maker, "where_now", maker.present),
        "where_last": _described(maker, "where_last", maker.seen_last),
        "take_me": _described(maker, "take_me", maker.present),
        "nearest": _nearest(maker),
        "was_before": _moved(maker),
        "came": _came(maker),
        "need": _needs(maker),
        "room_place": _rooms(maker),
    }


def _described(maker: Maker, form: str, stays: list[Stay]) -> Iterator[Draft]:
    for stay, words in maker.descriptions.phrased(stays):
        gold = maker.place_gold([stay])
        if gold.seen:
            yield Draft(form, {"thing": words}, gold, (stay.thing.id,))


def _nearest(maker: Maker) -> Iterator[Draft]:
    here = maker.truth.poses[-1][:2]
    for category in maker.kinds_in(maker.present):
        stays = maker.visible_at_end(category)
        if stays is None or len(stays) < 2:
            continue
        far = [float(np.linalg.norm(s.centre[:2] - here)) for s in stays]
        first, second = np.argsort(far)[:2]
        gold = maker.place_gold([stays[int(first)]])
        if far[int(second)] - far[int(first)] >= _MARGIN and gold.seen:
            yield Draft("nearest", {"category": category}, gold, (stays[int(first)].thing.id,))


def _moved(maker: Maker) -> Iterator[Draft]:
    for _, stays in maker.changes("move"):
        words = maker.attribute_phrase(stays[0]) or maker.descriptions.phrase(stays[0])
        gold = maker.place_gold([stays[0]])
        if words and gold.seen:
            yield Draft("was_before", {"thing": words}, gold, (stays[0].thing.id,))


def _came(maker: Maker) -> Iterator[Draft]:
    added = [stays[0] for _, stays in maker.changes("add")]
    for stay in added:
        twins = [s for s in added if s is not stay and s.thing.caption == stay.thing.caption]
        gold = maker.place_gold([stay])
        if gold.seen and not twins:
            yield Draft("came", {"thing": stay.thing.caption}, gold, (stay.thing.id,))


def _needs(maker: Maker) -> Iterator[Draft]:
    for form in maker.shuffled(sorted(NEEDS)):
        helps = [s for s in maker.truth.all_stays if any(is_class(s.thing, c) for c in NEEDS[form])]
        standing = [s for s in helps if maker.truth.standing(s) and maker.truth.known(s)]
        gold = maker.place_gold(standing)
        if standing and len(standing) <= _MOST and gold.seen:
            yield Draft(form, {}, gold, tuple(s.thing.id for s in standing))


def _rooms(maker: Maker) -> Iterator[Draft]:
    for room in maker.small_rooms():
        x0, y0, x1, y1 = room.rect
        middle = np.array([(x0 + x1) / 2.0, (y0 + y1) / 2.0, 0.5])
        spans = tuple((a, b) for r, a, b in maker.truth.visits if r == room.id)
        yield Draft("room_place", {"room": room.label}, Gold(PLACE, places=(middle,), seen=spans))
