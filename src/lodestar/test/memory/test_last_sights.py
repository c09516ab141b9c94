"""Tests of the objects' last sights in the whole store, including old ones."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from lodestar.memory.config import LastSeenConfig, StoreConfig
from lodestar.memory.last_seen import LastSeenPlaces
from lodestar.memory.records import SEEN, EventKind, MapName, Memory
from lodestar.memory.requests import Request
from lodestar.memory.store import MemoryStore
from lodestar.scene.mirror import SceneMirror

import memory_fakes as fakes  # isort: skip

_KINDS = (None, None, None, EventKind.APPEARED, EventKind.VANISHED, EventKind.TOLD, EventKind.DECISION)


def random_life(rng: random.Random, count: int) -> list[Memory]:
    """Return memories of objects that stand still, come and vanish, in three sessions and on two maps."""
    life = []
    for i in range(count):
        things = tuple(rng.choice((0, rng.randrange(1, 9))) for _ in range(rng.randrange(4)))
        kind = rng.choice(_KINDS)
        one = fakes.memory(f"thing {i}", float(i), things=things, event=kind, session=f"s{3 * i // count}")
        placed = tuple(
            thing._replace(centre=np.array([4.0 * thing.entity_id, 0.0, 0.5])) for thing in one.primitives
        )
        life.append(replace(one, primitives=placed, map=MapName(1 + (rng.random() < 0.1))))
    return life


def plain_last_sights(memories: list[Memory], limit: int) -> list[int]:
    """Return the ids of the last sights by a plain loop over all memories."""
    last: dict[tuple[str, int, int], list[int]] = {}
    for memory in memories:
        for thing in {p.entity_id for p in memory.primitives}:
            found = last.setdefault((memory.session, thing, 0 if thing else memory.id), [0, 0])
            if memory.event in SEEN or memory.event is EventKind.VANISHED:
                found[memory.event is EventKind.VANISHED] = memory.id
    newest = sorted((-max(pair), key, pair) for key, pair in last.items() if any(pair))[:limit]
    return sorted({identity for _, _, pair in newest for identity in pair if identity})


@pytest.mark.parametrize("seed", range(20))
def test_last_sights_are_those_of_a_loop_over_everything(config: StoreConfig, seed: int) -> None:
    rng = random.Random(seed)
    with MemoryStore.open(config, fakes.embed) as store:
        for memory in random_life(rng, 120):
            store.add(memory)
        for identity in rng.sample(store.identities(), 10):
            store.correct(identity, "corrected") if rng.random() < 0.5 else store.forget([identity])
        kept = [hit.memory for hit in store.search(Request(limit=1000))]
        kept.sort(key=lambda memory: memory.id)
        for limit in (1, 5, 1000):
            found = store.last_sights(limit)
            assert [memory.id for memory in found] == plain_last_sights(kept, limit)
        whole, short = (LastSeenPlaces(LastSeenConfig()) for _ in range(2))
        for memory in kept:
            whole.take(memory, former=True)
        for memory in store.last_sights(1000):
            short.take(memory, former=True)
        told = [
            [(p.thing.label, *p.thing.centre) for p in places.places(SceneMirror())]
            for places in (whole, short)
        ]
        assert sorted(told[0]) == sorted(told[1])
