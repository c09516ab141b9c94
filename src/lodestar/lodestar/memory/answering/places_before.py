"""Things by the places that they have left: a description may be true of the old place alone."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.items import Item
from lodestar.memory.answering.happenings import position_of
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.item_readings import rooms_apart
from lodestar.memory.answering.item_search import (
    Search,
    entities_that_fit,
    find_described,
    thing_of_entity,
)
from lodestar.memory.answering.rooms import rooms_named
from lodestar.memory.answering.things import Thing, entity_box
from lodestar.memory.records import EventKind
from lodestar.memory.requests import Order, Request
from lodestar.scene.records import Entity, EntityState


def find_ever(inquiry: Inquiry, item: Item) -> Search:
    """Return the things that an item means by where they are or by a place that they have left, best first; where none
    does, as `find_described`. Raises MissingPhrases.
    """
    plain = find_described(inquiry, item, past=True)
    if not inquiry.tools.use_scene or not item.graphs:
        return plain
    item, inside = rooms_apart(inquiry, item)
    labels = (*inquiry.question.scope.labels, *inside)
    rooms = rooms_named(inquiry, labels).ids if labels else None
    if rooms is not None and not rooms:
        return plain
    old, own = _left_places(inquiry)
    entities = inquiry.tools.scene.entities
    present = [e for e in entities.values() if e.state is not EntityState.ARCHIVED]
    things: dict[int, Thing] = {}
    for entity, score in entities_that_fit(inquiry, item, [*present, *old]):
        if rooms is None or inquiry.region_at(entity.mean) in rooms:
            real = entities[own.get(entity.id, entity.id)]
            things.setdefault(real.id, thing_of_entity(inquiry, real, score))
    return Search(tuple(things.values()), rooms=rooms) if things else plain


def _left_places(inquiry: Inquiry) -> tuple[list[Entity], dict[int, int]]:
    """Return entities as they stood at places that they have left, with ids of their own, and whose they are."""
    scene = inquiry.tools.scene
    old: list[Entity] = []
    own: dict[int, int] = {}
    for entity in scene.entities.values():
        if entity.state is EntityState.ARCHIVED:
            old.append(replace(entity, id=-len(own) - 1, state=EntityState.ACTIVE))
            own[old[-1].id] = entity.id
    request = Request(
        kinds=frozenset({EventKind.MOVED}), window=inquiry.window,
        limit=inquiry.config.events, order=Order.NEWEST,
    )  # fmt: skip
    for memory in inquiry.memories(request):
        start = position_of(memory, "from")
        known = [scene.entities.get(scene.resolve(i)) for i in memory.entity_ids]
        moved = next((e for e in known if e is not None), None)
        if start is None or moved is None:
            continue
        box = entity_box(moved)
        half = (box.high - box.low) / 2.0
        region = inquiry.region_at(start)
        old.append(
            replace(
                moved, id=-len(own) - 1, state=EntityState.ACTIVE, mean=start,
                box_min=start - half, box_max=start + half, region_id=region,
            )
        )  # fmt: skip
        own[old[-1].id] = moved.id
    return old, own
