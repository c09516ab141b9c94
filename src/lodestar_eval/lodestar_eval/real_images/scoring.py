"""Entities against labelled things: found, doubled, false, and the error of their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.models.kinship import same_kind
from lodestar.scene.records import Entity
from lodestar_eval.real_images.labels import LabelledRoom, LabelledThing

REACH = 0.25  # m of an entity's centre from a labelled box within which it is that thing; the bar on places
LABELLED = 0.5  # m around all labels; nothing is said of what lies beyond; chosen
TWIN = 0.5  # m between the centres of one thing in two maps; chosen: half a chair more than a chair's width apart


@dataclass(frozen=True)
class ThingRow:
    """A labelled thing. entity: the one that it is, None = not found. gap: of the entity's centre from the labelled

    box; error: between the centres; both metres, NaN without an entity. doubled: further entities of it.
    """

    thing: LabelledThing
    in_view: bool
    entity: Entity | None
    gap: float
    error: float
    doubled: tuple[Entity, ...] = ()


@dataclass(frozen=True)
class RoomScore:
    """false: entities where nothing of their kind was labelled. unsure: at things that may be there. beyond: outside

    the part of the room that was labelled.
    """

    rows: tuple[ThingRow, ...]
    false: tuple[Entity, ...]
    unsure: tuple[Entity, ...]
    beyond: tuple[Entity, ...]

    @property
    def counted(self) -> list[ThingRow]:
        """Return the things that the frames show."""
        return [row for row in self.rows if row.in_view]

    def metrics(self) -> dict[str, float]:
        """Return shares, counts, and metres; NaN without data."""
        counted = self.counted
        found = [row for row in counted if row.entity is not None]
        errors, gaps = np.array([row.error for row in found]), np.array([row.gap for row in found])
        nothing = not found
        return {
            "things": float(len(counted)),
            "found": len(found) / len(counted) if counted else float("nan"),
            "doubled": float(sum(len(row.doubled) for row in self.rows)),
            "false": float(len(self.false)),
            "unsure": float(len(self.unsure)),
            "beyond": float(len(self.beyond)),
            "place_error_m": float("nan") if nothing else float(errors.mean()),
            "place_error_median_m": float("nan") if nothing else float(np.median(errors)),
            "place_error_worst_m": float("nan") if nothing else float(errors.max()),
            "place_gap_m": float("nan") if nothing else float(gaps.mean()),
        }


def centre_of(entity: Entity) -> np.ndarray:
    """Return the middle (3,) of an entity's box."""
    return (np.asarray(entity.box_min, float) + np.asarray(entity.box_max, float)) / 2.0


def score(room: LabelledRoom, in_view: Sequence[bool], entities: Sequence[Entity]) -> RoomScore:
    """Pair entities and things of one kind one to one, as many as can be, then with the least error of places."""
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
    """Return the entities of two maps that are one thing, with the distance of their centres, metres."""
    distance = np.array([[np.linalg.norm(centre_of(a) - centre_of(b)) for b in other] for a in one]).reshape(
        len(one), len(other)
    )
    alike = np.array([[same_kind(a.label, b.label) for b in other] for a in one]).reshape(distance.shape)
    pairs = _assigned(alike.astype(bool) & (distance <= TWIN), distance)
    return [(one[a], other[b], float(distance[a, b])) for a, b in pairs.items()]


def _assigned(allowed: np.ndarray, cost: np.ndarray) -> dict[int, int]:
    """Return row -> column: the most allowed pairs, of these the least sum of costs."""
    value = np.where(allowed, 1e3 - cost, 0.0)
    rows, columns = linear_sum_assignment(value, maximize=True)
    return {int(r): int(c) for r, c in zip(rows, columns) if allowed[r, c]}
