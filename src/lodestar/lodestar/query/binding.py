"""Scoring of one query graph over all entities at once: unary terms, then relations from the leaves to the
target.

Every predicate belongs to the earliest of its variables, so a graph is a tree of variables. The maximum over
anchors is taken variable by variable. This is exact, because a candidate's score never decreases with its
anchors' scores. Superlatives and ordinals ("the closest", "the second from the left") compare the entities
that meet all other terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lodestar.language.query_graph import VIEWED, Predicate, QueryGraph
from lodestar.models.lexicon import load_lexicon
from lodestar.query import relations, superlatives
from lodestar.query.anchors import NOTHING, PairScore, best_anchors, best_pairs
from lodestar.query.categories import phrase_attributes
from lodestar.query.config import QUERY_ANCHORS_FIRST, QUERY_MIN_CANDIDATE
from lodestar.query.frames import side_scores
from lodestar.query.fusion import admitted, fused
from lodestar.query.ordinals import Ranking
from lodestar.query.pool import UNDECIDED, Pool
from lodestar.query.relations import Boxes
from lodestar.query.rows import GOOD, like, likeliest
from lodestar.query.speaker_pose import viewer_of
from lodestar.query.terms import Term, blend, category_of, negated, ranks

# factor of entities with another name ("armchair") if some entity has the requested name ("chair"); fitted
QUERY_OTHER_LABEL = 0.75
QUERY_UNCONFIRMED = (
    0.8  # factor of entities that match by image alone: their score stays below `accept`; chosen
)

_BESIDE = ("NextTo", "Near")  # relations that do not hold through a wall


@dataclass(frozen=True)
class GraphScore:
    """Scores (N,) of the N entities as one variable of a graph.

    score: in total. semantic: by category and attributes. category: by category alone. terms: by each
    predicate.
    """

    score: np.ndarray
    semantic: np.ndarray
    category: np.ndarray
    terms: tuple[Term, ...]


def score_graph(graph: QueryGraph, pool: Pool) -> GraphScore:
    """Return every entity's score as the graph's target; each anchor has its own category, attributes and relations."""
    scored: dict[int, np.ndarray] = {}
    result: GraphScore | None = None
    for index in reversed(range(len(graph.variables))):
        own = [p for p in graph.predicates if min(p.arguments) == index]
        result = _Variable(graph, index, scored, pool).score(own)
        scored[index] = result.score
    assert result is not None
    return result


@dataclass
class _Variable:
    """One variable of a query graph, scored over all entities of the pool.

    scored: variable index -> scores (N,), for the variables of higher index, which are scored first.
    """

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
        if self.index == 0:
            base = fused(base, self.graph.target.phrase, pool)
        terms = self._attributes(own, like(base))
        semantic = self._composite(base, terms)
        by_name = self._by_name()
        base = base * by_name
        plain = [p for p in own if p.name not in ("IsCategory", "HasAttribute") and not ranks(p)]
        for predicate in plain:
            terms.append(self._relation(predicate, semantic))
        for predicate in (p for p in own if ranks(p)):
            group = like(self._composite(base, terms))
            named = group[by_name[group] == 1.0]  # "the closest chair" is not compared with armchairs
            terms.append(self._ranked(predicate, named if len(named) else group))
        score = self._composite(base, terms)
        if self.index == 0:
            rows, config = admitted(self.graph.target.phrase, category, pool), pool.config
            worth = pool.presence[rows] * config.promising  # worth a closer look, but not accepted
            semantic[rows], category[rows] = (
                np.maximum(semantic[rows], worth),
                np.maximum(category[rows], worth),
            )
            score[rows] = np.maximum(score[rows], worth * QUERY_UNCONFIRMED)
        return GraphScore(score, semantic, category, tuple(terms))

    def _composite(self, base: np.ndarray, terms: list[Term]) -> np.ndarray:
        """Return (N,) scores: `base` times the blended predicate scores, computed only where `base` is not
        zero.
        """
        live = np.flatnonzero(base > 0.0)
        scores = np.zeros(len(base))
        some = [replace(term, scores=term.scores[live], bound=None) for term in terms]
        scores[live] = base[live] * blend(some, len(live), self.pool.config)
        return scores

    def _category(self, stated: list[Predicate]) -> np.ndarray:
        variable, pool = self.graph.variables[self.index], self.pool
        if stated:
            scores = [negated(pool.category(p.value or variable.category), p) for p in stated]
            return np.min(scores, axis=0)
        return pool.category(category_of(self.graph, self.index))

    def _by_name(self) -> np.ndarray:
        """Return factors (N,): 1 for entities with exactly the requested name, or for all if no entity has
        it.
        """
        same = self.pool.named(self.graph.variables[self.index].category)
        return np.where(same | ~same.any(), 1.0, QUERY_OTHER_LABEL)

    def _attributes(self, own: list[Predicate], group: np.ndarray) -> list[Term]:
        pool = self.pool
        terms = [
            Term(
                f"{'not ' if p.negated else ''}{p.value}",
                negated(superlatives.attribute(pool, p.value, group), p),
            )
            for p in own
            if p.name == "HasAttribute" and not ranks(p)
        ]
        if not any(p.name == "IsCategory" for p in own):
            variable = self.graph.variables[self.index]
            terms += [
                Term(a, superlatives.attribute(pool, a, group)) for a in phrase_attributes(variable.phrase)
            ]
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
            return Term(name, negated(pool.in_region(predicate.value), predicate))
        if not others:
            return Term(name, np.full(len(pool), UNDECIDED))
        category = self.graph.variables[others[0]].category.split(" of ")[0]
        if category in load_lexicon().structure and predicate.name not in VIEWED:
            scores = superlatives.structure(pool, predicate.name, category, like(semantic))
            return Term(name, negated(scores, predicate))
        if predicate.name == "Between":
            # put the anchor that exists in the scene first
            others = sorted(others, key=lambda other: self._absent([other]))
        absent = others[:1] if predicate.name == "Between" else others
        if not predicate.negated and self._absent(absent):
            return Term(name, np.zeros(len(pool)), is_absent=True)
        if predicate.name == "Between" and len(others) == 2 and not self._absent(others):
            scores, bound = self._between(others, semantic)
        else:
            scores, bound = self._paired(predicate, others[0], semantic)
        return Term(name, negated(scores, predicate), tuple(others[: bound.shape[1]]), bound)

    def _absent(self, others: list[int]) -> bool:
        """Return whether one of these anchors matches no entity of the scene."""
        scores = [self.scored[other] for other in others]
        return any(not len(s) or s.max() < QUERY_MIN_CANDIDATE for s in scores)

    def _rows(self, semantic: np.ndarray) -> np.ndarray:
        config = self.pool.config
        return likeliest(semantic, QUERY_MIN_CANDIDATE * (1.0 - config.relation_weight))

    def _anchors(self, other: int) -> np.ndarray:
        return likeliest(self.scored[other], QUERY_MIN_CANDIDATE)

    def _paired(
        self, predicate: Predicate, other: int, semantic: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return each entity's best score over the anchors, (N,), and its best anchor, (N, 1).

        The score is the relation times the anchor's own score (existential quantifier).
        """
        pool = self.pool
        rows = self._rows(semantic)
        best, which = best_anchors(
            rows,
            self._anchors(other),
            self.scored[other],
            pool.boxes,
            self._with_stated(predicate, self._pair_score(predicate)),
            lambda gaps: (
                np.ones(len(gaps))  # a stated relation does not decrease with the gap
                if predicate.name in pool.stated
                else relations.reach(predicate.name, gaps, pool.table)
            ),
            QUERY_ANCHORS_FIRST,
        )
        scores, bound = np.zeros(len(pool)), np.full((len(pool), 1), -1)
        scores[rows], bound[rows, 0] = best, which
        return scores, bound

    def _with_stated(self, predicate: Predicate, measured: PairScore) -> PairScore:
        """Return a pair score that prefers relations stated by people to those measured on boxes."""
        stated = self.pool.stated.get(predicate.name, [])
        if not stated:
            return measured
        is_first = predicate.arguments[0] == self.index

        def score(rows: np.ndarray, anchors: np.ndarray) -> np.ndarray:
            found = np.array(measured(rows, anchors), float)
            for thing, other, said in stated:
                row, anchor = (thing, other) if is_first else (other, thing)
                found[(rows[:, None] == row) & (anchors == anchor)] = said
            return found

        return score

    def _pair_score(self, predicate: Predicate) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        pool, boxes, table = self.pool, self.pool.boxes, self.pool.table
        if predicate.name in VIEWED:
            stated = viewer_of(predicate.side, self.scored, pool)

            def side(rows: np.ndarray, anchors: np.ndarray) -> np.ndarray:
                return side_scores(
                    predicate.name, rows, anchors, boxes, pool.views, pool.fronts, pool.middles, stated, table,
                )  # fmt: skip

            if predicate.arguments[0] == self.index:
                return side
            # "a desk with a chair in front of it": each anchor becomes a row, the entity its only anchor
            return lambda rows, anchors: side(
                anchors.ravel(), np.repeat(rows, anchors.shape[1])[:, None]
            ).reshape(anchors.shape)
        if predicate.name == "Opposite":  # the anchor's front counts in either direction
            return lambda rows, anchors: relations.opposite(
                boxes.take(rows).rows(), boxes.take(anchors), pool.fronts[anchors], pool.middles[anchors]
            )
        relation = relations.PAIRS.get(predicate.name)
        if relation is None:  # Between, if only one anchor was named
            return lambda rows, anchors: relations.near(boxes.take(rows).rows(), boxes.take(anchors), table)
        is_first = predicate.arguments[0] == self.index

        def measured(rows: np.ndarray, anchors: np.ndarray) -> np.ndarray:
            own, others = boxes.take(rows).rows(), boxes.take(anchors)
            # if not first, the anchor is the constrained object: "the desk with a lamp on it"
            found = relation(own, others, table) if is_first else relation(others, own, table)
            if predicate.name not in _BESIDE:
                return found
            found = np.array(np.broadcast_to(found, anchors.shape), float)
            row, column = np.nonzero(found > NOTHING)  # walls are only checked for pairs that are near enough
            found[row, column] *= pool.beside(rows[row], anchors[row, column][:, None])[:, 0]
            return found

        return measured

    def _between(self, others: list[int], semantic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the score of each entity for being between the best pair of anchors, and that pair."""
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
        """Return the term of a predicate that compares the entities of a group, rows (G,)."""
        scores = Ranking(self.graph, self.index, self.scored, self.pool).scores(predicate, group)
        absent = not predicate.negated and len(group) > 0 and not scores.any()
        return Term(self._name(predicate), negated(scores, predicate), is_absent=absent)
