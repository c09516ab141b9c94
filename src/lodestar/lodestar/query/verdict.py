"""Ranking of entities by soft scores of query graphs, and the decision which are accepted (FARM 2.3, D.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, repeat
from operator import attrgetter, is_, is_not
from typing import Any

import numpy as np

from lodestar.language.query_graph import QueryGraph
from lodestar.models.phrases import PhraseBook
from lodestar.query.binding import GraphScore, score_graph
from lodestar.query.config import (
    QUERY_AMBIGUOUS,
    QUERY_MIN_CANDIDATE,
    QUERY_POOL_SIZE,
    QUERY_READING_SHARE,
    QUERY_WHOLE_SCENE,
    QueryConfig,
)
from lodestar.query.explanations import explain
from lodestar.query.pool import Pool
from lodestar.query.table import PredicateTable
from lodestar.query.terms import fetch_vectors
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.scene.regions import RegionMap

__all__ = [
    "Candidate", "PoolCache", "QueryConfig", "Verdict", "decide", "prepare", "score_pool",
    "score_query",
]  # fmt: skip


_STATE = attrgetter("state")
#: Shared empty dict for candidates without explanation: a query makes thousands, and garbage collection tracks each
#: dict. It must not be modified.
_NONE: dict[Any, Any] = {}


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity with its score and reasons; scores in [0, 1].

    semantic_score: category and attributes, without relations. predicate_scores: by a name such as "NextTo desk".
    bindings: variable index -> entity id of each bound anchor. reading: index of the graph that gives the score.
    """

    entity_id: int
    score: float
    semantic_score: float
    predicate_scores: dict[str, float] = field(default_factory=lambda: _NONE)
    bindings: dict[int, int] = field(default_factory=lambda: _NONE)
    explanation: str = ""
    reading: int = 0


@dataclass(frozen=True)
class Verdict:
    """Decision on a ranking: the accepted candidates, and whether the first two are ambiguous."""

    accepted: tuple[Candidate, ...]
    ambiguous: bool

    @property
    def best(self) -> Candidate | None:
        """Return the first accepted candidate, or None."""
        return self.accepted[0] if self.accepted else None


def score_query(
    graphs: Sequence[QueryGraph],
    entities: Mapping[int, Entity] | Iterable[Entity],
    phrases: PhraseBook,
    config: QueryConfig | None = None,
    regions: Mapping[int, Region] | None = None,
    observer: np.ndarray | None = None,
    table: PredicateTable | None = None,
    rooms: RegionMap | None = None,
) -> list[Candidate]:
    """Return candidates for the target of a query, best first; ties by id. Archived entities are excluded.

    The first `explained` candidates include predicate scores, bindings and an explanation.

    graphs: alternative readings; an entity gets the score of its best one. regions: for InRegion, which is
    unverified without them. rooms: see `prepare`. observer: (2+,) x, y, reference of "the nearest chair".
    table: parameters of the predicates, the calibrated ones by default. Raises MissingPhrases if an
    open-vocabulary word needs a vector that `phrases` cannot provide.
    """
    pool = prepare(entities, phrases, config, regions, table, rooms)
    return score_pool(graphs, pool.seen_by(observer))


def prepare(
    entities: Mapping[int, Entity] | Iterable[Entity],
    phrases: PhraseBook,
    config: QueryConfig | None = None,
    regions: Mapping[int, Region] | None = None,
    table: PredicateTable | None = None,
    rooms: RegionMap | None = None,
) -> Pool:
    """Return entities as arrays, for many queries on an unchanged scene. Archived entities are left out.

    rooms: map of the regions; objects separated by their walls are not next to each other; None = no walls
    known.
    """
    values = list(entities.values() if isinstance(entities, Mapping) else entities)
    return Pool.of(_present(values), phrases, config or QueryConfig(), regions, None, table, rooms=rooms)


def _present(entities: Collection[Entity]) -> list[Entity]:
    present = map(is_not, map(_STATE, entities), repeat(EntityState.ARCHIVED))
    return list(compress(entities, present))  # avoids a Python loop over thousands of entities


class PoolCache:
    """Cache of the last scene's pool: unchanged entities and regions return the same pool, else only changed
    rows are computed.
    """

    def __init__(self) -> None:
        self._kept: tuple[list[Entity], list[Region], PhraseBook, Pool] | None = None

    def of(
        self,
        entities: Mapping[int, Entity],
        phrases: PhraseBook,
        config: QueryConfig | None = None,
        regions: Mapping[int, Region] | None = None,
        rooms: RegionMap | None = None,
    ) -> Pool:
        """Return `prepare` of these entities; `config` must be the same in every call."""
        things, named = list(entities.values()), list((regions or {}).values())
        if self._kept is None or self._kept[2] is not phrases:
            pool = prepare(things, phrases, config, regions, rooms=rooms)
        else:
            old_things, old_named, _, pool = self._kept
            if _same(things, old_things) and _same(named, old_named) and _same_rooms(pool.rooms, rooms):
                return pool
            pool = pool.renewed(_present(things), regions, rooms)
        self._kept = (things, named, phrases, pool)
        return pool


def _same(one: list, other: list) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


def _same_rooms(one: RegionMap | None, other: RegionMap | None) -> bool:
    return one is other or (one is not None and one.is_as(other))


def score_pool(graphs: Sequence[QueryGraph], pool: Pool, explained: int | None = None) -> list[Candidate]:
    """Return candidates as `score_query` does, over a prepared pool. explained: overrides the config's."""
    config = pool.config
    reasons = config.explained if explained is None else explained
    if not graphs or not pool.entities:
        return []
    fetch_vectors(graphs, pool)
    top = max(graph.weight for graph in graphs)
    readings = [score_graph(graph, pool) for graph in graphs]
    costs = [1.0 - QUERY_READING_SHARE * (1.0 - graph.weight / top) if top > 0.0 else 1.0 for graph in graphs]
    weighted = np.stack([reading.score * cost for reading, cost in zip(readings, costs)])
    choice = weighted.argmax(axis=0)
    columns = np.arange(len(pool.entities))
    scores = weighted[choice, columns]
    semantic = np.stack([reading.semantic for reading in readings])[choice, columns]
    category = np.stack([reading.category for reading in readings])[choice, columns]
    rows = np.flatnonzero(category >= QUERY_MIN_CANDIDATE)
    # keep only the best QUERY_POOL_SIZE rows and ties
    if len(pool) > QUERY_WHOLE_SCENE and len(rows) > QUERY_POOL_SIZE:
        least = np.partition(scores[rows], -QUERY_POOL_SIZE)[-QUERY_POOL_SIZE]
        rows = rows[scores[rows] >= least]
    rows = rows[np.lexsort((rows, -semantic[rows], -scores[rows]))]
    told = zip(*(values[rows].tolist() for values in (columns, scores, semantic, choice)))
    return [
        replace(_candidate(pool, graphs[reading], readings[reading], i, score), reading=reading)
        if place < reasons
        else Candidate(pool.entities[i].id, score, meant, reading=reading)
        for place, (i, score, meant, reading) in enumerate(told)
    ]


def _candidate(pool: Pool, graph: QueryGraph, reading: GraphScore, i: int, score: float) -> Candidate:
    predicates: dict[str, float] = {}
    for term in reading.terms:
        value = float(term.scores[i])
        predicates[term.name] = min(predicates.get(term.name, 1.0), value)
    bindings = {
        variable: pool.entities[int(term.bound[i, k])].id
        for term in reading.terms
        if term.bound is not None
        for k, variable in enumerate(term.variables)
        if term.bound[i, k] >= 0
    }
    entity = pool.entities[i]
    text = explain(entity, graph, float(reading.category[i]), predicates, pool.config)
    return Candidate(entity.id, score, float(reading.semantic[i]), predicates, bindings, text)


def decide(candidates: Sequence[Candidate], config: QueryConfig | None = None) -> Verdict:
    """Return the accepted candidates and whether the choice between the first two is ambiguous."""
    config = config or QueryConfig()
    accepted = tuple(c for c in candidates if c.score >= config.accept)
    close = len(accepted) > 1 and accepted[0].score - accepted[1].score < QUERY_AMBIGUOUS
    return Verdict(accepted, close)
