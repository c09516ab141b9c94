"""Scores of one query graph over all entities at once: unary terms, then relations from the leaves to the target.

Every predicate belongs to the earliest of its variables, so a graph is a tree of variables and the max over anchors
is taken variable by variable: exact, since the score of a candidate rises with that of each anchor it is bound to.
What ranks a thing among its like ("the closest", "the second from the left") looks at those that fit all the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lodestar.language.query_graph import VIEWED, Predicate, QueryGraph, Side
from lodestar.models.lexicon import load_lexicon
from lodestar.query import relations, singling
from lodestar.query.anchors import NOTHING, best_anchors, best_pairs, nearest_distance
from lodestar.query.categories import phrase_attributes
from lodestar.query.config import QueryConfig
from lodestar.query.frames import Viewer, ordered_from, side_scores, viewer
from lodestar.query.pool import UNDECIDED, UNVERIFIED, Pool
from lodestar.query.relations import Boxes

GOOD = 0.5  # of the best score: those that count among the like
SURE = 0.9  # of the best score: those that a viewpoint or "closest to" means
AGREE = 0.7  # length of the mean of unit fronts from which they face one way
STAND_OFF = 3.0  # m before a front


@dataclass(frozen=True)
class Term:
    """Scores (N,) of one predicate; bound: (N, K) index of each anchor in the pool, -1 = none.

    is_absent: the scene holds nothing for an anchor, so that the predicate tells nobody from another.
    """

    name: str
    scores: np.ndarray
    variables: tuple[int, ...] = ()
    bound: np.ndarray | None = None
    is_absent: bool = False


@dataclass(frozen=True)
class GraphScore:
    """Scores (N,) of the target variable over the pool."""

    score: np.ndarray
    semantic: np.ndarray
    category: np.ndarray
    terms: tuple[Term, ...]


def score_graph(graph: QueryGraph, pool: Pool) -> GraphScore:
    """Scores of every entity as the graph's target; each anchor brings its own kind, attributes and relations."""
    scored: dict[int, np.ndarray] = {}
    result: GraphScore | None = None
    for index in reversed(range(len(graph.variables))):
        own = [p for p in graph.predicates if min(p.arguments) == index]
        result = _Variable(graph, index, scored, pool).score(own)
        scored[index] = result.score
    assert result is not None
    return result


def semantic_scores(graph: QueryGraph, pool: Pool) -> np.ndarray:
    """Scores (N,) of every entity as the graph's target by what it is called alone, without relations and measures."""
    categories, _ = unary_words(graph)
    own = [p for p in graph.predicates if min(p.arguments) == 0]
    stated = [p for p in own if p.name == "IsCategory"]
    scores = [pool.category(c) for c in categories]
    if stated:
        scores = [_negated(s, p) for s, p in zip(scores, stated)]
    said = [(p.value, p) for p in own if p.name == "HasAttribute" and not _ranks(p)]
    terms = [Term(value, _negated(pool.attribute(value), p)) for value, p in said]
    if not stated:
        terms += [Term(a, pool.attribute(a)) for a in phrase_attributes(graph.target.phrase)]
    return pool.presence * np.min(scores, axis=0) * blend(terms, len(pool), pool.config)


def unary_words(graph: QueryGraph) -> tuple[list[str], list[str]]:
    """Categories and attributes that `semantic_scores` looks at."""
    own = [p for p in graph.predicates if min(p.arguments) == 0]
    stated = [p.value or graph.target.category for p in own if p.name == "IsCategory"]
    attributes = [p.value for p in own if p.name == "HasAttribute" and not _ranks(p)]
    if stated:
        return stated, attributes
    return [_category_of(graph, 0)], [*attributes, *phrase_attributes(graph.target.phrase)]


def _category_of(graph: QueryGraph, index: int) -> str:
    variable = graph.variables[index]
    whole = load_lexicon().canonical(variable.phrase) is not None
    return variable.phrase if whole else variable.category


def blend(terms: list[Term], count: int, config: QueryConfig) -> np.ndarray:
    """FARM's (1 - w) + w g, with g near the least of the predicate scores, drawn a little to their geometric mean.

    So one predicate that fails is not made up for by others that hold. Terms without their anchor rank nobody,
    but what they ask for is not met.
    """
    if not terms:
        return np.ones(count)
    usable = [term for term in terms if not term.is_absent]
    if len(usable) < len(terms):
        met = 1.0 - config.relation_weight + config.relation_weight * config.absent_anchor
        return met * blend(usable, count, config)
    scores = np.clip(np.stack([term.scores for term in terms]), NOTHING, 1.0)
    mean = np.exp(np.log(scores).mean(axis=0))
    g = scores.min(axis=0) ** config.least_share * mean ** (1.0 - config.least_share)
    return (1.0 - config.relation_weight) + config.relation_weight * g


def _negated(scores: np.ndarray, predicate: Predicate) -> np.ndarray:
    return 1.0 - scores if predicate.negated else scores


def _ranks(predicate: Predicate) -> bool:
    """Whether a predicate compares a thing with its like."""
    if predicate.name in ("Closest", "Farthest"):
        return True
    if predicate.name == "HasAttribute":
        return predicate.value in singling.SUPERLATIVES
    return len(predicate.arguments) == 1 and predicate.name not in ("IsCategory", "InRegion")


@dataclass
class _Variable:
    """One variable of a graph over the pool, those after it being scored."""

    graph: QueryGraph
    index: int
    scored: dict[int, np.ndarray]
    pool: Pool

    def score(self, own: list[Predicate]) -> GraphScore:
        pool = self.pool
        category = self._category([p for p in own if p.name == "IsCategory"])
        base = pool.presence * category
        if pool.config.class_factor < 1.0:
            base = base * np.where(category >= GOOD, 1.0, pool.config.class_factor)
        terms = self._attributes(own, _like(base))
        semantic = self._composite(base, terms)
        plain = [p for p in own if p.name not in ("IsCategory", "HasAttribute") and not _ranks(p)]
        for predicate in plain:
            terms.append(self._relation(predicate, semantic))
        for predicate in (p for p in own if _ranks(p)):
            terms.append(self._ranked(predicate, _like(self._composite(base, terms))))
        return GraphScore(self._composite(base, terms), semantic, category, tuple(terms))

    def _composite(self, base: np.ndarray, terms: list[Term]) -> np.ndarray:
        """(N,): base times the blend of the predicates, worked out only where it is not nothing."""
        live = np.flatnonzero(base > 0.0)
        scores = np.zeros(len(base))
        some = [replace(term, scores=term.scores[live], bound=None) for term in terms]
        scores[live] = base[live] * blend(some, len(live), self.pool.config)
        return scores

    def _category(self, stated: list[Predicate]) -> np.ndarray:
        variable, pool = self.graph.variables[self.index], self.pool
        if stated:
            scores = [_negated(pool.category(p.value or variable.category), p) for p in stated]
            return np.min(scores, axis=0)
        return pool.category(_category_of(self.graph, self.index))

    def _attributes(self, own: list[Predicate], group: np.ndarray) -> list[Term]:
        pool = self.pool
        terms = [
            Term(
                f"{'not ' if p.negated else ''}{p.value}",
                _negated(singling.attribute(pool, p.value, group), p),
            )
            for p in own
            if p.name == "HasAttribute" and not _ranks(p)
        ]
        if not any(p.name == "IsCategory" for p in own):
            variable = self.graph.variables[self.index]
            terms += [Term(a, singling.attribute(pool, a, group)) for a in phrase_attributes(variable.phrase)]
        return terms

    def _name(self, predicate: Predicate) -> str:
        others = [a for a in predicate.arguments if a != self.index]
        what = " and ".join(self.graph.variables[a].phrase for a in others)
        if predicate.name == "HasAttribute":
            what = predicate.value
            return f"{'not ' if predicate.negated else ''}{what}"
        if predicate.name == "InRegion":
            what = predicate.value
        elif not others and predicate.value == "peers":
            what = "the others"
        elif not others and predicate.side.rank > 1:
            what = f"number {predicate.side.rank}"
        inverse = "^" if self.index != predicate.arguments[0] else ""
        return f"{'not ' if predicate.negated else ''}{predicate.name}{inverse} {what}".strip()

    def _relation(self, predicate: Predicate, semantic: np.ndarray) -> Term:
        name, pool = self._name(predicate), self.pool
        others = [a for a in predicate.arguments if a != self.index]
        if predicate.name == "InRegion":
            return Term(name, _negated(pool.in_region(predicate.value), predicate))
        if not others:
            return Term(name, np.full(len(pool), UNDECIDED))
        category = self.graph.variables[others[0]].category.split(" of ")[0]
        if category in load_lexicon().structure and predicate.name not in VIEWED:
            scores = singling.structure(pool, predicate.name, category, _like(semantic))
            return Term(name, _negated(scores, predicate))
        if predicate.name == "Between":
            others = sorted(others, key=lambda other: self._absent([other]))  # next to the one that there is
        absent = others[:1] if predicate.name == "Between" else others
        if not predicate.negated and self._absent(absent):
            return Term(name, np.zeros(len(pool)), is_absent=True)
        if predicate.name == "Between" and len(others) == 2 and not self._absent(others):
            scores, bound = self._between(others, semantic)
        else:
            scores, bound = self._paired(predicate, others[0], semantic)
        return Term(name, _negated(scores, predicate), tuple(others[: bound.shape[1]]), bound)

    def _held(self, other: int) -> bool:
        """Whether the scene holds an entity that is labelled as this part of the building."""
        category = self.graph.variables[other].category
        return category in self.pool.kinds.labels

    def _absent(self, others: list[int]) -> bool:
        """Whether nothing of the scene is at all like one of the anchors."""
        scores = [self.scored[other] for other in others]
        return any(not len(s) or s.max() < self.pool.config.min_candidate for s in scores)

    def _rows(self, semantic: np.ndarray) -> np.ndarray:
        config = self.pool.config
        return _likeliest(semantic, config.min_candidate * (1.0 - config.relation_weight), config)

    def _anchors(self, other: int) -> np.ndarray:
        return _likeliest(self.scored[other], self.pool.config.min_candidate, self.pool.config)

    def _paired(
        self, predicate: Predicate, other: int, semantic: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Best anchor per entity: the relation times how well the anchor is what it should be (existential)."""
        pool = self.pool
        rows = self._rows(semantic)
        best, which = best_anchors(
            rows,
            self._anchors(other),
            self.scored[other],
            pool.boxes,
            self._pair_score(predicate),
            lambda gaps: relations.reach(predicate.name, gaps, pool.table),
            pool.config.anchors_first,
        )
        scores, bound = np.zeros(len(pool)), np.full((len(pool), 1), -1)
        scores[rows], bound[rows, 0] = best, which
        return scores, bound

    def _pair_score(self, predicate: Predicate) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        pool, boxes, table = self.pool, self.pool.boxes, self.pool.table
        if predicate.name in VIEWED:
            stated = self._viewer(predicate.side)
            return lambda rows, anchors: side_scores(
                predicate.name,
                rows,
                anchors,
                boxes,
                pool.views,
                pool.fronts,
                pool.middles,
                stated,
                table,
                pool.config,
            )
        relation = relations.PAIRS.get(predicate.name)
        if relation is None:  # Between with one anchor only
            return lambda rows, anchors: relations.near(boxes.take(rows).rows(), boxes.take(anchors), table)
        if predicate.arguments[0] == self.index:
            return lambda rows, anchors: relation(boxes.take(rows).rows(), boxes.take(anchors), table)
        # the anchor is the constrained one: a lamp on the desk that is looked for
        return lambda rows, anchors: relation(boxes.take(anchors), boxes.take(rows).rows(), table)

    def _between(self, others: list[int], semantic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Best pair of anchors per entity."""
        pool = self.pool

        def score(rows: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
            a, b, c = (pool.boxes.take(indices) for indices in (rows, first, second))
            triples = relations.between(
                Boxes(a.low[:, None, None], a.high[:, None, None]),
                Boxes(b.low[:, :, None], b.high[:, :, None]),
                Boxes(c.low[:, None], c.high[:, None]),
                pool.table,
            )
            worth = [self.scored[others[0]][first][:, :, None], self.scored[others[1]][second][:, None]]
            return triples * np.minimum(*worth)

        rows = self._rows(semantic)
        best, which = best_pairs(rows, self._anchors(others[0]), self._anchors(others[1]), score, pool.boxes)
        scores, bound = np.zeros(len(pool)), np.full((len(pool), 2), -1)
        scores[rows], bound[rows] = best, which
        return scores, bound

    def _ranked(self, predicate: Predicate, group: np.ndarray) -> Term:
        """A predicate that compares the things of a group, rows (G,)."""
        pool, name = self.pool, self._name(predicate)
        bare = len(predicate.arguments) == 1
        if predicate.name == "HasAttribute":
            scores = singling.attribute(pool, predicate.value, group)
        elif predicate.name in ("Closest", "Farthest"):
            scores = self._by_distance(predicate, group)
        elif predicate.name == "Between" and bare:
            scores = singling.amid(pool, group)
        elif predicate.name in (*VIEWED, "Above", "Below") and bare:
            scores = self._from_side(predicate, group)
        else:
            scores = np.full(len(pool), UNDECIDED)
        absent = not predicate.negated and len(group) > 0 and not scores.any()
        return Term(name, _negated(scores, predicate), is_absent=absent)

    def _by_distance(self, predicate: Predicate, group: np.ndarray) -> np.ndarray:
        """Closest and Farthest: 1 / (1 + rank) by distance to the nearest anchor or to the observer (FARM D.2)."""
        pool = self.pool
        others = [a for a in predicate.arguments if a != self.index]
        farthest = predicate.name == "Farthest"
        scores = np.zeros(len(pool))
        if predicate.value == "peers":
            return singling.apart(pool, group, farthest)
        worth = 1.0
        if others:
            category = self.graph.variables[others[0]].category.split(" of ")[0]
            if category in load_lexicon().structure and not self._held(others[0]):
                return _negated_if(singling.structure(pool, "Near", category, group), farthest)
            anchors = _meant(self.scored[others[0]], pool.config)
            if not len(anchors):
                return scores
            worth = float(self.scored[others[0]][anchors].max())
            away = nearest_distance(
                group, anchors, pool.boxes, pool.table.center_share, pool.config.anchors_first
            )
        elif pool.observer is not None:
            point = np.asarray(pool.observer, float)[:2]
            away = np.linalg.norm(pool.boxes.center[group, :2] - point, axis=1)
        else:
            return np.full(len(pool), UNVERIFIED)  # nobody says closest to what
        scores[group] = worth * singling.by_rank(-away if farthest else away, pool.table.rank_power)
        return scores

    def _from_side(self, predicate: Predicate, group: np.ndarray) -> np.ndarray:
        """ "The second from the left": counted among the group as whoever looks sees it."""
        pool, side = self.pool, predicate.side
        scores = np.zeros(len(pool))
        if not len(group):
            return scores
        stated = self._viewer(side)
        eye = stated or self._default_viewer(group)
        keys, in_view = ordered_from(predicate.name, pool.boxes.center[group], group, eye)
        keys = np.where(in_view, keys, keys.max() + 1.0 + keys)
        ranked = singling.by_rank(keys, pool.table.single_power, side.rank - 1)
        if stated is None and predicate.name in VIEWED:
            ranked = ranked * pool.config.default_view
        scores[group] = ranked
        return scores

    def _default_viewer(self, group: np.ndarray) -> Viewer | None:
        """Facing the group."""
        return viewer(self._before(group), self.pool.boxes.center[group, :2].mean(axis=0))

    def _viewer(self, side: Side) -> Viewer | None:
        """Who a predicate says looks, None where it says nothing that the scene can tell."""
        pool = self.pool
        towards, at = self._place(side.towards), self._place(side.at)
        if towards is None and at is None:
            return None
        if towards is None:
            middle = pool.middles[_meant(self.scored[side.at], pool.config)].mean(axis=0)
            return None if at is None else viewer(at, middle)
        anchors = _meant(self.scored[side.towards], pool.config)
        return viewer(self._before(anchors) if at is None else at, towards)

    def _before(self, anchors: np.ndarray) -> np.ndarray:
        """(2,) where one stands to face things: before their fronts where those agree, else amid the room."""
        pool = self.pool
        fronts = pool.fronts[anchors, :2]
        known = fronts[~np.isnan(fronts[:, 0])]
        if len(known) and np.linalg.norm(known.mean(axis=0)) > AGREE:
            front = known.mean(axis=0)
            return pool.boxes.center[anchors, :2].mean(axis=0) + STAND_OFF * front / np.linalg.norm(front)
        return pool.middles[anchors].mean(axis=0)

    def _place(self, variable: int) -> np.ndarray | None:
        """(2,) of what a viewpoint names, None where the scene holds nothing for it."""
        if variable < 0 or variable not in self.scored:
            return None
        meant = _meant(self.scored[variable], self.pool.config)
        return self.pool.boxes.center[meant, :2].mean(axis=0) if len(meant) else None


def _likeliest(scores: np.ndarray, least: float, config: QueryConfig) -> np.ndarray:
    """Rows of at least a score; in a large scene those that are among the likeliest, ties included."""
    rows = np.flatnonzero(scores >= least)
    if len(scores) <= config.whole_scene or len(rows) <= config.pool_size:
        return rows
    limit = np.partition(scores[rows], -config.pool_size)[-config.pool_size]
    return rows[scores[rows] >= limit]


def _like(scores: np.ndarray) -> np.ndarray:
    """Rows whose score is near enough to the best to be compared with it."""
    if not len(scores) or scores.max() <= 0.0:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= GOOD * scores.max())


def _meant(scores: np.ndarray, config: QueryConfig) -> np.ndarray:
    """Rows that an anchor means where it is not bound to one: the best of those that are at all like it."""
    if not len(scores) or scores.max() < config.anchor_floor:
        return np.zeros(0, int)
    return np.flatnonzero(scores >= SURE * scores.max())


def _negated_if(scores: np.ndarray, negate: bool) -> np.ndarray:
    return 1.0 - scores if negate else scores
