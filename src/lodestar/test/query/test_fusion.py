"""Tests that equal word scores are ordered by caption vectors; without vectors nothing changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from query_builders import room, thing

from lodestar.language.grammar import parse_query
from lodestar.models.phrases import MissingPhrases, PhraseBook
from lodestar.query.config import QUERY_MIN_CANDIDATE
from lodestar.query.fusion import fused_ranks
from lodestar.query.verdict import QueryConfig, score_query
from lodestar.scene.records import Embedding

ALONG, ACROSS = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def book(*phrases, model="m"):
    """Return a book that has the vector ALONG for these phrases."""
    found = PhraseBook()
    if phrases:
        found.add(phrases, np.tile(ALONG, (len(phrases), 1)), model)
    return found


def seen(entity, vector, model="m"):
    return replace(entity, embeddings={"caption": Embedding(model, vector)})


def chairs():
    """Return two chairs with equal word scores; the second one's caption is nearer."""
    one = seen(thing(1, "chair", "chair", (0, 0, 0), (0.5, 0.5, 0.9)), ACROSS)
    two = seen(thing(2, "chair", "chair", (3, 0, 0), (3.5, 0.5, 0.9)), ALONG)
    return {1: one, 2: two}


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12), st.integers(0, 3))
def test_the_first_of_every_channel_has_one_and_equals_share(scores, unknown):
    values = np.array(scores)
    ranks = fused_ranks(((values, 1.0), (values, 0.5)))
    assert ranks[values.argmax()] == pytest.approx(1.0)
    assert np.all((ranks > 0.0) & (ranks <= 1.0 + 1e-12))
    for i, j in ((0, len(values) - 1), (len(values) // 2, 0)):
        assert (ranks[i] >= ranks[j]) == (values[i] >= values[j])
    other = np.where(np.arange(len(values)) < unknown, np.nan, values)
    assert np.isfinite(fused_ranks(((values, 1.0), (other, 1.0)))).all()


def test_of_two_alike_the_one_whose_caption_is_nearer_comes_first():
    plain = score_query(parse_query("the chair"), chairs(), book())
    assert [c.entity_id for c in plain] == [1, 2] and plain[0].score == plain[1].score
    found = score_query(parse_query("the chair"), chairs(), book("chair"))
    assert [c.entity_id for c in found] == [2, 1]
    assert found[0].score == pytest.approx(plain[0].score), "the best stays as good as it is"
    assert found[1].score > plain[1].score - QueryConfig.fusion_share


def test_words_that_tell_two_apart_outweigh_the_captions():
    things = {i: seen(e, ALONG if i == 2 else ACROSS) for i, e in room().items()}
    found = score_query(parse_query("the red chair"), things, book("red chair", "chair"))
    assert found[0].entity_id in (1, 4)


@pytest.mark.parametrize("model", ["another", "m"])
def test_vectors_of_another_model_or_share_nothing_count_nothing(model):
    config = QueryConfig(fusion_share=0.0) if model == "m" else QueryConfig()
    found = score_query(parse_query("the chair"), chairs(), book("chair", model=model), config)
    assert found[0].score == found[1].score


def test_a_description_without_a_vector_is_no_reason_to_fail():
    found = score_query(parse_query("the chair"), chairs(), book())
    assert len(found) == 2
    unknown = {1: replace(chairs()[1], label="gizmo", caption="gizmo")}
    with pytest.raises(MissingPhrases) as missing:
        score_query(parse_query("the whatsit"), unknown, book())
    assert "whatsit" in missing.value.phrases


def pictured(entity, vector, model="clip"):
    return replace(entity, embeddings={"appearance": Embedding(model, np.array(vector, np.float32))})


def with_images(model="clip"):
    """Return a book with a pair's text encoder: "fire extinguisher" is red, all labels are blue."""
    images = PhraseBook()
    images.add(
        ("fire extinguisher", "bottle", "vase", "chair"), np.array([[1.0, 0.0], *[[0.0, 1.0]] * 3]), model
    )
    found = PhraseBook(of_images=images)
    words = np.eye(4, dtype=np.float32)
    found.add(("fire extinguisher", "bottle", "vase", "chair"), words, "words")
    return found


def unnamed(model="clip"):
    """Return a red and a blue object, neither with the name in the query."""
    red = pictured(thing(1, "bottle", "bottle", (0, 0, 0), (0.2, 0.2, 0.5)), (1.0, 0.0), model)
    blue = pictured(thing(2, "vase", "vase", (3, 0, 0), (3.2, 0.2, 0.5)), (0.0, 1.0), model)
    return {1: red, 2: blue}


def test_an_image_admits_what_no_word_names_and_claims_nothing():
    query, config = parse_query("the fire extinguisher"), QueryConfig()
    assert not [c for c in score_query(query, unnamed(), with_images()) if c.entity_id == 2]
    (found,) = score_query(query, unnamed(), with_images())
    assert found.entity_id == 1 and found.semantic_score == pytest.approx(config.promising)
    assert QUERY_MIN_CANDIDATE < found.score < config.accept, "worth a look, not a claim"


@pytest.mark.parametrize(
    "why", ["no text encoder", "another model", "no vector of the phrase", "another dimension"]
)
def test_an_image_admits_nothing_where_it_cannot_be_compared(why):
    book, things = with_images(), unnamed()
    if why == "no text encoder":
        book.of_images = None
    elif why == "another model":
        things = unnamed("histogram-1")
    elif why == "another dimension":
        things = {1: pictured(things[1], (1.0, 0.0, 0.0))}
    else:
        book.of_images = PhraseBook()
    assert score_query(parse_query("the fire extinguisher"), things, book) == []


def test_where_words_settle_images_admit_nothing():
    things = unnamed() | {3: thing(3, "fire extinguisher", "fire extinguisher", (6, 0, 0), (6.2, 0.2, 0.5))}
    found = score_query(parse_query("the fire extinguisher"), things, with_images())
    assert [c.entity_id for c in found] == [3]
