"""The memory's store on a real Milvus server, which goes away in mid-write and comes back."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory.config import StoreConfig
from lodestar.memory.milvus_index import MilvusIndex
from lodestar.memory.records import Memory
from lodestar.memory.requests import EVERY_ROBOT, Request
from lodestar.memory.store import MemoryStore
from lodestar_eval.milvus_server import NoServer, milvus_server, server_python

ROOT = Path(__file__).resolve().parents[3]
DIMENSION = 32

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture(scope="module")
def python() -> Path:
    try:
        return server_python(ROOT)
    except NoServer as error:
        pytest.skip(str(error))


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).normal(size=DIMENSION)


def add(store: MemoryStore, numbers: range) -> None:
    for i in numbers:
        memory = Memory(0, f"thing {i}", 3.0 * i, 3.0 * i + 3.0, np.array([i % 10, i // 10, 0.0], float))
        store.add(memory, vector(i))


def test_a_server_that_goes_away_and_comes_back_has_everything(python, tmp_path):
    config = StoreConfig(
        folder=str(tmp_path / "memory"), dimension=DIMENSION, cache="off", retry=0.5, settle=6.0, exact_below=10,
        flush_batch=50, timeout=5.0,
    )  # fmt: skip
    with milvus_server(python, tmp_path / "server") as (uri, _):
        port = int(uri.rpartition(":")[2])
        store = MemoryStore.open(replace(config, uri=uri))
        add(store, range(200))
        assert store.flush(120.0), store.statistics().problems
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline and store._worker._upkeep._settling:
            store.flush(1.0)
        for request in ({}, {"window": (390.0, 420.0)}, {"near": (3.0, 13.0), "radius": 4.0}):
            found = store.search(Request(vectors=vector(133), limit=3, **request))
            assert found[0].memory.text == "thing 133" and found[0].score == pytest.approx(1.0, abs=1e-3)
        assert store.statistics().problems == {}
        fleet = store.search(Request(vectors=vector(77), robots=EVERY_ROBOT, limit=2))
        assert fleet[0].memory.text == "thing 77"
        add(store, range(200, 230))
    add(store, range(230, 300))
    assert not store.flush(10.0)
    assert "check the server" in store.statistics().problems["milvus"]
    assert store.search(Request(vectors=vector(5), limit=1))[0].memory.text == "thing 5"
    assert store.search(Request(vectors=vector(299), limit=1))[0].memory.text == "thing 299"
    with milvus_server(python, tmp_path / "server", port):
        deadline = time.monotonic() + 120.0
        while not store.flush(20.0) and time.monotonic() < deadline:
            pass
        assert store.search(Request(vectors=vector(133), limit=1))[0].memory.text == "thing 133"
        assert store.statistics().problems == {}
        store.close()
        index = MilvusIndex(replace(config, uri=uri), tmp_path)
        index.connect()
        assert len(index.listed()) == 300
        index.close()
