"""Unary terms of a query, and the blend of predicate scores into one score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import MissingPhrases
from lodestar.query import superlatives
from lodestar.query.anchors import NOTHING
from lodestar.query.categories import phrase_attributes
from lodestar.query.config import QueryConfig
from lodestar.query.pool import Pool

QUERY_ABSENT_ANCHOR = 0.4  # score of a relation whose anchor is not in the scene; chosen: below `accept`


@dataclass(frozen=True)
class Term:
    """Scores (N,) of one predicate of a query.

    bound: (N, K) index in the pool of each entity's K anchors, -1 = none. is_absent: an anchor is not in the
    scene, so that the predicate does not separate candidates.
    """

    name: str
    scores: np.ndarray
    variables: tuple[int, ...] = ()
    bound: np.ndarray | None = None
    is_absent: bool = False


def semantic_scores(graph: QueryGraph, pool: Pool) -> np.ndarray:
    """Return every entity's score (N,) as the graph's target from category and attributes, without relations
    and sizes.
    """
    categories, _ = unary_words(graph)
    own = [p for p in graph.predicates if min(p.arguments) == 0]
    stated = [p for p in own if p.name == "IsCategory"]
    scores = [pool.category(c) for c in categories]
    if stated:
        scores = [negated(s, p) for s, p in zip(scores, stated)]
    said = [(p.value, p) for p in own if p.name == "HasAttribute" and not ranks(p)]
    terms = [Term(value, negated(pool.attribute(value), p)) for value, p in said]
    if not stated:
        terms += [Term(a, pool.attribute(a)) for a in phrase_attributes(graph.target.phrase)]
    return pool.presence * np.min(scores, axis=0) * blend(terms, len(pool), pool.config)


def unary_words(graph: QueryGraph) -> tuple[list[str], list[str]]:
    """Return the categories and attributes that `semantic_scores` uses."""
    own = [p for p in graph.predicates if min(p.arguments) == 0]
    attributes = [p.value for p in own if p.name == "HasAttribute" and not ranks(p)]
    if any(p.name == "IsCategory" for p in own):
        return categories_of(graph, 0), attributes
    return categories_of(graph, 0), [*attributes, *phrase_attributes(graph.target.phrase)]


def category_of(graph: QueryGraph, index: int) -> str:
    """Return the category of a variable: its whole phrase if that is a noun of the lexicon."""
    variable = graph.variables[index]
    whole = load_lexicon().canonical(variable.phrase) is not None
    return variable.phrase if whole else variable.category


def blend(terms: list[Term], count: int, config: QueryConfig) -> np.ndarray:
    """Return FARM's (1 - w) + w g, with g a mean dominated by the least of the predicate scores.

    A failed predicate is therefore not compensated by others. Terms with an absent anchor do not rank candidates, but
    lower the score of all.
    """
    if not terms:
        return np.ones(count)
    usable = [term for term in terms if not term.is_absent]
    if len(usable) < len(terms):
        met = 1.0 - config.relation_weight + config.relation_weight * QUERY_ABSENT_ANCHOR
        return met * blend(usable, count, config)
    scores = np.clip(np.stack([term.scores for term in terms]), NOTHING, 1.0)
    mean = np.exp(np.log(scores).mean(axis=0))
    g = scores.min(axis=0) ** config.least_share * mean ** (1.0 - config.least_share)
    return (1.0 - config.relation_weight) + config.relation_weight * g


def negated(scores: np.ndarray, predicate: Predicate) -> np.ndarray:
    """Return the scores of a predicate, inverted if it is negated."""
    return 1.0 - scores if predicate.negated else scores


def ranks(predicate: Predicate) -> bool:
    """Return whether a predicate compares an entity with others of its category."""
    if predicate.name in ("Closest", "Farthest"):
        return True
    if predicate.name == "HasAttribute":
        return predicate.value in superlatives.SUPERLATIVES
    return len(predicate.arguments) == 1 and predicate.name not in ("IsCategory", "InRegion")


def fetch_vectors(graphs: Sequence[QueryGraph], pool: Pool) -> None:
    """Fetch all vectors needed to score the graphs into the pool's book, at once. Raises MissingPhrases."""
    wanted = [
        phrase
        for graph in graphs
        for index in range(len(graph.variables))
        for category in categories_of(graph, index)
        for phrase in pool.kinds.wanted(category, pool.phrases)
    ]
    described = [graph.target.phrase for graph in graphs] if pool.is_described else []
    if not wanted and not described:
        return
    try:
        pool.phrases.vectors(tuple(dict.fromkeys((*wanted, *described))))
    except MissingPhrases:
        missing = pool.phrases.missing(wanted)
        if missing:  # vectors of descriptions are optional: without them that channel is skipped
            raise MissingPhrases(missing) from None


def categories_of(graph: QueryGraph, index: int) -> list[str]:
    """Return the categories required of a variable: those stated, else its phrase."""
    own = [p for p in graph.predicates if p.name == "IsCategory" and min(p.arguments) == index]
    return [p.value or graph.variables[index].category for p in own] or [category_of(graph, index)]
