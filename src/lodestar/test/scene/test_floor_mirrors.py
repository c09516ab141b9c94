"""Property tests of the mirrors of a building and of the robot's floor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.records import UNKNOWN, Building, Floor
from lodestar.mapping.instances.records import Merge
from lodestar.scene.floor_mirrors import FloorMirrors
from lodestar.scene.records import Entity, EntityState, Region, SceneDelta
from lodestar.scene.regions import RegionMap

STOREY = 3.0  # m, height of a storey


def thing(identity: int, height: float, state: EntityState = EntityState.ACTIVE) -> Entity:
    """Return an entity at a fixed x, y."""
    middle = np.array([1.0, 2.0, height])
    return Entity(
        identity, "chair", "chair", middle, np.eye(3) * 0.01, middle - 0.2, middle + 0.2, state=state
    )


def building_of(heights: tuple[float, ...], active: int) -> Building:
    return Building(
        tuple(Floor(i, i - 1, height) for i, height in enumerate(heights, 1)), active=active, since=1.0
    )


def room(identity: int) -> Region:
    return Region(identity, "", 0.0, 9.0, np.zeros(3))


def standing(active: int, floors: int = 2) -> Building:
    return building_of(tuple(STOREY * i for i in range(floors)), active)


deltas = st.builds(
    lambda things, removed, merges: (
        tuple(
            thing(i, z, EntityState.ARCHIVED if gone else EntityState.ACTIVE)
            for i, (z, gone) in things.items()
        ),
        tuple(removed),
        tuple(Merge(one, other) for one, other in merges if one < other),
    ),
    st.dictionaries(st.integers(1, 12), st.tuples(st.floats(-1.0, 9.0), st.booleans()), max_size=4),
    st.lists(st.integers(1, 12), max_size=2),
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), max_size=1),
)
buildings = st.builds(
    lambda heights, active: building_of(tuple(heights), active if active <= len(heights) else UNKNOWN),
    st.lists(st.sampled_from([0.0, 2.9, 3.1, 6.0]), max_size=3, unique=True).map(sorted),
    st.integers(0, 3),
)
pages = st.builds(lambda delta, first: ("page", delta, first), deltas, st.booleans())
steps = st.one_of(
    deltas.map(lambda delta: ("delta", delta, False)), pages, buildings.map(lambda b: ("floors", b, False))
)


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=14), st.booleans())
def test_here_are_the_things_of_the_floor_that_the_robot_is_on_or_has_left(steps, archived: bool) -> None:
    mirrors, stands, revision = FloorMirrors(archived), Building(), 0
    for kind, what, first in steps:
        if kind == "floors":
            before = mirrors.here
            assert mirrors.follow(what) == (mirrors.here is not before)
            stands = what if what.here is not None else stands
            assert mirrors.whole.building is mirrors.here.building is what
        else:
            updated, removed, merges = what
            delta = SceneDelta(1.0, revision + 1, revision, updated, merges, removed)
            if kind == "delta":
                assert mirrors.apply(delta)
            else:
                mirrors.take(delta, first=first)
            revision += 1
        on_floor = {
            i: e for i, e in mirrors.whole.entities.items() if stands.is_here(float(e.mean[2]), e.eye)
        }
        assert mirrors.here.entities == on_floor
        assert (mirrors.here is mirrors.whole) == (not stands.has_others)
        assert mirrors.here.revision == mirrors.whole.revision
        assert all(mirrors.here.resolve(i) == mirrors.whole.resolve(i) for i in range(1, 13))


def test_rooms_of_the_floor_that_was_left_are_no_rooms_here() -> None:
    mirrors, rooms = FloorMirrors(), RegionMap(0.5)
    mirrors.set_regions([room(1)], rooms)
    assert not mirrors.follow(standing(1, 1)) and set(mirrors.here.regions) == {1}
    assert mirrors.follow(standing(2)) and not mirrors.here.regions and mirrors.here.rooms is None
    mirrors.set_regions([room(2)], rooms)
    assert not mirrors.follow(standing(UNKNOWN)) and set(mirrors.here.regions) == {2}
    assert not mirrors.follow(standing(2)) and set(mirrors.here.regions) == {2}
    assert mirrors.follow(standing(1)) and not mirrors.here.regions


def test_rooms_that_came_before_the_word_of_their_floor_stay() -> None:
    mirrors, rooms = FloorMirrors(), RegionMap(0.5)
    mirrors.set_regions([room(2)], rooms)
    assert mirrors.follow(standing(2), keeps_rooms=True)
    assert set(mirrors.here.regions) == {2} and mirrors.here.rooms is rooms


def test_a_gap_in_the_stream_changes_neither() -> None:
    mirrors = FloorMirrors()
    mirrors.follow(standing(2))
    assert mirrors.apply(SceneDelta(1.0, 1, 0, (thing(1, 4.0), thing(2, 1.0))))
    assert not mirrors.apply(SceneDelta(1.0, 4, 3, (thing(3, 4.0),)))
    assert set(mirrors.here.entities) == {1} and set(mirrors.whole.entities) == {1, 2}
    mirrors.clear()
    assert mirrors.here is mirrors.whole and not mirrors.here.entities
    assert mirrors.follow(replace(standing(1), note="again"))
