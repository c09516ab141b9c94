"""Property tests: for any query and scene, the query ranks or is refused with a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from query_builders import room

from lodestar.language.directive import DirectiveError
from lodestar.language.grammar import parse_query
from lodestar.models.phrases import PhraseBook
from lodestar.query.verdict import decide, prepare, score_pool, score_query


@pytest.fixture(scope="module")
def any_words():
    """Return a phrase book with a vector for every phrase."""

    class Embedder:
        model, dimension = "m", 8

        def embed(self, phrases):
            rng = np.random.default_rng(len(phrases))
            vectors = rng.normal(size=(len(phrases), 8)).astype(np.float32)
            return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return PhraseBook(Embedder())


NAN, ZERO = np.full((3, 3), np.nan), np.zeros((3, 3))


@pytest.mark.parametrize(
    "broken",
    [
        {"covariance": ZERO},
        {"covariance": NAN},
        {"box_min": np.full(3, np.nan), "box_max": np.full(3, np.nan)},
        {"box_min": np.array([1.0, 1.0, 1.0]), "box_max": np.zeros(3)},
        {"mean": np.full(3, np.inf), "box_min": np.full(3, np.inf), "box_max": np.full(3, np.inf)},
    ],
)
@pytest.mark.parametrize(
    "text", ["the red chair next to the desk", "the chair between the desk and the sofa"]
)
def test_degenerate_entities_do_not_disturb_the_others(broken, text, any_words):
    things = room()
    things[7] = replace(things[7], **broken)
    found = score_query(parse_query(text), things, any_words)
    assert found and all(np.isfinite(c.score) and 0.0 <= c.score <= 1.0 for c in found)
    sound = score_query(parse_query("the red chair next to the desk"), things, any_words)
    assert sound[0].entity_id == 1


def test_an_anchor_that_is_not_there_is_named_and_ranked_without(any_words):
    pool = prepare(room(), any_words)
    graphs = parse_query("the red chair next to the piano")
    found = score_pool(graphs, pool)
    assert pool.absent(graphs[0]) == ("piano",)
    assert {found[0].entity_id, found[1].entity_id} == {1, 4}
    assert decide(found).best is None, "what was asked for is not known to hold"


@pytest.mark.parametrize(
    "text",
    [
        "la silla roja al lado de la mesa",
        "机の上の赤いマグ",
        "the chair that outranks the desk",
        "the chair " + "next to the desk " * 40,
        "on under beside",
        "the the the",
    ],
)
def test_strange_sentences_are_ranked_or_refused(text, any_words):
    try:
        graphs = parse_query(text)
    except DirectiveError as refusal:
        assert str(refusal)
        return
    for things in (room(), {}):
        found = score_query(graphs, things, any_words)
        assert all(0.0 <= c.score <= 1.0 for c in found)
