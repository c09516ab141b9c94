"""Matching of the things in an answer to the things of a building."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from lodestar.scene.records import Entity
from lodestar_sim.worlds.world import World

_MARGIN = 0.2  # m around a thing's box in which the middle of an entity's may lie


def listed_things(world: World, entities: Mapping[int, Entity], listed: Iterable[int]) -> tuple[int, ...]:
    """Ids of the things at whose place the listed entities are, of each the nearest; -id for an entity at none.

    A thing that two entities stand for is there once, and the second as one at none.
    """
    found: dict[int, None] = {}
    for identity in listed:
        entity = entities.get(identity)
        nearest = 0 if entity is None else _at(world, entity)
        found[nearest if nearest and nearest not in found else -identity] = None
    return tuple(found)


def _at(world: World, entity: Entity) -> int:
    """The thing at an entity's place whose class it has, 0 where there is none."""
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
