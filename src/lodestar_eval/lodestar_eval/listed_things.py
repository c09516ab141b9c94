"""Matching of the entities in an answer to the objects of a building."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from lodestar.scene.records import Entity
from lodestar_sim.worlds.world import World

_MARGIN = 0.2  # metres by which an object's box is grown to contain the centre of an entity's box


def listed_things(world: World, entities: Mapping[int, Entity], listed: Iterable[int]) -> tuple[int, ...]:
    """Return, per listed entity, the id of the object at its place; minus the entity's id if there is none.

    Of two entities at the same object, the second counts as one without an object.
    """
    found: dict[int, None] = {}
    for identity in listed:
        entity = entities.get(identity)
        nearest = 0 if entity is None else _at(world, entity)
        found[nearest if nearest and nearest not in found else -identity] = None
    return tuple(found)


def _at(world: World, entity: Entity) -> int:
    """Return the id of the object at an entity's place, preferably one of its class; 0 = none."""
    middle = (np.asarray(entity.box_min) + np.asarray(entity.box_max)) / 2.0
    named = f"{entity.label} {entity.caption}"
    best, least = 0, np.inf
    for thing in world.objects:
        low, high = world.box(thing)
        if not (np.all(middle >= low - _MARGIN) and np.all(middle <= high + _MARGIN)):
            continue
        away = float(np.linalg.norm(middle - (low + high) / 2.0)) + (0.0 if thing.category in named else 1.0)
        if away < least:
            best, least = thing.id, away
    return best
