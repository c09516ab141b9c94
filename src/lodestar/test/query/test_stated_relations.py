"""Tests of relations that a person stated: queries use them instead of the boxes while both objects are near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.language.parsers import parse_query
from lodestar.models.phrases import PhraseBook
from lodestar.query.config import QueryConfig
from lodestar.query.verdict import PoolCache, score_pool, score_query
from lodestar.scene.lifecycle import OPERATOR
from lodestar.scene.records import Entity, Stated
from lodestar.scene.relations import Relation, RelationTable


def thing(identity, label, centre, size=0.3, stated=()):
    centre, half = np.array(centre, float), np.full(3, size / 2.0)
    return Entity(
        identity, label, label, centre, np.eye(3) * 0.01, centre - half, centre + half, stated=tuple(stated)
    )


def best(text, things):
    found = score_query(parse_query(text), things, PhraseBook())
    accepted = [c for c in found if c.score >= QueryConfig().accept]
    return accepted[0].entity_id if accepted else 0


MUGS = [thing(1, "mug", (0.0, 0.0, 0.5)), thing(2, "mug", (1.2, 0.0, 0.2)), thing(3, "desk", (0.0, 0.0, 0.2))]


def test_a_statement_finds_what_the_boxes_do_not_show():
    things = [MUGS[1], MUGS[2]]
    assert best("the mug on the desk", things) == 0
    said = replace(MUGS[1], stated=(Stated("On", 3),))
    assert best("the mug on the desk", [said, MUGS[2]]) == 2
    assert best("the desk with a mug on it", [said, MUGS[2]]) in (0, 3)


def test_a_denial_refuses_what_the_boxes_show():
    assert best("the mug on the desk", [MUGS[0], MUGS[2]]) == 1
    denied = replace(MUGS[0], stated=(Stated("On", 3, True),))
    assert best("the mug on the desk", [denied, MUGS[2]]) == 0


@pytest.mark.parametrize(
    ("predicate", "turned"), [("NextTo", "next to"), ("Near", "near"), ("Above", "below"), ("Below", "above")]
)
def test_a_statement_says_as_much_of_the_other(predicate, turned):
    desks = [thing(3, "desk", (0.0, 0.0, 0.5)), thing(4, "desk", (2.5, 0.0, 0.5))]
    mug = thing(2, "mug", (1.25, 0.0, 0.5))
    said, denied = (
        {
            c.entity_id: c.score
            for c in score_query(parse_query(f"the desk {turned} the mug"), [one, *desks], PhraseBook())
        }
        for one in (replace(mug, stated=(Stated(predicate, 4, negated),)) for negated in (False, True))
    )
    assert said[4] >= QueryConfig().accept > max(said[3], denied[4])


def test_a_statement_ends_when_one_of_the_two_is_far_away():
    moved = replace(thing(2, "mug", (8.0, 0.0, 0.2)), stated=(Stated("On", 3),))
    assert best("the mug on the desk", [moved, MUGS[2]]) == 0


def test_a_kept_pool_takes_a_new_statement():
    cache, book = PoolCache(), PhraseBook()
    graphs = parse_query("the mug on the desk")
    before = {c.entity_id: c.score for c in score_pool(graphs, cache.of({2: MUGS[1], 3: MUGS[2]}, book))}
    said = replace(MUGS[1], stated=(Stated("On", 3),))
    after = {c.entity_id: c.score for c in score_pool(graphs, cache.of({2: said, 3: MUGS[2]}, book))}
    assert after[2] > before[2]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0)), min_size=2, max_size=8),
    st.sampled_from(["On", "Near", "NextTo", "Inside", "Below", "Above"]),
    st.integers(0, 7),
)
def test_the_stated_one_beats_all_its_like(places, predicate, chosen):
    chosen %= len(places)
    words = {
        "On": "on",
        "Near": "near",
        "NextTo": "next to",
        "Inside": "in",
        "Below": "under",
        "Above": "above",
    }
    desk = thing(100, "desk", (0.0, 0.0, 0.4), 0.8)
    mugs = [thing(1 + k, "mug", (x, y, 1.5 + 0.4 * k)) for k, (x, y) in enumerate(places)]
    mugs[chosen] = replace(mugs[chosen], stated=(Stated(predicate, 100),))
    found = {c.entity_id: c.score for c in score_query(
        parse_query(f"the mug {words[predicate]} the desk"), [*mugs, desk], PhraseBook()
    )}  # fmt: skip
    assert found[1 + chosen] == pytest.approx(max(found.get(1 + k, 0.0) for k in range(len(mugs))), abs=0.06)
    assert found[1 + chosen] >= QueryConfig().accept


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(5, 8), st.booleans(), st.sampled_from([OPERATOR, "caption"]))
    )
)
def test_the_newest_word_of_a_person_counts(said):
    table, truth = RelationTable(), {}
    for thing_id, other, negated, author in said:
        arguments = f"entity:{thing_id}", f"entity:{other}"
        table.put(Relation("On", arguments, (thing_id, other), negated, author))
        truth[thing_id, other] = (negated, author)
    for identity in range(1, 5):
        own = {one.other: one.negated for one in table.stated_of(identity, OPERATOR, lambda i: i, 0)}
        expected = {b: n for (a, b), (n, author) in truth.items() if a == identity and author == OPERATOR}
        assert own == expected


def test_ids_follow_merges():
    table = RelationTable([Relation("On", ("entity:1", "entity:2"), (1, 2), author=OPERATOR)])
    assert table.stated_of(1, OPERATOR, lambda i: i, 0) == (Stated("On", 2),)
    merged = {1: 7, 2: 9}
    assert table.stated_of(7, OPERATOR, lambda i: merged.get(i, i), 2) == (Stated("On", 9),)
    assert table.stated_of(1, OPERATOR, lambda i: merged.get(i, i), 2) == ()
