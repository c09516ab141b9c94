"""Things that a question is about: its query graph scored over the scene, or over the evidence of the memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.language.items import ANYWHERE, Item, Scope
from lodestar.language.query_graph import QueryGraph
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.item_readings import readings_apart, rooms_apart, seen_from_here
from lodestar.memory.answering.rooms import rooms_named
from lodestar.memory.answering.things import (
    Box,
    Sighting,
    Stay,
    Thing,
    entity_box,
    name_in_words,
    stays_of,
)
from lodestar.memory.records import EventKind, Memory, Primitive
from lodestar.models.lexicon import load_lexicon
from lodestar.query.pool import Pool
from lodestar.query.terms import ranks
from lodestar.query.verdict import Candidate, score_pool
from lodestar.scene.captions import attributes_of
from lodestar.scene.records import Entity, EntityState

_SEEN = (None, EventKind.APPEARED, EventKind.MOVED)  # memories whose primitives were seen


@dataclass(frozen=True)
class Search:
    """Things that fit, best first. best_miss: the best score of what does not. memories: evidence that was read.

    rooms: regions of the scope, None = anywhere. no_room: a room was named that no region is called. is_relaxed: a part
    of the description was left out, because its room or neighbour is not known.
    """

    things: tuple[Thing, ...] = ()
    best_miss: float = 0.0
    memories: tuple[Memory, ...] = ()
    rooms: frozenset[int] | None = None
    no_room: bool = False
    is_relaxed: bool = False

    @property
    def best(self) -> Thing | None:
        """Return the first thing, None where none fits."""
        return self.things[0] if self.things else None

    def rivals(self, close: float) -> tuple[Thing, ...]:
        """Return the things that fit as well as the first one, within `close`; it is one of them."""
        return tuple(t for t in self.things if self.things[0].score - t.score < close)


def find_described(inquiry: Inquiry, item: Item, scope: Scope | None = None, *, past: bool = False) -> Search:
    """Return the things that an item means; where none does, those that its own words mean, without relations and
    rooms that cannot be checked. For questions that take the thing for granted. Raises MissingPhrases.
    """
    found = find_things(inquiry, item, scope, past=past)
    if found.things or not item.graphs:
        return found
    bare = Item(tuple(tuple(_bare(graph) for graph in readings[:1]) for readings in item.alternatives))
    scope = inquiry.question.scope if scope is None else scope
    tries = [(item, ANYWHERE)] if found.no_room else []
    tries += [(bare, scope if not found.no_room else ANYWHERE)] if bare != item else []
    for other, where in tries:
        search = find_things(inquiry, other, where, past=past)
        if search.things:
            return replace(search, is_relaxed=True)
    return found


def _bare(graph: QueryGraph) -> QueryGraph:
    """Return the target by its kind and the looks that are known as such."""
    lexicon = load_lexicon()
    own = graph.of_variable(0)
    kept = tuple(
        p for p in own.predicates
        if p.name == "IsCategory" or (p.name == "HasAttribute" and lexicon.attribute(p.value) is not None)
    )  # fmt: skip
    return QueryGraph(own.variables, kept)


def find_things(
    inquiry: Inquiry, item: Item, scope: Scope | None = None, *, past: bool = False, now: bool = False
) -> Search:
    """Return the things that an item means, within the rooms of a scope.

    past: also those that the scene has given up. Where no present thing fits, one that it has given up is found, then
    one that only memories know. now: a thing that fitted once and does not any more is none. Raises MissingPhrases.
    """
    scope = inquiry.question.scope if scope is None else scope
    item, inside = rooms_apart(inquiry, seen_from_here(item))
    names = (*scope.labels, *inside)
    meant = rooms_named(inquiry, names) if names else None
    rooms = None if meant is None else meant.ids
    found = _found_in(inquiry, item, rooms, past, now)
    if not found.things and inquiry.tools.use_scene:
        tries = (_found_in(inquiry, one, rooms, past, now) for one in readings_apart(item))
        found = next((search for search in tries if search.things), found)
    if meant is None:
        return found
    lost = not rooms or (meant.guessed and not found.things)
    return replace(found, no_room=lost, is_relaxed=meant.guessed)


def _found_in(inquiry: Inquiry, item: Item, rooms: frozenset[int] | None, past: bool, now: bool) -> Search:
    inquiry.tools.check()
    empty = Search(rooms=rooms)
    if not item.graphs:
        return empty
    if not inquiry.tools.use_scene:
        return _by_evidence(inquiry, item, empty, now)
    entities = inquiry.tools.scene.entities
    present = _over(inquiry, item, _present(inquiry, entities), rooms)
    gone = [e for e in entities.values() if e.state is EntityState.ARCHIVED]
    if past or not present.things:
        pool = _pool(inquiry, gone)
        archived = _over(inquiry, item, pool, rooms)
        things = (*present.things, *archived.things)
        present = replace(present, things=things, best_miss=max(present.best_miss, archived.best_miss))
    if present.things:
        return replace(present, rooms=rooms)
    remembered = _by_evidence(inquiry, item, empty, now)
    if now:
        kept = tuple(thing for thing in remembered.things if thing.entity is None)
        remembered = replace(remembered, things=kept)
    return replace(remembered, best_miss=max(remembered.best_miss, present.best_miss))


def entities_that_fit(inquiry: Inquiry, item: Item, entities: Sequence[Entity]) -> list[tuple[Entity, float]]:
    """Return those of the entities that an item means, with their scores, best first. Raises MissingPhrases."""
    item = seen_from_here(item)
    scored = _scores(item, _pool(inquiry, entities))
    accept = inquiry.config.query.accept
    found = [(e, scored[e.id]) for e in entities if scored.get(e.id, 0.0) >= accept]
    return sorted(found, key=lambda pair: -pair[1])


def thing_of_entity(inquiry: Inquiry, entity: Entity, score: float = 1.0) -> Thing:
    """Return an entity as a thing, with the place where it is now."""
    stay = Stay(entity_box(entity), min(entity.first_seen, entity.last_seen), entity.last_seen)
    name = name_in_words(entity.caption, entity.label)
    return Thing(entity.id, name, name_in_words("", entity.label), score, (stay,), entity, entity.attributes)


def _present(inquiry: Inquiry, entities: Mapping[int, Entity]) -> Pool:
    tools = inquiry.tools
    scene = tools.scene
    pool = inquiry.pools.of(entities, tools.phrases, inquiry.config.query, scene.regions, scene.rooms)
    return pool.seen_by(None if inquiry.pose is None else np.asarray(inquiry.pose, float)[:2])


def _pool(inquiry: Inquiry, entities: Sequence[Entity]) -> Pool:
    tools = inquiry.tools
    observer = None if inquiry.pose is None else np.asarray(inquiry.pose, float)[:2]
    scene, config = tools.scene, inquiry.config.query
    return Pool.of(entities, tools.phrases, config, scene.regions, observer, rooms=scene.rooms)


def _over(inquiry: Inquiry, item: Item, pool: Pool, rooms: frozenset[int] | None) -> Search:
    scored = _scores(item, pool)
    entities = {entity.id: entity for entity in pool.entities}
    inside = {i: s for i, s in scored.items() if rooms is None or _is_in(inquiry, entities[i], rooms)}
    accept = inquiry.config.query.accept
    things = [thing_of_entity(inquiry, entities[i], s) for i, s in inside.items() if s >= accept]
    missed = max((s for s in inside.values() if s < accept), default=0.0)
    return Search(_ranked(inquiry, things), missed)


def _is_in(inquiry: Inquiry, entity: Entity, rooms: frozenset[int]) -> bool:
    known = entity.region_id or inquiry.region_at(entity_box(entity).centre)
    return known in rooms


def _scores(item: Item, pool: Pool) -> dict[int, float]:
    """Return the score of every candidate by id; what is excluded has none."""
    found = {c.entity_id: c.score for c in _candidates(item.graphs, pool)}
    if item.excluded:
        out = {c.entity_id for c in _candidates(item.excluded, pool) if c.score >= pool.config.accept}
        found = {i: s for i, s in found.items() if i not in out}
    return found


def _candidates(graphs: Sequence[QueryGraph], pool: Pool) -> list[Candidate]:
    structure = load_lexicon().structure
    wanted = any(graph.target.category in structure for graph in graphs)
    labels = {entity.id: entity.label.casefold() for entity in pool.entities}
    found = score_pool(graphs, pool, explained=0)
    return [c for c in found if wanted or labels[c.entity_id] not in structure]


def _ranked(inquiry: Inquiry, things: Iterable[Thing]) -> tuple[Thing, ...]:
    """Return the things by falling score; the nearest first among those that fit as well, else the newest."""
    close = inquiry.config.query.ambiguous
    pose = inquiry.pose

    def key(thing: Thing) -> tuple[float, ...]:
        away = 0.0 if pose is None else float(np.linalg.norm(thing.box.centre[:2] - np.asarray(pose)[:2]))
        return (thing.is_gone, -round(thing.score / close), away, -thing.last, thing.id)

    return tuple(sorted(things, key=key))


# --- over memories ---------------------------------------------------------------------------------------------


def _by_evidence(inquiry: Inquiry, item: Item, empty: Search, now: bool) -> Search:
    """Return the things that the pieces of evidence show; relations hold among the primitives of one segment.

    now: of a thing only its last sightings count.
    """
    memories = [p.hit.memory for p in inquiry.pieces if p.hit.memory.event in _SEEN]
    ranked = any(ranks(p) for graph in item.graphs for p in graph.predicates)
    scores: dict[int, float] = {}
    fitted: dict[int, float] = {}
    latest = {p.entity_id: memory.start for memory in _oldest_first(memories) for p in memory.primitives}
    for memory in () if ranked else memories:
        pool = _pool(inquiry, [_entity(inquiry, memory, p) for p in memory.primitives])
        scored = _scores(item, pool)
        if now:
            scored = {i: s for i, s in scored.items() if latest[i] - memory.start <= inquiry.config.gap}
        for identity, score in scored.items():
            if score >= inquiry.config.query.accept:
                current = inquiry.tools.scene.resolve(identity)
                fitted[current] = max(memory.start, fitted.get(current, memory.start))
        _raise(scores, scored)
    newest = {p.entity_id: (m, p) for m in _oldest_first(memories) for p in m.primitives}
    union = [_entity(inquiry, memory, primitive) for memory, primitive in newest.values()]
    _raise(scores, _scores(item, _pool(inquiry, union)))
    accept, found = inquiry.config.query.accept, list[Thing]()
    known = inquiry.tools.scene.entities if inquiry.tools.use_scene else {}
    for identity, score in _merged(inquiry, scores).items():
        seen = sightings_in(inquiry, memories, {identity})
        seen = [s for s in seen if empty.rooms is None or inquiry.region_at(s.box.centre) in empty.rooms]
        if score >= accept and seen:
            thing = thing_of_sightings(inquiry, identity, seen, score, known.get(identity))
            found.append(replace(thing, matched=fitted.get(identity)))
    missed = max((s for s in scores.values() if s < accept), default=0.0)
    return replace(empty, things=_ranked(inquiry, found), best_miss=missed, memories=tuple(memories))


def _oldest_first(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: memory.start)


def sightings_in(inquiry: Inquiry, memories: Iterable[Memory], ids: Iterable[int]) -> list[Sighting]:
    """Return the sightings of these entities, whatever they were called before they merged."""
    wanted, resolve = set(ids), inquiry.tools.scene.resolve
    return [
        Sighting(memory, primitive)
        for memory in memories
        if memory.event in _SEEN
        for primitive in memory.primitives
        if resolve(primitive.entity_id) in wanted and np.isfinite([primitive.centre, primitive.size]).all()
    ]


def thing_of_sightings(
    inquiry: Inquiry, identity: int, seen: Sequence[Sighting], score: float, entity: Entity | None = None
) -> Thing:
    """Return a thing that memories show; what the scene knows of it counts where the scene may answer."""
    last = max(seen, key=lambda sighting: sighting.memory.start).primitive
    name = name_in_words(last.caption, last.label)
    return Thing(
        identity,
        name,
        name_in_words("", last.label),
        score,
        stays_of(seen, inquiry.config.moved),
        entity,
        attributes_of(last.caption) if entity is None else entity.attributes,
    )


def _merged(inquiry: Inquiry, scores: Mapping[int, float]) -> dict[int, float]:
    merged: dict[int, float] = {}
    for identity, score in scores.items():
        _raise(merged, {inquiry.tools.scene.resolve(identity): score})
    return merged


def _raise(scores: dict[int, float], others: Mapping[int, float]) -> None:
    for identity, score in others.items():
        scores[identity] = max(score, scores.get(identity, 0.0))


def _entity(inquiry: Inquiry, memory: Memory, primitive: Primitive) -> Entity:
    """Return a primitive as the entity that it was."""
    box = Box(primitive.centre - primitive.size / 2.0, primitive.centre + primitive.size / 2.0)
    return Entity(
        primitive.entity_id,
        primitive.label,
        primitive.caption or primitive.label,
        primitive.centre,
        np.eye(3) * 0.01,
        box.low,
        box.high,
        attributes=attributes_of(primitive.caption),
        region_id=inquiry.region_at(primitive.centre),
        first_seen=memory.start,
        last_seen=memory.end,
    )
