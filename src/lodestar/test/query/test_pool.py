"""Tests that a pool that follows a changing scene equals a newly built one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_builders import room, thing

from lodestar.language.grammar import parse_query
from lodestar.models.phrases import PhraseBook
from lodestar.query.pool import Pool
from lodestar.query.verdict import PoolCache, prepare, score_pool
from lodestar.scene.records import Entity, EntityState, Region

BOOK = PhraseBook()
GRAPHS = parse_query("the red chair next to the desk")
ARRAYS = (
    "presence",
    "fronts",
    "colors",
    "room_low",
    "room_high",
    "views",
    "region_of",
    "described",
    "middles",
)


def contents(pool: Pool) -> dict[str, object]:
    """Return the parts of a pool that queries read, without the numbering of its unique values."""
    return {
        "ids": [e.id for e in pool.entities],
        "boxes": np.hstack([pool.boxes.low, pool.boxes.high]).tolist(),
        "kinds": [pool.kinds.pairs[i] for i in pool.kind_of],
        "looks": [pool.looks.pairs[i] for i in pool.look_of],
        "unique": (sorted(pool.kinds.pairs), sorted(pool.looks.pairs)),
        **{name: repr(getattr(pool, name)) for name in ARRAYS},
    }


def changed(entities: dict[int, Entity], rng: np.random.Generator) -> dict[int, Entity]:
    """Return the scene after random objects were moved, renamed, archived, lost or found, in any order."""
    after = dict(entities)
    for identity in rng.choice(list(after), min(3, len(after)), replace=False).tolist():
        one = after[identity]
        match int(rng.integers(5)):
            case 0:
                shift = rng.uniform(-1, 1, 3)
                after[identity] = replace(one, box_min=one.box_min + shift, box_max=one.box_max + shift)
            case 1:
                after[identity] = replace(one, caption=str(rng.choice(["green chair", "white mug", "lamp"])))
            case 2:
                after[identity] = replace(
                    one, state=EntityState(int(rng.integers(len(EntityState)))), region_id=2
                )
            case 3:
                del after[identity]
            case 4:
                number = int(rng.integers(100))
                after[number] = thing(number, "chair", "red chair", (number, 0, 0), (number + 0.5, 0.5, 0.9))
    order = rng.permutation(list(after))
    return {int(i): after[int(i)] for i in order}


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_pool_that_follows_changes_equals_a_new_one(seed):
    rng, pools, entities = np.random.default_rng(seed), PoolCache(), room()
    regions = {2: Region(2, "kitchen", 1.0, 9.0, np.zeros(2))}
    for _ in range(5):
        kept, new = pools.of(entities, BOOK, None, regions), prepare(entities, BOOK, None, regions)
        assert contents(kept) == contents(new)
        assert score_pool(GRAPHS, kept) == score_pool(GRAPHS, new)
        entities = changed(entities, rng)


def test_what_has_not_changed_is_not_read_again():
    entities = room()
    before = prepare(entities, BOOK)
    entities[1] = replace(entities[1], box_max=entities[1].box_max + 1.0)
    after = before.renewed(list(entities.values()))
    # unchanged objects keep their cached scores
    assert after.kinds is before.kinds and after.looks is before.looks
    assert after.boxes.high[0] == pytest.approx(entities[1].box_max)
    assert np.array_equal(after.boxes.high[1:], before.boxes.high[1:])


def test_a_pool_of_a_scene_that_became_empty():
    pools = PoolCache()
    pools.of(room(), BOOK)
    assert score_pool(GRAPHS, pools.of({}, BOOK)) == []
    assert len(pools.of(room(), BOOK)) == len(room())
