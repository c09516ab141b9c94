"""Tests of a model that reorders the first candidates from drawn plans; on any fault the order is kept."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from query_builders import room, view_from

from lodestar.language.grammar import parse_query
from lodestar.models.chat import ChatUnavailable
from lodestar.models.phrases import PhraseBook
from lodestar.perception.pictures import decode_picture
from lodestar.query.panels import BLUE, GREEN, RED, SIZE, draw_panel
from lodestar.query.rerank import PICTURE, SCHEMA, RerankConfig, rerank
from lodestar.query.verdict import score_query

TEXT = "the chair next to the desk"


class Fake:
    """Answers as scripted; raises an exception given as the answer."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def complete(self, system, user, schema, images=(), shorter=None):
        self.asked.append((json.loads(user), schema, images))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def scores(*values):
    return json.dumps({"scores": [{"number": k, "score": v} for k, v in enumerate(values, start=1)]})


@pytest.fixture
def found():
    return score_query(parse_query(TEXT), room(), PhraseBook())


def asked(found, answer, **options):
    fake, told = Fake(answer), []
    graph = parse_query(TEXT)[0]
    return rerank(TEXT, graph, found, room(), fake, RerankConfig(**options), told.append), fake, told


def test_the_models_order_is_taken_and_scores_stay(found):
    before = [c.entity_id for c in found]
    count = min(5, len(found))
    (after, apart), fake, told = asked(found, scores(*np.linspace(0.1, 0.8, count)))
    assert [c.entity_id for c in after[:count]] == before[:count][::-1] and not told
    assert sorted(c.entity_id for c in after) == sorted(before)
    assert {c.entity_id: c.score for c in after} == {c.entity_id: c.score for c in found}
    assert after[0].predicate_scores[PICTURE] == pytest.approx(0.8) and not apart
    question, schema, images = fake.asked[0]
    assert question["query"] == TEXT and schema is SCHEMA and len(images) == count
    assert [c["number"] for c in question["candidates"]] == list(range(1, count + 1))
    assert decode_picture(images[0]).shape == (SIZE, SIZE, 3)


@pytest.mark.parametrize(
    "answer",
    [
        "no json", "[]", "{}", '{"scores": [1]}', scores(0.5), scores(0.1, 0.2, 3.0, 0.1, 0.1),
        '{"scores": [{"number": 1, "score": NaN}, {"number": 2, "score": 1}]}', ChatUnavailable("gone"),
    ],
)  # fmt: skip
def test_anything_else_leaves_the_order_as_it_was(found, answer):
    (after, apart), _, told = asked(found, answer)
    assert after == found and not apart
    assert len(told) == 1 and "reranking of candidates failed" in told[0]


def test_one_candidate_is_not_asked_about(found):
    (after, apart), fake, _ = asked(found[:1], scores(0.5))
    assert after == found[:1] and not apart and not fake.asked


def test_only_the_first_few_are_seen(found, monkeypatch):
    monkeypatch.setattr("lodestar.query.rerank.RERANKED", 2)
    (after, apart), fake, _ = asked(found, scores(0.2, 0.9))
    assert [c.entity_id for c in after[:2]] == [found[1].entity_id, found[0].entity_id] and apart
    assert after[2:] == found[2:] and len(fake.asked[0][2]) == 2


def test_a_panel_shows_candidate_rivals_and_front():
    things = room()
    things[1] = replace(things[1], views=(view_from(-2.0, 0.25, 0.0),))
    things[7] = replace(things[7], box_min=np.full(3, np.nan))  # an invalid box, so the object is left out
    panel = draw_panel(1, things[1], {1, 2}, {3}, things, 0.45)
    shown = {tuple(int(v) for v in color) for color in panel.reshape(-1, 3)}
    assert {RED, BLUE, GREEN} <= shown and panel.shape == (SIZE, SIZE, 3)
    rows, columns = np.nonzero((panel == GREEN).all(axis=2))
    assert columns.mean() < SIZE / 2, "the camera stood at lesser x, which is to the left"
    rows, columns = np.nonzero((panel == BLUE).all(axis=2))
    assert rows.mean() < SIZE / 2, "the rival lies at greater y, which is up"
    without = draw_panel(1, room()[1], {1, 2}, {3}, room(), 0.45)
    assert not (without == GREEN).all(axis=2).any()
