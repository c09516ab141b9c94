"""Tests that pruned and exhaustive maximisation over anchors agree."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_builders import thing, view_from

from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.query import anchors as pruning
from lodestar.query.binding import score_graph
from lodestar.query.config import QUERY_MIN_CANDIDATE, QueryConfig
from lodestar.query.frames import side_scores
from lodestar.query.pool import Pool
from lodestar.query.relations import PAIRS, between, reach
from lodestar.query.table import PAPER, PredicateTable, load_table
from lodestar.scene.regions import RegionMap

LABELS = ("chair", "desk", "lamp")
RELATIONS = ("Near", "NextTo", "On", "Above", "Below", "Inside", "LeftOf", "Behind")
CONFIG = QueryConfig()


def pool_of(seed: int, count: int, side: float) -> Pool:
    rng = np.random.default_rng(seed)
    views = (view_from(side / 2, side / 2, 0.5),)
    entities = []
    for i in range(count):
        low = np.array([*rng.uniform(0, side, 2), rng.choice([0.0, 0.5, 1.0])])
        label = LABELS[int(rng.integers(3))]
        seen = views if rng.random() < 0.3 else ()
        front = np.array([1.0, 0.0, 0.0]) if rng.random() < 0.3 else None
        entities.append(
            thing(i + 1, label, label, low, low + rng.uniform(0.05, 1.5, 3), views=seen, front=front)
        )
    return Pool.of(entities, PhraseBook(), CONFIG)


def graph_of(first: str, second: str, negated: bool) -> QueryGraph:
    variables = tuple(QueryVariable(label, label) for label in LABELS)
    kinds = tuple(Predicate("IsCategory", (i,), label) for i, label in enumerate(LABELS))
    return QueryGraph(
        variables, (*kinds, Predicate(first, (0, 1), negated=negated), Predicate(second, (1, 2)))
    )


def pair(pool: Pool, name: str, a: int, b: int) -> float:
    """Return one relation of one pair, by the predicate itself."""
    rows, others = np.array([a]), np.array([[b]])
    if name in PAIRS:
        boxes = pool.boxes
        return float(PAIRS[name](boxes.take(rows).rows(), boxes.take(others), pool.table)[0, 0])
    views = [e.views for e in pool.entities]
    return float(
        side_scores(name, rows, others, pool.boxes, views, pool.fronts, pool.middles, None, pool.table)[0, 0]
    )


def share(scores: list[float]) -> float:
    """Return FARM's blend of the predicate scores of one binding."""
    values = np.clip(scores, 1e-6, 1.0)
    g = values.min() ** CONFIG.least_share * np.exp(np.log(values).mean()) ** (1 - CONFIG.least_share)
    return float(1.0 - CONFIG.relation_weight + CONFIG.relation_weight * g)


def exhaustive(pool: Pool, graph: QueryGraph, target: int) -> float:
    """Return a target's score over all joint choices of the two anchors; negation applies to the best one."""
    kinds = [pool.category(label) for label in LABELS]
    (first, second) = graph.predicates[3:]
    everything = range(len(pool))
    best = 0.0
    for one, two in product(everything, everything):
        held = 0.0 if one == two else pair(pool, second.name, one, two) * kinds[2][two]
        anchor = kinds[1][one] * share([held])
        usable = anchor >= QUERY_MIN_CANDIDATE and target != one
        best = max(best, pair(pool, first.name, target, one) * anchor if usable else 0.0)
    return float(kinds[0][target] * share([1.0 - best if first.negated else best]))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(3, 9),
    st.sampled_from(RELATIONS),
    st.sampled_from(RELATIONS),
    st.booleans(),
)
def test_a_chain_of_anchors_is_bound_as_by_trying_everything(seed, count, first, second, negated):
    pool = pool_of(seed, count, 3.0)
    graph = graph_of(first, second, negated)
    if not all((pool.category(label) > 0.9).any() for label in LABELS):
        return  # absent anchors are ignored by a separate rule
    found = score_graph(graph, pool).score
    expected = [exhaustive(pool, graph, i) for i in range(len(pool))]
    assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from((50, 400, 2_000)),
    st.sampled_from(RELATIONS),
    st.sampled_from((10.0, 60.0)),
)
def test_pruning_by_the_bound_changes_no_score_of_up_to_2000_entities(seed, count, name, side):
    pool = pool_of(seed, count, side)
    graph = graph_of(name, "Near", False)
    pruned = score_graph(graph, pool)
    limit, pruning.BRUTE = pruning.BRUTE, 10**12
    try:
        whole = score_graph(graph, pool)
    finally:
        pruning.BRUTE = limit
    assert np.array_equal(pruned.score, whole.score)


@pytest.mark.parametrize("table", [PredicateTable(), load_table(), PAPER])
@pytest.mark.parametrize("name", [n for n in RELATIONS if n in PAIRS])
def test_no_relation_exceeds_the_bound_that_prunes_it(name, table):
    pool = pool_of(5, 300, 8.0)
    rows, others = np.arange(150), np.repeat(np.arange(150, 300)[None], 150, axis=0)
    a, b = pool.boxes.take(rows).rows(), pool.boxes.take(others)
    gaps = np.linalg.norm(np.maximum(np.maximum(b.low - a.high, a.low - b.high)[..., :2], 0.0), axis=-1)
    bound = reach(name, gaps, table)
    assert (PAIRS[name](a, b, table) <= bound + 1e-12).all()
    assert (PAIRS[name](b, a, table) <= bound + 1e-12).all()


def test_between_binds_the_best_pair_of_all():
    pool = pool_of(3, 40, 6.0)
    graph = QueryGraph(
        tuple(QueryVariable(label, label) for label in LABELS),
        (
            *(Predicate("IsCategory", (i,), label) for i, label in enumerate(LABELS)),
            Predicate("Between", (0, 1, 2)),
        ),
    )
    found = score_graph(graph, pool)
    kinds = [np.flatnonzero(pool.category(label) > 0.9) for label in LABELS]
    for target in kinds[0]:
        best = 0.0
        for one, two in product(kinds[1], kinds[2]):
            a, b, c = (pool.boxes.take(np.array([i])) for i in (target, one, two))
            best = max(best, float(between(a, b, c, pool.table)[0]))
        assert found.score[target] == pytest.approx(share([best]), abs=1e-9)


@pytest.mark.parametrize("relation", ["NextTo", "Near"])
@pytest.mark.parametrize("swapped", [False, True])
def test_nothing_is_next_to_a_thing_behind_the_wall_of_its_room(relation, swapped):
    mask = np.ones((100, 100), np.uint16)
    mask[:, 50:] = 2
    mask[:60, 49:51] = 0
    rooms = RegionMap(0.5)
    rooms.set_mask(mask, (0.0, 0.0), 0.1)
    things = [
        thing(1, "lamp", "lamp", (4.3, 1.8, 0.0), (4.7, 2.2, 0.9), region_id=1),
        thing(2, "desk", "desk", (5.3, 1.8, 0.0), (5.7, 2.2, 0.9), region_id=2),
        thing(3, "lamp", "lamp", (4.3, 7.8, 0.0), (4.7, 8.2, 0.9), region_id=1),
        thing(4, "desk", "desk", (5.3, 7.8, 0.0), (5.7, 8.2, 0.9), region_id=2),
    ]
    names = ("lamp", "desk")
    graph = QueryGraph(
        tuple(QueryVariable(name, name) for name in names),
        (Predicate(relation, (1, 0) if swapped else (0, 1)),),
    )
    walled = score_graph(graph, Pool.of(things, PhraseBook(), CONFIG, rooms=rooms)).score
    free = score_graph(graph, Pool.of(things, PhraseBook(), CONFIG)).score
    assert free[0] == pytest.approx(free[2]) and walled[2] == pytest.approx(free[2])
    assert walled[0] < 0.6 * walled[2]
