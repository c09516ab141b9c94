"""Scores of one query graph over all entities at once: unary terms, then relations from the leaves to the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.query import relations
from lodestar.query.categories import attribute_scores, category_scores, phrase_attributes
from lodestar.query.config import QueryConfig
from lodestar.query.relations import Boxes
from lodestar.scene.records import Entity, EntityState, Region

UNDECIDED = 0.5
GOOD_ANCHOR = 0.5  # of the best anchor's score
UNVERIFIED = 0.75  # what the scene holds nothing to measure by: "on the wall", rooms where there are none
_PAIRS = {
    "On": lambda a, b, config: relations.on(a, b),
    "Above": lambda a, b, config: relations.above(a, b),
    "Below": lambda a, b, config: relations.below(a, b),
    "Inside": lambda a, b, config: relations.inside(a, b),
    "NextTo": relations.next_to,
    "Near": relations.near,
}
_VIEWED = ("LeftOf", "RightOf", "InFrontOf", "Behind")


@dataclass(frozen=True)
class Term:
    """Scores (N,) of one predicate; bound: (N, K) index of each anchor in the pool, -1 = none."""

    name: str
    scores: np.ndarray
    variables: tuple[int, ...] = ()
    bound: np.ndarray | None = None


@dataclass(frozen=True)
class GraphScore:
    """Scores (N,) of the target variable over the pool."""

    score: np.ndarray
    semantic: np.ndarray
    category: np.ndarray
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Pool:
    """Entities as arrays."""

    entities: list[Entity]
    boxes: Boxes
    presence: np.ndarray
    phrases: PhraseBook
    config: QueryConfig
    regions: Mapping[int, Region] | None = None
    observer: np.ndarray | None = None

    @staticmethod
    def of(
        entities: Sequence[Entity],
        phrases: PhraseBook,
        config: QueryConfig,
        regions: Mapping[int, Region] | None = None,
        observer: np.ndarray | None = None,
        ordered: bool = False,
    ) -> Pool:
        """The pool of these entities, by id, or in their own order where they are `ordered`."""
        own = list(entities) if ordered else sorted(entities, key=lambda e: e.id)
        low = np.array([e.box_min for e in own], float).reshape(-1, 3)
        high = np.array([e.box_max for e in own], float).reshape(-1, 3)
        presence = np.array([config.uncertain if e.state == EntityState.UNCERTAIN else 1.0 for e in own])
        return Pool(own, Boxes(low, high), presence, phrases, config, regions, observer)

    def category(self, category: str) -> np.ndarray:
        """(N,)."""
        labels = [e.label for e in self.entities]
        captions = [e.caption for e in self.entities]
        return category_scores(category, labels, captions, self.phrases)

    def attribute(self, attribute: str) -> np.ndarray:
        """(N,)."""
        known = [e.attributes for e in self.entities]
        captions = [e.caption for e in self.entities]
        config = self.config
        return attribute_scores(attribute, known, captions, config.unknown_attribute, config.other_attribute)

    def in_region(self, label: str) -> np.ndarray:
        """(N,): whether the region of an entity is called so; undecided where its region has no label.

        Without regions the predicate is passed over, unverified (FARM D.2 step 2).
        """
        if not self.regions:
            return np.full(len(self.entities), UNVERIFIED)
        lexicon = load_lexicon()
        wanted = lexicon.room(label) or label
        scores = np.full(len(self.entities), UNDECIDED)
        for i, entity in enumerate(self.entities):
            region = self.regions.get(entity.region_id)
            if region is not None and region.label:
                same = (lexicon.room(region.label) or region.label) == wanted
                scores[i] = 0.6 + 0.4 * region.label_weight if same else 0.5 - 0.4 * region.label_weight
        return scores

    def absent(self, graph: QueryGraph) -> tuple[str, ...]:
        """Phrases of anchors that no entity is."""
        structure = load_lexicon().structure
        found = []
        for variable in graph.variables[1:]:
            if variable.category in structure:
                continue
            scores = self.category(variable.category)
            if not len(scores) or scores.max() < self.config.accept:
                found.append(variable.phrase)
        return tuple(found)


def score_graph(graph: QueryGraph, pool: Pool) -> GraphScore:
    """Scores of every entity as the graph's target.

    A predicate belongs to the earliest of its variables and looks at the later ones, so variables are scored last
    to first and each anchor brings its own kind, attributes and relations along.
    """
    scored: dict[int, np.ndarray] = {}
    result: GraphScore | None = None
    for index in reversed(range(len(graph.variables))):
        own = [p for p in graph.predicates if min(p.arguments) == index]
        result = _score_variable(graph, index, own, scored, pool)
        scored[index] = result.score
    assert result is not None
    return result


def semantic_scores(graph: QueryGraph, pool: Pool) -> np.ndarray:
    """Scores (N,) of every entity as the graph's target by kind and attributes alone, without relations."""
    return _unary(graph, 0, [p for p in graph.predicates if min(p.arguments) == 0], pool)[0]


def unary_words(graph: QueryGraph) -> tuple[list[str], list[str]]:
    """Categories and attributes that `semantic_scores` looks at."""
    own = [p for p in graph.predicates if min(p.arguments) == 0]
    stated = [p.value or graph.target.category for p in own if p.name == "IsCategory"]
    attributes = [p.value for p in own if p.name == "HasAttribute"]
    if stated:
        return stated, attributes
    return [_category_of(graph, 0)], [*attributes, *phrase_attributes(graph.target.phrase)]


def _category_of(graph: QueryGraph, index: int) -> str:
    variable = graph.variables[index]
    whole = load_lexicon().canonical(variable.phrase) is not None
    return variable.phrase if whole else variable.category


def _unary(
    graph: QueryGraph, index: int, own: list[Predicate], pool: Pool
) -> tuple[np.ndarray, np.ndarray, list[Term]]:
    """Semantic score and category (N,) of one variable, and the terms of its attributes."""
    variable = graph.variables[index]
    stated = [p for p in own if p.name == "IsCategory"]
    if stated:
        category = np.min([_negated(pool.category(p.value or variable.category), p) for p in stated], axis=0)
    else:
        category = pool.category(_category_of(graph, index))
    terms = [
        Term(f"{'not ' if p.negated else ''}{p.value}", _negated(pool.attribute(p.value), p))
        for p in own
        if p.name == "HasAttribute"
    ]
    if not stated:
        terms += [Term(a, pool.attribute(a)) for a in phrase_attributes(variable.phrase)]
    return pool.presence * category * _blend(terms, len(pool.entities), pool.config), category, terms


def _score_variable(
    graph: QueryGraph, index: int, own: list[Predicate], scored: dict[int, np.ndarray], pool: Pool
) -> GraphScore:
    semantic, category, terms = _unary(graph, index, own, pool)
    for predicate in own:
        if predicate.name not in ("IsCategory", "HasAttribute"):
            terms.append(_relation(graph, index, predicate, scored, semantic, pool))
    score = pool.presence * category * _blend(terms, len(pool.entities), pool.config)
    return GraphScore(score, semantic, category, tuple(terms))


def _blend(terms: list[Term], count: int, config: QueryConfig) -> np.ndarray:
    """FARM's (1 - w) + w g, with g near the least of the predicate scores, drawn a little to their geometric mean.

    So one predicate that fails is not made up for by others that hold.
    """
    if not terms:
        return np.ones(count)
    scores = np.clip(np.stack([term.scores for term in terms]), 1e-6, 1.0)
    mean = np.exp(np.log(scores).mean(axis=0))
    g = scores.min(axis=0) ** 0.9 * mean**0.1
    return (1.0 - config.relation_weight) + config.relation_weight * g


def _negated(scores: np.ndarray, predicate: Predicate) -> np.ndarray:
    return 1.0 - scores if predicate.negated else scores


def _relation(
    graph: QueryGraph,
    index: int,
    predicate: Predicate,
    scored: dict[int, np.ndarray],
    semantic: np.ndarray,
    pool: Pool,
) -> Term:
    others = [a for a in predicate.arguments if a != index]
    names = " and ".join(graph.variables[a].phrase for a in others) or predicate.value
    inverse = "^" if index != predicate.arguments[0] else ""
    name = f"{'not ' if predicate.negated else ''}{predicate.name}{inverse} {names}".strip()
    count = len(pool.entities)
    if predicate.name == "InRegion":
        return Term(name, _negated(pool.in_region(predicate.value), predicate))
    if predicate.name in ("Closest", "Farthest"):
        return Term(name, _negated(_ranked(predicate, others, scored, semantic, pool), predicate))
    if not others:
        return Term(name, np.full(count, UNDECIDED))
    category = graph.variables[others[0]].category
    if category in load_lexicon().structure:
        floor = category == "floor" and predicate.name == "On"
        scores = relations.on_floor(pool.boxes) if floor else np.full(count, UNVERIFIED)
        return Term(name, _negated(scores, predicate))
    if predicate.name == "Between" and len(others) == 2:
        scores, bound = _between(others, scored, semantic, pool)
    else:
        scores, bound = _paired(predicate, index, others[0], scored, semantic, pool)
    return Term(name, _negated(scores, predicate), tuple(others[: bound.shape[1]]), bound)


def _anchors(rows: np.ndarray, scores: np.ndarray, count: int, pool: Pool) -> np.ndarray:
    """Indices (R, K) of anchors to try for each candidate, K <= count; K = 0 where there are none.

    All that are anything like it; where they are more, those nearest to the candidate among the good ones.
    """
    found = np.flatnonzero(scores >= pool.config.min_candidate)
    if len(found) > count:
        found = found[scores[found] >= GOOD_ANCHOR * scores[found].max()]
    if len(found) <= count:
        return np.repeat(found[None], len(rows), axis=0)
    centers = pool.boxes.center
    _, nearest = cKDTree(centers[found]).query(centers[rows], k=count)
    return found[nearest]


def _candidates(semantic: np.ndarray, pool: Pool) -> np.ndarray:
    return np.flatnonzero(semantic >= pool.config.min_candidate * (1.0 - pool.config.relation_weight))


def _paired(
    predicate: Predicate,
    index: int,
    other: int,
    scored: dict[int, np.ndarray],
    semantic: np.ndarray,
    pool: Pool,
) -> tuple[np.ndarray, np.ndarray]:
    """Best anchor per entity: the relation times how well the anchor is what it should be (existential)."""
    count, config = len(pool.entities), pool.config
    scores, bound = np.zeros(count), np.full((count, 1), -1)
    rows = _candidates(semantic, pool)
    anchors = _anchors(rows, scored[other], config.max_anchors, pool)
    if not anchors.size:
        return scores, bound
    a, b = pool.boxes.take(rows).rows(), pool.boxes.take(anchors)
    if predicate.name in _VIEWED:
        pairs = _viewed(predicate, rows, anchors, pool)
    elif predicate.arguments[0] == index:
        pairs = _PAIRS[predicate.name](a, b, config)
    else:  # the anchor is the constrained one: a lamp on the desk that is looked for
        pairs = _PAIRS[predicate.name](b, a, config)
    pairs = np.where(rows[:, None] == anchors, 0.0, pairs * scored[other][anchors])
    best = pairs.argmax(axis=1)
    line = np.arange(len(rows))
    scores[rows] = pairs[line, best]
    bound[rows, 0] = np.where(scores[rows] > 0.0, anchors[line, best], -1)
    return scores, bound


def _viewed(predicate: Predicate, rows: np.ndarray, anchors: np.ndarray, pool: Pool) -> np.ndarray:
    close = relations.near(pool.boxes.take(rows).rows(), pool.boxes.take(anchors), pool.config)
    return np.stack(
        [
            relations.view_relation(
                predicate.name,
                pool.boxes.take(row),
                pool.boxes.take(anchors[k]),
                pool.entities[row].views,
                pool.config,
                close[k],
            )
            for k, row in enumerate(rows)
        ]
    )


def _between(
    others: list[int], scored: dict[int, np.ndarray], semantic: np.ndarray, pool: Pool
) -> tuple[np.ndarray, np.ndarray]:
    """Best pair of anchors per entity."""
    count, config = len(pool.entities), pool.config
    scores, bound = np.zeros(count), np.full((count, 2), -1)
    rows = _candidates(semantic, pool)
    first, second = (_anchors(rows, scored[o], config.max_anchors, pool) for o in others)
    if not first.size or not second.size:
        return scores, bound
    a, b, c = (pool.boxes.take(indices) for indices in (rows, first, second))
    triples = relations.between(
        Boxes(a.low[:, None, None], a.high[:, None, None]),
        Boxes(b.low[:, :, None], b.high[:, :, None]),
        Boxes(c.low[:, None], c.high[:, None]),
    )
    one, two = first[:, :, None], second[:, None]
    this = rows[:, None, None]
    triples = triples * np.minimum(scored[others[0]][one], scored[others[1]][two])
    triples = np.where((one == two) | (one == this) | (two == this), 0.0, triples).reshape(len(rows), -1)
    best = triples.argmax(axis=1)
    line = np.arange(len(rows))
    scores[rows] = triples[line, best]
    found = scores[rows] > 0.0
    width = second.shape[1]
    bound[rows, 0] = np.where(found, first[line, best // width], -1)
    bound[rows, 1] = np.where(found, second[line, best % width], -1)
    return scores, bound


def _ranked(
    predicate: Predicate, others: list[int], scored: dict[int, np.ndarray], semantic: np.ndarray, pool: Pool
) -> np.ndarray:
    """Closest and Farthest among the entities that are of the kind: 1 / (1 + rank) (FARM D.2)."""
    count, config = len(pool.entities), pool.config
    scores = np.zeros(count)
    sure = config.accept * config.uncertain
    rows = np.flatnonzero(semantic >= sure)
    if others:
        good = np.where(scored[others[0]] >= sure, scored[others[0]], 0.0)
        anchors = _anchors(rows, good, config.max_anchors, pool)
        if not anchors.size:
            return scores
        distance = relations.gap(pool.boxes.take(rows).rows(), pool.boxes.take(anchors))
        distance = np.where(rows[:, None] == anchors, np.inf, distance).min(axis=1)
    elif pool.observer is not None:
        point = np.asarray(pool.observer, float)[:2]
        distance = np.linalg.norm(pool.boxes.center[rows, :2] - point, axis=1)
    else:
        return np.full(count, UNVERIFIED)  # nobody says closest to what
    order = np.argsort(distance if predicate.name == "Closest" else -distance, kind="stable")
    rank = np.empty(len(rows))
    rank[order] = np.arange(len(rows))
    scores[rows] = 1.0 / (1.0 + rank)
    return scores
