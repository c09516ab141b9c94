"""Beliefs measured against the geometry of entities (VLM-DEWM eq. 9, D.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.boxes import box_distance
from lodestar.scene.records import Entity, EntityState
from lodestar.worldmodel.config import ValidationConfig
from lodestar.worldmodel.records import Belief, entity_name

MAX_RELATIONS = 8  # things to which one is related
_OF_THINGS = ("On", "Inside", "NextTo")


@dataclass(frozen=True)
class Measure:
    """Distance of a relation from holding: `value` and its `limit` in metres; it holds where value <= limit."""

    value: float
    limit: float

    @property
    def holds(self) -> bool:
        """Return whether the relation holds."""
        return self.value <= self.limit


def measured(predicate: str, one: Entity, other: Entity, config: ValidationConfig) -> Measure | None:
    """Return the measure of `predicate(one, other)`, None where this geometry cannot tell."""
    measure = _MEASURES.get(predicate)
    return None if measure is None else measure(one, other, config)


def relations_of(
    name: str, thing: Entity, others: Iterable[Entity], config: ValidationConfig, margin: float = 0.0
) -> tuple[Belief, ...]:
    """Return what holds between a thing and those beside it, the nearest first, at most MAX_RELATIONS others.

    name: of the thing in the beliefs. margin: metres by which a limit may be missed.
    """
    reach = config.near + margin
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
            measure = _MEASURES[predicate](thing, other, config)
            if measure.value <= measure.limit + margin:
                found.append(Belief(predicate, (name, entity_name(identity))))
    return tuple(found)


def _near(one: Entity, other: Entity, config: ValidationConfig) -> Measure:
    """Holds where the boxes are near, or the Gaussian envelopes cannot be told apart (eq. 9)."""
    gap = float(box_distance(one.box_min, one.box_max, other.box_min, other.box_max))
    if gap > config.near and _touching(one, other, config):
        gap = config.near
    return Measure(gap, config.near)


def _touching(one: Entity, other: Entity, config: ValidationConfig) -> bool:
    offset = np.asarray(other.mean) - np.asarray(one.mean)
    spread = np.asarray(one.covariance) + np.asarray(other.covariance)
    try:
        distance = float(offset @ np.linalg.solve(spread, offset))
    except np.linalg.LinAlgError:
        return False
    return 0.0 <= distance <= config.chi_square


def _on(one: Entity, other: Entity, config: ValidationConfig) -> Measure:
    """Holds where the centroid lies over the support, and the underside at the support's top or lower (D.2 a).

    Lower, because the box of a table takes in what stands on it.
    """
    over = _height(one, other) - (config.contact - config.slack)
    under = float(other.box_min[2] - one.box_min[2])
    return Measure(max(_beside(one, other), over, under), config.slack)


def _above(one: Entity, other: Entity, config: ValidationConfig) -> Measure:
    return Measure(-_height(one, other), config.contact)


def _below(one: Entity, other: Entity, config: ValidationConfig) -> Measure:
    return _above(other, one, config)


def _inside(one: Entity, other: Entity, config: ValidationConfig) -> Measure:
    """Holds where one box lies within the other (eq. D.2)."""
    out = np.maximum(np.asarray(other.box_min) - one.box_min, np.asarray(one.box_max) - other.box_max)
    return Measure(float(out.max()), config.slack)


def _beside(one: Entity, other: Entity) -> float:
    """Return metres in plan from one's centroid to the other's box."""
    centre = np.asarray(one.mean)[:2]
    return float(box_distance(centre, centre, other.box_min[:2], other.box_max[:2]))


def _height(one: Entity, other: Entity) -> float:
    """Return metres from the other's top up to one's underside."""
    return float(one.box_min[2] - other.box_max[2])


_MEASURES: Mapping[str, Callable[[Entity, Entity, ValidationConfig], Measure]] = {
    "Near": _near,
    "NextTo": _near,
    "On": _on,
    "Above": _above,
    "Below": _below,
    "Inside": _inside,
}
