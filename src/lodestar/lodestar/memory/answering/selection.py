"""Search for the objects that a description (item) means: in the scene, at former places and in memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum

import numpy as np

from lodestar.language.items import ANYWHERE, Item, Scope
from lodestar.language.query_graph import QueryGraph
from lodestar.memory.answering.chronicle import sightings_in, thing_of_sightings
from lodestar.memory.answering.config import ANSWERING_GAP, ANSWERING_MOVED
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.readings import (
    readings_apart,
    rooms_apart,
    rooms_named,
    seen_from_here,
    without_relations,
)
from lodestar.memory.answering.records import Box, Search, Thing
from lodestar.memory.records import SEEN, EventKind, Memory, Primitive
from lodestar.models.lexicon import load_lexicon
from lodestar.query.config import QUERY_AMBIGUOUS
from lodestar.query.pool import Pool
from lodestar.query.terms import ranks
from lodestar.query.verdict import Candidate, score_pool
from lodestar.scene.captions import attributes_of
from lodestar.scene.records import Entity, EntityState

_CLOSE = 8  # most candidates that are ranked by their changes


class When(Enum):
    """Times at which a description may hold for an object that a search finds."""

    NOW = "now"  # only now
    KNOWN = "known"  # now, else among archived entities, else in memories
    PAST = "past"  # now or for archived entities
    EVER = "ever"  # also at places that objects have left


def when_asked(inquiry: Inquiry) -> When:
    """Return PAST for a question about the past, else NOW."""
    return When.PAST if inquiry.question.past else When.NOW


def find(
    inquiry: Inquiry,
    item: Item,
    when: When = When.KNOWN,
    *,
    scope: Scope | None = None,
    loosely: bool = False,
) -> Search:
    """Return the objects that an item means, best first.

    scope: rooms that limit the search, None = those of the question. loosely: if none fits, ignore relations
    and rooms that cannot be checked; for questions that take the object's existence for granted. Raises
    MissingPhrases.
    """
    scope = inquiry.question.scope if scope is None else scope
    key = (item, when, scope, loosely)
    known = inquiry.searches.get(key)
    if known is None:
        known = inquiry.searches[key] = _found(inquiry, item, when, scope, loosely)
    return known


def find_changed(inquiry: Inquiry, item: Item, kind: EventKind) -> Search:
    """Return the objects that an item means; those with a change of this kind come first.

    A description may hold only for the place before the change: "the chair by the window" that was carried
    away.
    """
    search = find(inquiry, item, When.EVER, loosely=True)
    if not inquiry.tools.use_scene:
        return search
    front = search.things[:_CLOSE]
    worth = [
        _arrived(inquiry, t) if kind is EventKind.APPEARED else _changed(inquiry, t, kind) for t in front
    ]
    order = sorted(range(len(front)), key=lambda k: -worth[k])
    return replace(search, things=(*(front[k] for k in order), *search.things[_CLOSE:]))


def _arrived(inquiry: Inquiry, thing: Thing) -> float:
    """Return the likelihood, [0, 1], that an object appeared.

    It is 1 if an event says so, else up to 0.5, and higher the later the object was first seen.
    """
    if any(memory.event is EventKind.APPEARED for memory in inquiry.chronicle.changes(thing.id)):
        return 1.0
    first = thing.stays[0].first if thing.entity is None else thing.entity.first_seen
    return 0.0 if thing.is_gone else 0.5 * float(np.clip(first / max(inquiry.now, 1e-6), 0.0, 1.0))


def _changed(inquiry: Inquiry, thing: Thing, kind: EventKind) -> float:
    """Return the likelihood of a change of this kind.

    It is 1 if an event says so, 0.5 if sightings do, 0.25 for a similar kind of change, else 0.
    """
    history = inquiry.chronicle.history(thing)
    if history.of_kind(kind):
        return 1.0
    if history.span_of_change(kind) is not None:
        return 0.5
    return 0.0 if history.noticed_as(kind) is None else 0.25


def _found(inquiry: Inquiry, item: Item, when: When, scope: Scope, loosely: bool) -> Search:
    if when is When.EVER:
        found = _ever(inquiry, item, scope)
        if found.things:
            return found
        when = When.PAST
    found = _strictly(inquiry, item, when, scope)
    if found.things or not loosely or not item.graphs:
        return found
    bare = without_relations(item)
    tries = [(item, ANYWHERE)] if found.no_room else []
    tries += [(bare, scope if not found.no_room else ANYWHERE)] if bare != item else []
    for other, where in tries:
        search = find(inquiry, other, when, scope=where)
        if search.things:
            return replace(search, is_relaxed=True)
    return found


def _strictly(inquiry: Inquiry, item: Item, when: When, scope: Scope) -> Search:
    item, inside = rooms_apart(inquiry, seen_from_here(item))
    names = (*scope.labels, *inside)
    meant = rooms_named(inquiry, names) if names else None
    rooms = None if meant is None else meant.ids
    found = _in_rooms(inquiry, item, rooms, when)
    if not found.things and inquiry.tools.use_scene:
        tries = (_in_rooms(inquiry, one, rooms, when) for one in readings_apart(item))
        found = next((search for search in tries if search.things), found)
    if meant is None:
        return found
    return replace(found, no_room=not rooms or (meant.guessed and not found.things), is_relaxed=meant.guessed)


def _in_rooms(inquiry: Inquiry, item: Item, rooms: frozenset[int] | None, when: When) -> Search:
    inquiry.tools.check()
    if not item.graphs:
        return Search(rooms=rooms)
    if not inquiry.tools.use_scene:
        return _remembered(inquiry, item, rooms, when)
    present = _fitting(inquiry, item, _present(inquiry), rooms)
    if when is When.PAST or not present.things:
        entities = inquiry.tools.scene.entities.values()
        gone = _pool(inquiry, [e for e in entities if e.state is EntityState.ARCHIVED])
        archived = _fitting(inquiry, item, gone, rooms)
        present = replace(
            present, things=(*present.things, *archived.things),
            best_miss=max(present.best_miss, archived.best_miss),
        )  # fmt: skip
    if present.things:
        return present
    remembered = _remembered(inquiry, item, rooms, when)
    things = tuple(t for t in remembered.things if when is not When.NOW or t.entity is None)
    return replace(remembered, things=things, best_miss=max(remembered.best_miss, present.best_miss))


def _fitting(inquiry: Inquiry, item: Item, pool: Pool, rooms: frozenset[int] | None) -> Search:
    scored = _scores(item, pool)
    accept = inquiry.config.query.accept
    inside = [(e, scored[e.id]) for e in pool.entities if e.id in scored and _is_in(inquiry, e, rooms)]
    things = [Thing.of_entity(entity, score) for entity, score in inside if score >= accept]
    missed = max((score for _, score in inside if score < accept), default=0.0)
    return Search(_ranked(inquiry, things), missed, rooms=rooms)


def _is_in(inquiry: Inquiry, entity: Entity, rooms: frozenset[int] | None) -> bool:
    if rooms is None:
        return True
    return (entity.region_id or inquiry.region_at(Box.of_entity(entity).centre)) in rooms


def _ever(inquiry: Inquiry, item: Item, scope: Scope) -> Search:
    """Return the objects that an item means by their present place or by a former place, best first."""
    item, inside = rooms_apart(inquiry, item)
    names = (*scope.labels, *inside)
    rooms = rooms_named(inquiry, names).ids if names else None
    if not inquiry.tools.use_scene or not item.graphs or (rooms is not None and not rooms):
        return Search(rooms=rooms)
    old, own = inquiry.chronicle.left_places()
    entities = inquiry.tools.scene.entities
    present = [e for e in entities.values() if e.state is not EntityState.ARCHIVED]
    pool = _pool(inquiry, [*present, *old])
    scored = _scores(seen_from_here(item), pool)
    things: dict[int, Thing] = {}
    for entity in sorted((e for e in pool.entities if e.id in scored), key=lambda e: -scored[e.id]):
        fits = scored[entity.id] >= inquiry.config.query.accept
        if fits and (rooms is None or inquiry.region_at(entity.mean) in rooms):
            real = entities[own.get(entity.id, entity.id)]
            things.setdefault(real.id, Thing.of_entity(real, scored[entity.id]))
    return Search(tuple(things.values()), rooms=rooms)


# --- scores --------------------------------------------------------------------------------------------------------


def _present(inquiry: Inquiry) -> Pool:
    tools = inquiry.tools
    scene = tools.scene
    pool = inquiry.pools.of(scene.entities, tools.phrases, inquiry.config.query, scene.regions, scene.rooms)
    return pool.seen_by(inquiry.place)


def _pool(inquiry: Inquiry, entities: Sequence[Entity]) -> Pool:
    tools, config = inquiry.tools, inquiry.config.query
    scene = tools.scene
    return Pool.of(entities, tools.phrases, config, scene.regions, inquiry.place, rooms=scene.rooms)


def _scores(item: Item, pool: Pool) -> dict[int, float]:
    """Return entity id -> score of the candidates; entities that the item excludes are left out."""
    found = {c.entity_id: c.score for c in _candidates(item.graphs, pool)}
    out = _candidates(item.excluded, pool) if item.excluded else []
    for candidate in out:
        if candidate.score >= pool.config.accept:
            found.pop(candidate.entity_id, None)
    return found


def _candidates(graphs: Sequence[QueryGraph], pool: Pool) -> list[Candidate]:
    structure = load_lexicon().structure
    wanted = any(graph.target.category in structure for graph in graphs)
    labels = {entity.id: entity.label.casefold() for entity in pool.entities}
    found = score_pool(graphs, pool, explained=0)
    return [c for c in found if wanted or labels[c.entity_id] not in structure]


def _ranked(inquiry: Inquiry, things: Iterable[Thing]) -> tuple[Thing, ...]:
    """Return the objects, present ones before gone ones, by falling score.

    Objects of nearly equal score are ordered by distance from the robot, or else the newest first.
    """
    close = QUERY_AMBIGUOUS

    def key(thing: Thing) -> tuple[float, ...]:
        away = 0.0 if inquiry.place is None else thing.box.away(inquiry.place)
        return (thing.is_gone, -round(thing.score / close), away, -thing.last, thing.id)

    return tuple(sorted(things, key=key))


# --- over memories -------------------------------------------------------------------------------------------------


def _remembered(inquiry: Inquiry, item: Item, rooms: frozenset[int] | None, when: When) -> Search:
    """Return the objects that fit an item in the memories selected as evidence.

    Relations of the item must hold within one segment. For a question about now, only an object's last
    sightings count.
    """
    memories = [p.hit.memory for p in inquiry.pieces if p.hit.memory.event in SEEN]
    accept, resolve = inquiry.config.query.accept, inquiry.tools.scene.resolve
    scores: dict[int, float] = {}
    fitted: dict[int, float] = {}
    newest = {
        p.entity_id: (memory, p)
        for memory in sorted(memories, key=lambda memory: memory.start)
        for p in memory.primitives
    }

    def take(scored: Mapping[int, float]) -> None:
        for identity, score in scored.items():
            current = resolve(identity)
            scores[current] = max(score, scores.get(current, 0.0))

    ranked = any(ranks(p) for graph in item.graphs for p in graph.predicates)
    for memory in () if ranked else memories:
        scored = _scores(item, _pool(inquiry, [_entity(inquiry, memory, p) for p in memory.primitives]))
        for identity in list(scored):
            if when is When.NOW and newest[identity][0].start - memory.start > ANSWERING_GAP:
                del scored[identity]
            elif scored[identity] >= accept:
                current = resolve(identity)
                fitted[current] = max(memory.start, fitted.get(current, memory.start))
        take(scored)
    take(_scores(item, _pool(inquiry, [_entity(inquiry, memory, p) for memory, p in newest.values()])))
    known = inquiry.tools.scene.entities if inquiry.tools.use_scene else {}
    found = []
    for identity, score in scores.items():
        seen = sightings_in(inquiry.tools.scene, memories, {identity})
        seen = [s for s in seen if rooms is None or inquiry.region_at(s.box.centre) in rooms]
        if score >= accept and seen:
            thing = thing_of_sightings(identity, seen, score, ANSWERING_MOVED, known.get(identity))
            found.append(replace(thing, matched=fitted.get(identity)))
    missed = max((score for score in scores.values() if score < accept), default=0.0)
    return Search(_ranked(inquiry, found), missed, tuple(memories), rooms)


def _entity(inquiry: Inquiry, memory: Memory, primitive: Primitive) -> Entity:
    """Return a remembered object as a scene entity in its state at the time of the memory."""
    box = Box.around(primitive.centre, primitive.size)
    return Entity(
        primitive.entity_id, primitive.label, primitive.caption or primitive.label, primitive.centre, np.eye(3) * 0.01,
        box.low, box.high, attributes=attributes_of(primitive.caption), region_id=inquiry.region_at(primitive.centre),
        first_seen=memory.start, last_seen=memory.end,
    )  # fmt: skip
