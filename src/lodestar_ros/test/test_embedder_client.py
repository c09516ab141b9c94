"""Tests of the remote phrase book: a worker of a closing node does not wait for the embedder."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from lodestar.models.phrases import MissingPhrases
from lodestar_ros.embedder_client import RemotePhraseBook


def test_a_wait_ends_when_the_node_closes():
    book, ended = RemotePhraseBook(patience=30.0), []
    book._client = SimpleNamespace(want=lambda phrases: None)

    def ask():
        with pytest.raises(MissingPhrases):
            book.vectors(["a mug"])
        ended.append(time.monotonic())

    worker = threading.Thread(target=ask, daemon=True)
    worker.start()
    time.sleep(0.1)
    assert not ended
    book.hurry()
    worker.join(10.0)
    ask()
    assert len(ended) == 2
