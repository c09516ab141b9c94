"""Tests of priors on objects' places, from the text model and the lexicon."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.language.priors import CoOccurrence
from lodestar.models.embedder import EmbedderUnavailable, SentenceTransformerEmbedder
from lodestar.models.phrases import MissingPhrases, PhraseBook


@pytest.fixture(scope="module")
def sense():
    embedder = SentenceTransformerEmbedder()
    try:
        embedder.embed(["a"])
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    return CoOccurrence(PhraseBook(embedder))


@pytest.mark.parametrize(
    ("target", "room"),
    [("mug", "kitchen"), ("toaster", "kitchen"), ("pillow", "bedroom"), ("toothbrush", "bathroom"),
     ("printer", "office"), ("toilet", "bathroom"), ("red office chair", "office")],
)  # fmt: skip
def test_the_likeliest_room(sense, target, room):
    shares = sense.room_shares(target)
    assert sense.rooms[int(shares.argmax())] == room
    assert shares.sum() == pytest.approx(1.0) and (shares >= 0.0).all()


@pytest.mark.parametrize(
    ("target", "near", "far"),
    [("mug", "refrigerator", "bed"), ("pillow", "bed", "refrigerator"), ("printer", "desk", "toilet"),
     ("toilet paper", "bathtub", "desk"), ("book", "bookshelf", "bathtub")],
)  # fmt: skip
def test_what_it_is_more_likely_near(sense, target, near, far):
    scores = sense.near(target, [far, near, far])
    assert scores[1] > scores[0] == scores[2]
    assert (scores >= 0.0).all() and (scores <= 1.0).all()


def test_the_same_question_has_the_same_answer_and_no_thing_has_none(sense):
    labels = ["desk", "bed", "sofa"]
    assert np.array_equal(sense.near("lamp", labels), CoOccurrence(sense._phrases).near("lamp", labels))
    assert sense.near("lamp", []).shape == (0,)


def test_missing_vectors_are_said():
    with pytest.raises(MissingPhrases):
        CoOccurrence(PhraseBook()).near("mug", ["desk"])
