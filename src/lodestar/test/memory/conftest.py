from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for memory_fakes
sys.path.insert(0, str(Path(__file__).parents[1] / "models"))  # for chat_server

import memory_fakes as fakes

from lodestar.memory.config import StoreConfig
from lodestar.memory.store import MemoryStore


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """Return the small office, toured once per file; tests must not change it."""
    import answer_world

    tour = answer_world.toured_office(tmp_path_factory.mktemp("office"))
    yield tour
    tour.close()


@pytest.fixture
def config(tmp_path: Path) -> StoreConfig:
    return StoreConfig(
        folder=str(tmp_path / "memory"), dimension=fakes.DIMENSION, retry=0.05, flush_interval=0.02
    )


@pytest.fixture
def milvus() -> fakes.FakeMilvus:
    return fakes.FakeMilvus()


@pytest.fixture
def on_server(config: StoreConfig, monkeypatch: pytest.MonkeyPatch) -> StoreConfig:
    monkeypatch.setattr("lodestar.memory.milvus_copy.STORE_SETTLE", 0.0)
    return replace(config, backend="milvus", uri="http://nowhere:1")


@pytest.fixture(params=["sqlite", "milvus"])
def store(
    request, config: StoreConfig, on_server: StoreConfig, milvus: fakes.FakeMilvus
) -> Iterator[MemoryStore]:
    chosen = config if request.param == "sqlite" else on_server
    with MemoryStore.open(chosen, fakes.embed, milvus=milvus) as opened:
        yield opened
