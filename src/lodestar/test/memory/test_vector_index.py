"""Tests of vectors in RAM: cosines and memories equal those of a plain computation."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.memory.config import StoreConfig
from lodestar.memory.records import MapName
from lodestar.memory.requests import Request
from lodestar.memory.store import MemoryStore
from lodestar.memory.vector_matrix import VectorMatrix, cosines

import memory_fakes as fakes  # isort: skip


@given(st.integers(0, 2**32 - 1), st.integers(0, 1500), st.integers(1, 4))
def test_cosines_are_those_of_float32(seed, count, queries):
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(count, 24)) * 10.0 ** rng.uniform(-9, 0, (count, 1))).astype(np.float16)
    asked = rng.normal(size=(queries, 24)).astype(np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    rows = rng.permutation(count)[: count // 2]
    expected = (vectors[rows].astype(np.float64) @ asked.T.astype(np.float64)).max(axis=1, initial=-np.inf)
    assert cosines(vectors, rows, asked) == pytest.approx(expected, abs=2e-6)


def test_a_matrix_knows_the_ids_that_it_has():
    matrix = VectorMatrix(3, expected=2)
    matrix.put(np.array([5, 2, 3000]), np.eye(3))
    matrix.remove(2)
    matrix.remove(9999)
    matrix.put(np.array([7]), np.ones((1, 3)))
    assert matrix.identities.tolist() == [5, 7, 3000]


@pytest.mark.parametrize("seed", range(12))
def test_searches_find_what_a_loop_over_all_memories_finds(config: StoreConfig, seed: int) -> None:
    """On two maps, with and without filters, after corrections and forgetting."""
    rng = random.Random(seed)
    with MemoryStore.open(config, fakes.embed) as store:
        for i in range(80):
            place = (rng.uniform(0.0, 9.0), rng.uniform(0.0, 9.0), 0.0)
            things = tuple(rng.randrange(1, 5) for _ in range(rng.randrange(3)))
            one = fakes.memory(f"thing {i}", float(i), place, things)
            on_map = MapName(1 + (rng.random() < seed / 12))
            store.add(replace(one, map=on_map), fakes.embed([one.text])[0] if rng.random() < 0.9 else None)
        store.forget(rng.sample(store.identities(), 5))
        assert store.flush()
        kept = [store.get(i) for i in store.identities()]
        vectors = {m.id: fakes.embed([m.text])[0].astype(np.float16).astype(np.float32) for m in kept}
        for _ in range(20):
            limit, window = rng.randrange(1, 90), (rng.uniform(0.0, 40.0), rng.uniform(40.0, 90.0))
            request = Request(
                phrases=("thing 3", "thing 70"),
                window=rng.choice((None, window)),
                near=rng.choice((None, (4.0, 4.0))),
                entity_ids=rng.choice((frozenset(), frozenset({1, 2}))),
                limit=limit,
            )
            asked = fakes.embed(request.phrases)
            scores = {m.id: (asked @ vectors[m.id]).max() for m in kept if passes(m, request)}
            expected = sorted(scores, key=lambda i: -scores[i])[:limit]
            assert [hit.memory.id for hit in store.search(request)] == expected


def passes(memory, request):
    """Return whether a memory of map 1 passes the filters, by a plain check."""
    inside = request.window is None or (memory.end >= request.window[0] and memory.start <= request.window[1])
    away = 0.0 if request.near is None else np.hypot(*(memory.position[:2] - request.near))
    things = not request.entity_ids or request.entity_ids & set(memory.entity_ids)
    return bool(memory.map == MapName(1) and inside and away <= request.radius and things)
