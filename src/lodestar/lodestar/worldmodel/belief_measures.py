"""Geometric measures that tell whether a believed relation between entities holds (VLM-DEWM D.2).

Boxes are measured, not the paper's Gaussians (eq. 9, B.14): docs/adr/0101-fuse-observations-at-their-points.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.boxes import box_distance
from lodestar.scene.records import Entity, EntityState
from lodestar.worldmodel.records import Belief, entity_name

NEAR = 2.0  # m between boxes, d_near of VLM-DEWM D.2; queries ask for less (ours)
CONTACT = 0.3  # m from a support's top up to an object on it, epsilon_contact of D.2 (ours)
SLACK = 0.3  # m by which a box may stick out of the box that it is on (ours)
WITHIN = 0.05  # m by which a centre may lie outside the box that it is in; measured (ADR 0101)
MAX_RELATIONS = 8  # maximum number of related neighbours
_OF_THINGS = ("On", "Inside", "NextTo")


@dataclass(frozen=True)
class Measure:
    """Geometric value of a relation and its limit, metres; the relation holds if value <= limit."""

    value: float
    limit: float

    @property
    def holds(self) -> bool:
        """Return whether the relation holds."""
        return self.value <= self.limit


def measured(predicate: str, one: Entity, other: Entity) -> Measure | None:
    """Return the measure of the relation `predicate(one, other)`; None if geometry cannot measure it."""
    measure = _MEASURES.get(predicate)
    return None if measure is None else measure(one, other)


def relations_of(
    name: str, thing: Entity, others: Iterable[Entity], margin: float = 0.0
) -> tuple[Belief, ...]:
    """Return the relations of an object to its neighbours, nearest first, at most MAX_RELATIONS neighbours.

    name: of the object in the returned beliefs. margin: metres by which a limit may be exceeded.
    """
    reach = NEAR + margin
    low, high = (thing.box_min - reach).tolist(), (thing.box_max + reach).tolist()
    near = [
        (float(box_distance(thing.box_min, thing.box_max, other.box_min, other.box_max)), other.id, other)
        for other in others
        if other.id != thing.id
        and other.state is not EntityState.ARCHIVED
        and other.box_max[0] >= low[0]
        and other.box_min[0] <= high[0]
        and other.box_max[1] >= low[1]
        and other.box_min[1] <= high[1]
    ]
    found = []
    for away, identity, other in sorted(near, key=lambda one: one[:2])[:MAX_RELATIONS]:
        if away > reach:
            break
        for predicate in _OF_THINGS:
            measure = _MEASURES[predicate](thing, other)
            if measure.value <= measure.limit + margin:
                found.append(Belief(predicate, (name, entity_name(identity))))
    return tuple(found)


def _near(one: Entity, other: Entity) -> Measure:
    """Return the measure of nearness: the gap between the boxes."""
    return Measure(float(box_distance(one.box_min, one.box_max, other.box_min, other.box_max)), NEAR)


def _on(one: Entity, other: Entity) -> Measure:
    """Return the measure of "on": centroid over the support, underside at its top or lower (D.2 a).

    `one` is on `other`. Lower is allowed because the box of a table includes the objects on it.
    """
    over = _height(one, other) - (CONTACT - SLACK)
    under = float(other.box_min[2] - one.box_min[2])
    return Measure(max(_beside(one, other), over, under), SLACK)


def _above(one: Entity, other: Entity) -> Measure:
    return Measure(-_height(one, other), CONTACT)


def _below(one: Entity, other: Entity) -> Measure:
    return _above(other, one)


def _inside(one: Entity, other: Entity) -> Measure:
    """Return the measure of "inside": how far the centre of `one` lies outside the box of `other`."""
    out = np.maximum(np.asarray(other.box_min) - one.mean, np.asarray(one.mean) - other.box_max)
    return Measure(float(out.max()), WITHIN)


def _beside(one: Entity, other: Entity) -> float:
    """Return the metres in plan from the centroid of `one` to the box of `other`."""
    centre = np.asarray(one.mean)[:2]
    return float(box_distance(centre, centre, other.box_min[:2], other.box_max[:2]))


def _height(one: Entity, other: Entity) -> float:
    """Return the metres from the top of `other` up to the underside of `one`."""
    return float(one.box_min[2] - other.box_max[2])


_MEASURES: Mapping[str, Callable[[Entity, Entity], Measure]] = {
    "Near": _near,
    "NextTo": _near,
    "On": _on,
    "Above": _above,
    "Below": _below,
    "Inside": _inside,
}
