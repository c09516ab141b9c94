"""Tests of the memory's store on a real Milvus server that restarts during writes and is shared by a fleet."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory.config import StoreConfig
from lodestar.memory.milvus_index import Entry, MilvusIndex
from lodestar.memory.records import Memory
from lodestar.memory.requests import EVERY_ROBOT, Order, Request
from lodestar.memory.store import MemoryStore
from lodestar_eval.milvus_server import NoServer, milvus_server, server_python

ROOT = Path(__file__).resolve().parents[3]
DIMENSION = 32
PATIENCE = 120.0  # seconds; the server takes 7 s to start on an idle machine, 30 s on a busy one

try:
    PYTHON = server_python(ROOT)
except NoServer as error:
    pytest.skip(str(error), allow_module_level=True)
pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture
def config(tmp_path, monkeypatch) -> StoreConfig:
    """Return the store's configuration. Milvus answers for settled records; others are read from the database."""
    for name, value in {
        "milvus_copy.STORE_SETTLE": 6.0, "milvus_copy.STORE_FLUSH_BATCH": 50, "milvus_index.STORE_TIMEOUT": 5.0,
    }.items():  # fmt: skip
        monkeypatch.setattr(f"lodestar.memory.{name}", value)
    return StoreConfig(folder=str(tmp_path / "memory"), dimension=DIMENSION, retry=0.5)


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).normal(size=DIMENSION)


def add(store: MemoryStore, numbers: range, word: str = "thing") -> None:
    for i in numbers:
        place = np.array([i % 10, i // 10, 0.0], float)
        store.add(Memory(0, f"{word} {i}", 3.0 * i, 3.0 * i + 3.0, place), vector(i))


def many(config: StoreConfig, count: int) -> None:
    """Write records of another robot in one batch."""
    index = MilvusIndex(config, Path(config.folder))
    index.connect()
    vectors = np.random.default_rng(9).normal(size=(count, DIMENSION)).astype(np.float32)
    for begin in range(0, count, 2000):
        entries = []
        for i in range(begin, min(begin + 2000, count)):
            memory = Memory(i + 1, f"bone {i}", 3.0 * i, 3.0 * i + 3.0, np.zeros(3), robot=config.robot)
            entries.append(Entry(f"k9:{i + 1}", memory, vectors[i]))
        index.upsert(entries)
    index.seal()
    index.close()


def wait(until: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < ends
        time.sleep(0.2)


def settled(store: MemoryStore) -> bool:
    """Return whether Milvus lists all records, so that it answers alone."""
    return store.statistics().pending == 0 and not store._index._settling


def best(store: MemoryStore, number: int, **more) -> str:
    found = store.search(Request(vectors=vector(number), limit=3, **more))
    assert found[0].score == pytest.approx(1.0, abs=1e-3)
    return found[0].memory.text


def test_a_server_that_goes_away_and_comes_back_has_everything(tmp_path, config):
    with milvus_server(PYTHON, tmp_path / "server") as (uri, _):
        port = int(uri.rpartition(":")[2])
        store = MemoryStore.open(replace(config, backend="milvus", uri=uri))
        add(store, range(200))
        wait(lambda: store.flush(20.0))  # the server answers only some seconds after it reports that it runs
        wait(lambda: settled(store))  # from here on, Milvus answers without the database
        for request in ({}, {"window": (390.0, 420.0)}, {"near": (3.0, 13.0), "radius": 4.0}):
            assert best(store, 133, **request) == "thing 133"
        assert store.statistics().problems == {}
        assert best(store, 77, robots=EVERY_ROBOT) == "thing 77"
        add(store, range(200, 230))
    add(store, range(230, 300))
    assert not store.flush(10.0)
    assert "check the server" in store.statistics().problems["milvus"]
    assert best(store, 5) == "thing 5" and best(store, 299) == "thing 299"
    assert "Milvus" in store.statistics().problems["search"]
    with milvus_server(PYTHON, tmp_path / "server", port):
        wait(lambda: store.flush(20.0))
        assert store.statistics().problems == {}
        wait(lambda: settled(store))
        for number in (5, 133, 215, 299):
            assert best(store, number) == f"thing {number}"
        assert store.statistics().problems == {}
        store.close()
        index = MilvusIndex(replace(config, backend="milvus", uri=uri), tmp_path)
        index.connect()
        assert index.listed() == {f"{store.name}:{i + 1}" for i in range(300)}
        index.close()


def test_a_server_that_restarted_while_nothing_was_written_answers_again(tmp_path, config):
    """Milvus 2.3 unloads its collections at start-up."""
    with milvus_server(PYTHON, tmp_path / "server") as (uri, _):
        port = int(uri.rpartition(":")[2])
        store = MemoryStore.open(replace(config, backend="milvus", uri=uri))
        add(store, range(60))
        wait(lambda: store.flush(20.0))  # the server answers only some seconds after it reports that it runs
        wait(lambda: settled(store))
    with milvus_server(PYTHON, tmp_path / "server", port), store:
        assert best(store, 33) == "thing 33"
        wait(lambda: best(store, 33) == "thing 33" and store.statistics().problems == {})


def test_two_robots_share_a_collection_and_neither_answers_for_the_other(tmp_path, config):
    with milvus_server(PYTHON, tmp_path / "server") as (uri, _):
        spot, go2 = (
            MemoryStore.open(
                replace(config, backend="milvus", uri=uri, robot=name, folder=str(tmp_path / name))
            )
            for name in ("spot", "go2")
        )
        with spot, go2:
            add(spot, range(100), "crate")
            add(go2, range(50, 150), "mug")
            wait(lambda: spot.flush(20.0) and go2.flush(20.0))
            wait(lambda: settled(spot) and settled(go2))
            for store, word in ((spot, "crate"), (go2, "mug")):
                for request in ({"vectors": vector(75)}, {"window": (150.0, 300.0)}, {"near": (5.0, 7.0)}):
                    found = store.search(Request(**request, limit=200))
                    assert found and all(hit.memory.text.startswith(word) for hit in found)
            both = spot.search(Request(vectors=vector(75), robots=EVERY_ROBOT, limit=2))
            assert {hit.memory.text for hit in both} == {"crate 75", "mug 75"}
            other = spot.search(Request(window=(150.0, 300.0), robots=("go2",), limit=200))
            assert len(other) == 51 and {hit.memory.robot for hit in other} == {"go2"}
            many(
                replace(config, backend="milvus", uri=uri, robot="k9"), 17_000
            )  # more records than Milvus returns per request
            for order, first in ((Order.NEWEST, 16_999), (Order.OLDEST, 0)):
                found = spot.search(Request(robots=("k9",), order=order, limit=3))
                assert [hit.memory.start for hit in found] == [3.0 * abs(first - k) for k in range(3)]
            go2.forget(go2.mentioning("", (0.0, 1e6)))
            wait(lambda: go2.flush(20.0))
            wait(lambda: not spot.search(Request(vectors=vector(75), robots=("go2",))))
            assert best(spot, 75) == "crate 75" and spot.statistics().records == 100
