"""Tests of the cache of phrase vectors."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from lodestar.models.phrases import MissingPhrases, PhraseBook


class CountingEmbedder:
    """Embedder that gives each phrase a distinct vector and records its calls."""

    model = "counting"
    dimension = 8

    def __init__(self):
        self.asked = []

    def embed(self, phrases):
        self.asked.extend(phrases)
        rows = [np.random.default_rng(sum(map(ord, p))).normal(size=8) for p in phrases]
        return np.array(rows, np.float32) / np.linalg.norm(rows, axis=1, keepdims=True)


def test_each_phrase_is_embedded_once_whatever_its_case():
    embedder = CountingEmbedder()
    book = PhraseBook(embedder)
    first = book.vectors(["Red  chair", "desk", "red chair"])
    second = book.vectors(["desk", "red chair"])
    assert embedder.asked == ["red chair", "desk"]
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(second, first[[1, 0]])
    assert np.allclose(np.linalg.norm(first, axis=1), 1.0)


def test_without_an_embedder_it_names_what_is_missing():
    book = PhraseBook()
    book.add(["desk"], np.array([[3.0, 4.0]]), "m")
    with pytest.raises(MissingPhrases) as error:
        book.vectors(["desk", "chair", "mug", "chair"])
    assert error.value.phrases == ("chair", "mug")
    assert "'chair'" in str(error.value)
    book.add(error.value.phrases, np.eye(2), "m")
    assert np.allclose(book.vectors(["desk", "chair"]), [[0.6, 0.8], [1.0, 0.0]])


def test_the_least_recently_used_goes_first():
    book = PhraseBook(capacity=2)
    book.add(["a", "b"], np.eye(2), "m")
    book.vectors(["a"])
    book.add(["c"], np.array([[1.0, 1.0]]), "m")
    assert book.missing(["a", "b", "c"]) == ("b",)
    assert len(book) == 2


def test_another_model_starts_anew():
    book = PhraseBook()
    book.add(["a"], np.eye(2)[:1], "old")
    book.add(["b"], np.eye(3)[:1], "new")
    assert book.missing(["a", "b"]) == ("a",)
    assert book.model == "new"


@pytest.mark.parametrize("vectors", [np.zeros((1, 3)), np.full((1, 3), np.nan), np.ones((2, 3)), np.ones(3)])
def test_vectors_without_direction_or_of_another_count_are_refused(vectors):
    book = PhraseBook()
    with pytest.raises(ValueError, match=r"length|need"):
        book.add(["a"], vectors, "m")
    assert len(book) == 0


def test_more_phrases_than_fit_are_refused_rather_than_wrong():
    with pytest.raises(MissingPhrases):
        PhraseBook(CountingEmbedder(), capacity=2).vectors(["a", "b", "c"])


def test_threads_share_one_book():
    book = PhraseBook(CountingEmbedder(), capacity=50)
    expected = {f"phrase {i}": CountingEmbedder().embed([f"phrase {i}"])[0] for i in range(20)}
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(100):
            phrase = f"phrase {rng.integers(20)}"
            if not np.allclose(book.vectors([phrase])[0], expected[phrase]):
                failures.append(phrase)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
