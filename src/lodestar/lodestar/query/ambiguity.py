"""Words that distinguish candidates with nearly equal scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lodestar.models.lexicon import load_lexicon
from lodestar.query.verdict import Candidate
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity, EntityState, Region

_BESIDE = 2.0  # metres between boxes within which a neighbour identifies an object
_BIGGER = 1.25  # ratio of the longest sides that a person notices at once


def tell_apart(first: Candidate, second: Candidate, entities: Mapping[int, Entity]) -> str:
    """Return one line that names both candidates and their difference.

    The difference is a colour, a neighbour that only one has, size, or place. A candidate without an entity
    is named by its id alone.
    """
    one, other = entities.get(first.entity_id), entities.get(second.entity_id)
    if one is None or other is None:
        return f"#{first.entity_id} or #{second.entity_id}"
    difference = (
        _by_attribute(one, other)
        or _by_neighbor(one, other, entities)
        or _by_size(one, other)
        or _by_place(one, other)
    )
    names = [f"#{e.id} {clean_text(e.caption or e.label) or 'thing'}" for e in (one, other)]
    return f"{names[0]} ({difference[0]}) or {names[1]} ({difference[1]})"


def choices_in_words(
    things: Sequence[Entity], entities: Mapping[int, Entity], regions: Mapping[int, Region]
) -> tuple[str, ...]:
    """Return words for each of several objects that distinguish it from the others: "the red chair by the
    desk", "the red chair in the hall"; the position in map if nothing else differs.
    """
    ids = {thing.id for thing in things}
    beside = {thing.id: _beside(thing, ids, entities) for thing in things}
    names = {thing.id: clean_text(thing.caption or thing.label) or "thing" for thing in things}
    rooms = {t.id: clean_text(regions[t.region_id].label) if t.region_id in regions else "" for t in things}
    found = []
    for thing in things:
        others = [other.id for other in things if other.id != thing.id]
        name, room = names[thing.id], rooms[thing.id]
        near = next((label for label in beside[thing.id] if all(label not in beside[i] for i in others)), "")
        if all(names[i] != name for i in others):
            said = ""
        elif near:
            said = f" by the {near}"
        elif room and all(rooms[i] != room for i in others):
            said = f" in the {room}"
        else:
            said = f" at ({float(thing.mean[0]):.1f}, {float(thing.mean[1]):.1f})"
        found.append(f"the {name}{said}")
    return tuple(found)


def _by_attribute(one: Entity, other: Entity) -> tuple[str, str] | None:
    groups = load_lexicon().attribute_group
    for mine in one.attributes:
        rivals = [a for a in other.attributes if groups.get(a) == groups.get(mine)]
        if rivals and mine not in other.attributes:
            return mine, rivals[0]
    return None


def _by_neighbor(one: Entity, other: Entity, entities: Mapping[int, Entity]) -> tuple[str, str] | None:
    beside = [_beside(entity, {one.id, other.id}, entities) for entity in (one, other)]
    for mine, (others, side) in ((beside[0], (beside[1], 0)), (beside[1], (beside[0], 1))):
        for label in mine:
            if label not in others:
                text = (f"beside a {label}", f"no {label} beside it")
                return text if side == 0 else (text[1], text[0])
    return None


def _beside(entity: Entity, without: set[int], entities: Mapping[int, Entity]) -> list[str]:
    """Return the labels of objects near an entity, nearest first."""
    found: list[tuple[float, str]] = []
    for near in entities.values():
        if near.id in without or near.state == EntityState.ARCHIVED or not near.label:
            continue
        gap = np.maximum(np.maximum(near.box_min - entity.box_max, entity.box_min - near.box_max), 0.0)
        distance = float(np.linalg.norm(gap))
        if distance <= _BESIDE:
            found.append((distance, clean_text(near.label)))
    return [label for _, label in sorted(found)]


def _by_size(one: Entity, other: Entity) -> tuple[str, str] | None:
    mine, others = (float(np.max(np.subtract(e.box_max, e.box_min))) for e in (one, other))
    if mine > _BIGGER * others:
        return "the larger", "the smaller"
    if others > _BIGGER * mine:
        return "the smaller", "the larger"
    return None


def _by_place(one: Entity, other: Entity) -> tuple[str, str]:
    texts = [f"at {float(e.mean[0]):.1f} {float(e.mean[1]):.1f}" for e in (one, other)]
    return texts[0], texts[1]
