"""Tests of boxes in plan against a search of all, and of a mirror that finds its entities by place."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.instances.records import Merge
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.place_index import BoxIndex
from lodestar.scene.records import Entity, EntityState, SceneDelta

corner = st.floats(-20.0, 20.0)
side = st.floats(0.0, 40.0)  # up to boxes that fill very many cells
boxes = st.tuples(corner, corner, side, side)


def corners_of(box) -> tuple[np.ndarray, np.ndarray]:
    low = np.array([box[0], box[1], 0.0])
    return low, low + np.array([box[2], box[3], 1.0])


def touch(one, other) -> bool:
    (low, high), (a, b) = one, other
    return bool((low[:2] <= b[:2]).all() and (a[:2] <= high[:2]).all())


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["put", "drop"]), st.integers(1, 12), boxes), max_size=40), boxes)
def test_the_index_finds_every_box_that_touches(steps, wanted):
    index, known = BoxIndex(), {}
    for what, identity, box in steps:
        if what == "put":
            known[identity] = corners_of(box)
            index.put(identity, *known[identity])
        else:
            known.pop(identity, None)
            index.drop(identity)
    found = index.near(*corners_of(wanted))
    assert found == sorted(set(found)) and set(found) <= known.keys()
    assert {i for i, box in known.items() if touch(box, corners_of(wanted))} <= set(found)


def test_a_box_that_is_not_finite_may_be_anywhere():
    index, nowhere = BoxIndex(), np.array([np.nan, 0.0, 0.0])
    index.put(1, nowhere, nowhere)
    index.put(2, np.zeros(3), np.ones(3))
    assert index.near(np.full(3, 50.0), np.full(3, 51.0)) == [1] and index.near(nowhere, nowhere) == [1, 2]
    index.put(1, np.zeros(3), np.ones(3))
    assert index.near(np.full(3, 50.0), np.full(3, 51.0)) == []


def entity(identity: int, box, state: EntityState) -> Entity:
    low, high = corners_of(box)
    return Entity(identity, "box", "box", (low + high) / 2.0, np.eye(3), low, high, state=state)


changes = st.lists(st.tuples(st.integers(1, 9), boxes, st.sampled_from(list(EntityState))), max_size=6)
deltas = st.lists(st.tuples(changes, st.sets(st.integers(1, 9), max_size=2), st.booleans()), max_size=8)


@settings(max_examples=80, deadline=None)
@given(deltas, st.booleans(), boxes)
def test_a_mirror_finds_by_place_what_a_search_of_all_finds(steps, archived, wanted):
    mirror, (low, high) = SceneMirror(archived), corners_of(wanted)
    for number, (updated, removed, merges) in enumerate(steps):
        things = tuple(entity(*change) for change in updated)
        merged = (Merge(*sorted(removed)),) if merges and len(removed) == 2 else ()
        mirror.take(
            SceneDelta(
                float(number), number + 1, number, things, merged, tuple(removed), map_id=1, session_id="a"
            ),
            first=number == 5,
        )
        found = {one.id: one for one in mirror.near(low, high)}
        assert all(mirror.entities[identity] is one for identity, one in found.items())
        touching = {i for i, one in mirror.entities.items() if touch((one.box_min, one.box_max), (low, high))}
        assert touching <= found.keys()
