"""Similarity fields of queries on the cells of the map in plan, updated incrementally (RoboAtlas IV-C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.language.directive import Directive
from lodestar.language.query_graph import QueryGraph
from lodestar.mapping.instances.pillars import PillarMap
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.categories import caption_facts, has_group, needs_caption
from lodestar.query.config import QUERY_MIN_CANDIDATE, QUERY_READING_SHARE, QueryConfig
from lodestar.query.pool import Pool
from lodestar.query.terms import semantic_scores, unary_words
from lodestar.query.verdict import score_query
from lodestar.scene.records import Entity, EntityState, Region

LAYERS = ("target", "neighbor", "constraint")
MAX_QUERIES = 64  # cached queries; the least recently used is dropped first
MAX_CAPTIONS = 100_000  # cached captions


#: Readings of one phrase, best first.
Query = tuple[QueryGraph, ...]


def layer_queries(directive: Directive) -> dict[str, tuple[Query, ...]]:
    """Return the queries of all steps per layer, without duplicates: Q_T, Q_N and Q_C of RoboAtlas IV-C."""
    items = [step.item for step in directive.steps if step.item is not None]
    items += [item for step in directive.steps for item in step.stops]
    found: dict[str, list[Query]] = {
        "target": [(graph.of_variable(0),) for item in items for graph in item.best],
        "neighbor": [(graph,) for item in items for graph in item.neighbor_graphs],
        "constraint": [constraint.item.graphs for constraint in directive.constraints],
    }
    return {layer: tuple(dict.fromkeys(queries)) for layer, queries in found.items()}


@dataclass
class _QueryScores:
    """Scores of one query by entity id and by kind: (ids,), (kinds,) float32."""

    graphs: Query
    by_id: np.ndarray
    by_kind: np.ndarray
    whole: bool  # entities of one kind may differ, because all words of a caption matter


class EntityKinds:
    """Groups of entities of equal kind: label, state, head noun phrase and attributes.

    Entities of one kind have equal scores, except for relations and for other words of a caption.
    """

    def __init__(self) -> None:
        self.samples: list[Entity] = []  # one entity per kind
        self.kind_of = np.full(1, -1, np.int64)  # (ids,), -1 = no such entity
        self.entities: dict[int, Entity] = {}
        self._kinds: dict[tuple, int] = {}
        self._kind_of_text: dict[tuple, int] = {}

    def sync(self, entities: Mapping[int, Entity]) -> np.ndarray:
        """Update to the scene's entities; return the ids (N,) that have changed, including archived and lost
        ones.
        """
        known = self.entities
        touched = [i for i, entity in entities.items() if known.get(i) is not entity]
        gone = [i for i in known if i not in entities] if len(known) + len(touched) > len(entities) else []
        if not touched and not gone:
            return np.zeros(0, np.int64)
        self._reserve(max(*touched, *gone, 0, 0) + 1)
        changed = []
        for identity in touched:
            before, entity = known.get(identity), entities[identity]
            known[identity] = entity
            kind = self._kind(entity)
            if self.kind_of[identity] != kind or before is None or before.caption != entity.caption:
                self.kind_of[identity] = kind
                changed.append(identity)
        for identity in gone:
            del known[identity]
            self.kind_of[identity] = -1
        return np.array(changed + gone, np.int64)

    def _kind(self, entity: Entity) -> int:
        if entity.state == EntityState.ARCHIVED:
            return -1
        text = (entity.label, entity.caption, entity.attributes, entity.state)
        kind = self._kind_of_text.get(text)
        if kind is None:
            noun, said = caption_facts(entity.label, entity.caption, entity.attributes)
            key = (entity.label, noun, said, entity.state)
            kind = self._kinds.get(key, -1)
            if kind < 0:
                kind = self._kinds[key] = len(self.samples)
                self.samples.append(entity)
            self._kind_of_text[text] = kind
            if len(self._kind_of_text) > MAX_CAPTIONS:
                del self._kind_of_text[next(iter(self._kind_of_text))]
        return kind

    def _reserve(self, size: int) -> None:
        if size > len(self.kind_of):
            grown = np.full(max(size, 2 * len(self.kind_of)), -1, np.int64)
            grown[: len(self.kind_of)] = self.kind_of
            self.kind_of = grown


class SimilarityFields:
    """Similarity fields, one value per cell of a PillarMap, for sets of queries. Not thread-safe.

    A query is scored once per kind of entity, later only for new kinds. A field is recomputed only in cells
    whose instances, or the instances' scores, have changed.
    """

    def __init__(self, phrases: PhraseBook, config: QueryConfig | None = None) -> None:
        self._phrases, self._config = phrases, config or QueryConfig()
        self._kinds = EntityKinds()
        self._queries: dict[Query, _QueryScores] = {}
        self._drawn: dict[str, tuple[tuple[Query, ...], PillarMap, np.ndarray]] = {}
        self._pending: dict[str, set[int]] = {}  # layer -> ids whose scores changed since it was drawn
        self._pools: dict[int, Pool] = {}  # first kind -> pool of the kinds from there on, during one update

    def follow(self, entities: Mapping[int, Entity]) -> None:
        """Update the scene's entities. Raises MissingPhrases."""
        changed = self._kinds.sync(entities)
        if not len(changed):
            return
        self._pools.clear()
        ids = set(changed.tolist())
        for pending in self._pending.values():
            pending |= ids
        try:
            for scores in self._queries.values():
                self._rescore(scores, changed)
        except MissingPhrases:
            self._queries.clear()  # partly updated: compute all scores again
            self._drawn.clear()
            raise

    def scores(self, query: Query) -> np.ndarray:
        """Return (ids,) float32: each entity's semantic score for a query, 0 = no entity. Raises MissingPhrases."""
        known = self._queries.pop(query, None)
        if known is None:
            none = np.zeros(0, np.float32)
            known = _QueryScores(query, none, none, any(_needs_whole(graph) for graph in query))
            self._rescore(known, np.flatnonzero(self._kinds.kind_of >= 0))
        self._queries[query] = known  # most recently used last
        while len(self._queries) > MAX_QUERIES:
            del self._queries[next(iter(self._queries))]
        return known.by_id

    def _rescore(self, scores: _QueryScores, ids: np.ndarray) -> None:
        """Score the new kinds and look up the scores of entities (N,) by kind."""
        kinds = self._kinds
        first = len(scores.by_kind)
        if first < len(kinds.samples):
            pool = self._pools.get(first)
            if pool is None:
                pool = self._pools[first] = Pool.of(
                    kinds.samples[first:], self._phrases, self._config, ordered=True
                )
            scores.by_kind = np.concatenate([scores.by_kind, _semantic(scores.graphs, pool)])
        if len(scores.by_id) < len(kinds.kind_of):
            grown = np.zeros(len(kinds.kind_of), np.float32)
            grown[: len(scores.by_id)] = scores.by_id
            scores.by_id = grown
        if not len(scores.by_kind):
            return
        kind = kinds.kind_of[ids]
        scores.by_id[ids] = np.where(kind >= 0, scores.by_kind[kind], 0.0)
        if scores.whole:
            near = ids[scores.by_id[ids] > 0.0]
            pool = Pool.of(
                [kinds.entities[i] for i in near.tolist()], self._phrases, self._config, ordered=True
            )
            scores.by_id[near] = _semantic(scores.graphs, pool)

    def field(self, layer: str, queries: Sequence[Query], pillars: PillarMap) -> np.ndarray:
        """Return the best score of the queries among each pillar's instances (eq. 12, 13), (rows, columns) float32.

        layer: name under which the field is cached for the next call. Raises MissingPhrases.
        """
        queries = tuple(dict.fromkeys(queries))
        table = self._table(queries, int(pillars.ids.max(initial=0)) + 1)
        before = self._drawn.get(layer)
        same = before is not None and before[0] == queries and _same_plan(before[1], pillars)
        if before is None or not same:
            field = _best(table, pillars.ids)
        else:
            field = before[2].copy()
            stale = self._stale(layer, before[1], pillars, len(table))
            if stale is not None:
                rows, columns = np.nonzero(stale)
                field[rows, columns] = table[pillars.ids[:, rows, columns]].max(axis=0)
        self._drawn[layer] = (queries, pillars, field)
        self._pending[layer] = set()
        return field

    def _table(self, queries: tuple[Query, ...], size: int) -> np.ndarray:
        table = np.zeros(size, np.float32)
        for query in queries:
            scores = self.scores(query)[:size]
            np.maximum(table[: len(scores)], scores, out=table[: len(scores)])
        return table

    def _stale(self, layer: str, before: PillarMap, now: PillarMap, size: int) -> np.ndarray | None:
        """Return (rows, columns) bool: cells of a cached field to recompute; None if there are none."""
        pending = np.fromiter((i for i in self._pending[layer] if i < size), np.int64)
        if before is now and not len(pending):
            return None
        stale = np.zeros(now.ids.shape[1:], bool) if before is now else (before.ids != now.ids).any(axis=0)
        if len(pending):
            flags = np.zeros(size, bool)
            flags[pending] = True
            stale |= flags[now.ids].any(axis=0)
        return stale


def _semantic(graphs: Sequence[QueryGraph], pool: Pool) -> np.ndarray:
    """Return (N,) float32: the best reading's score by category and attributes."""
    if not graphs or not pool.entities:
        return np.zeros(len(pool.entities), np.float32)
    top = max(graph.weight for graph in graphs)
    costs = [1.0 - QUERY_READING_SHARE * (1.0 - graph.weight / top) if top > 0.0 else 1.0 for graph in graphs]
    scores = np.stack([semantic_scores(graph, pool) for graph in graphs])
    choice = (scores * np.array(costs)[:, None]).argmax(axis=0)
    best = scores[choice, np.arange(len(pool.entities))]
    return np.where(best >= QUERY_MIN_CANDIDATE, best, 0.0).astype(np.float32)


def _needs_whole(graph: QueryGraph) -> bool:
    """Return whether all words of a caption matter for the graph."""
    categories, attributes = unary_words(graph)
    return any(needs_caption(c) for c in categories) or not all(has_group(a) for a in attributes)


def _best(table: np.ndarray, ids: np.ndarray) -> np.ndarray:
    if ids.size == 0:
        return np.zeros(ids.shape[1:], np.float32)
    field = table[ids[0]]
    for rank in ids[1:]:
        np.maximum(field, table[rank], out=field)
    return field


def _same_plan(a: PillarMap, b: PillarMap) -> bool:
    return a.ids.shape == b.ids.shape and a.origin == b.origin and a.resolution == b.resolution


def related_ids(
    queries: Sequence[Query],
    entities: Mapping[int, Entity],
    phrases: PhraseBook,
    config: QueryConfig,
    regions: Mapping[int, Region] | None,
) -> set[int]:
    """Return the entities accepted for any of the queries, relations included. Raises MissingPhrases."""
    found: set[int] = set()
    for query in queries:
        candidates = score_query(query, entities, phrases, replace(config, explained=0), regions)
        found.update(c.entity_id for c in candidates if c.score >= config.accept)
    return found
