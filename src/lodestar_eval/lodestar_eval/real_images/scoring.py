"""Comparison of entities with labelled objects: found, duplicated, false, and position errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.models.kinship import same_kind
from lodestar.scene.records import Entity
from lodestar_eval.metrics import mean, share
from lodestar_eval.real_images.labels import LabelledRoom, LabelledThing
from lodestar_eval.study import percentile

# m, greatest distance of an entity's centre from the labelled box of its object; the bar on positions
REACH = 0.25
LABELLED = 0.5  # m around all labels within which entities are judged; chosen
# m, greatest distance between the centres of one object in two maps; chosen: half a chair more than a chair's width
TWIN = 0.5


@dataclass(frozen=True)
class ThingRow:
    """A labelled object. entity: matching entity, None = not found. doubled: further entities of the object.

    gap: distance of the entity's centre from the labelled box; error: distance between the centres; both metres, NaN
    without an entity.
    """

    thing: LabelledThing
    in_view: bool
    entity: Entity | None
    gap: float
    error: float
    doubled: tuple[Entity, ...] = ()


@dataclass(frozen=True)
class RoomScore:
    """Score of a room.

    false: entities without a labelled object of their kind. unsure: entities at an object that the labels
    call unsure. beyond: entities outside the labelled part of the room.
    """

    rows: tuple[ThingRow, ...]
    false: tuple[Entity, ...]
    unsure: tuple[Entity, ...]
    beyond: tuple[Entity, ...]

    @property
    def counted(self) -> list[ThingRow]:
        """Return the objects that the frames show."""
        return [row for row in self.rows if row.in_view]

    def metrics(self) -> dict[str, float]:
        """Return shares, counts, and metres; NaN without data."""
        counted = self.counted
        found = [row for row in counted if row.entity is not None]
        errors = [row.error for row in found]
        return {
            "things": float(len(counted)),
            "found": share(len(found), len(counted)),
            "doubled": float(sum(len(row.doubled) for row in self.rows)),
            "false": float(len(self.false)),
            "unsure": float(len(self.unsure)),
            "beyond": float(len(self.beyond)),
            "place_error_m": mean(errors),
            "place_error_median_m": percentile(50)(errors),
            "place_error_worst_m": max(errors, default=float("nan")),
            "place_gap_m": mean([row.gap for row in found]),
        }


def centre_of(entity: Entity) -> np.ndarray:
    """Return the centre (3,) of an entity's box."""
    return (np.asarray(entity.box_min, float) + np.asarray(entity.box_max, float)) / 2.0


def score(room: LabelledRoom, in_view: Sequence[bool], entities: Sequence[Entity]) -> RoomScore:
    """Return the score of the entities of a map.

    Entities and objects of one kind are matched one to one: as many pairs as possible, then the least
    position error.
    """
    gaps = np.array(
        [
            [thing.gap(centre_of(e)) if same_kind(thing.label, e.label) else np.inf for e in entities]
            for thing in room.things
        ]
    ).reshape(len(room.things), len(entities))
    errors = np.array(
        [[np.linalg.norm(thing.centre - centre_of(e)) for e in entities] for thing in room.things]
    ).reshape(gaps.shape)
    pairs = _assigned(gaps <= REACH, errors)
    taken = set(pairs.values())
    doubled: dict[int, list[Entity]] = {}
    false: list[Entity] = []
    unsure: list[Entity] = []
    beyond: list[Entity] = []
    for index, entity in enumerate(entities):
        if index in taken:
            continue
        if len(gaps) and gaps[:, index].min() <= REACH:
            doubled.setdefault(int(gaps[:, index].argmin()), []).append(entity)
        elif any(
            same_kind(box.label, entity.label) and box.gap(centre_of(entity)) <= REACH for box in room.unsure
        ):
            unsure.append(entity)
        else:
            (false if room.covers(centre_of(entity), LABELLED) else beyond).append(entity)
    rows = []
    for place, thing in enumerate(room.things):
        which = pairs.get(place)
        gap, error = (np.nan, np.nan) if which is None else (gaps[place, which], errors[place, which])
        found = None if which is None else entities[which]
        more = tuple(doubled.get(place, ()))
        rows.append(ThingRow(thing, in_view[place], found, float(gap), float(error), more))
    return RoomScore(tuple(rows), tuple(false), tuple(unsure), tuple(beyond))


def twins(one: Sequence[Entity], other: Sequence[Entity]) -> list[tuple[Entity, Entity, float]]:
    """Return the pairs of entities in two maps that are one object, with the distance of their centres, metres."""
    distance = np.array([[np.linalg.norm(centre_of(a) - centre_of(b)) for b in other] for a in one]).reshape(
        len(one), len(other)
    )
    alike = np.array([[same_kind(a.label, b.label) for b in other] for a in one]).reshape(distance.shape)
    pairs = _assigned(alike.astype(bool) & (distance <= TWIN), distance)
    return [(one[a], other[b], float(distance[a, b])) for a, b in pairs.items()]


def _assigned(allowed: np.ndarray, cost: np.ndarray) -> dict[int, int]:
    """Return the pairs row -> column: as many allowed ones as possible, then the least total cost."""
    value = np.where(allowed, 1e3 - cost, 0.0)
    rows, columns = linear_sum_assignment(value, maximize=True)
    return {int(r): int(c) for r, c in zip(rows, columns) if allowed[r, c]}
