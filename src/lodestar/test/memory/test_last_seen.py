"""Tests of the objects' last seen places, and of places that were found empty since."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.config import LastSeenConfig
from lodestar.memory.events import Place, SceneChange, remember_change
from lodestar.memory.last_seen import LAST_SEEN_MOVER_AGE, LastSeenPlaces
from lodestar.memory.records import WALL_TIME, EventKind, Memory, Primitive
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState, SceneDelta

GRID = OccupancyGrid2D(np.zeros((100, 100), np.int8), 0.1, (-5.0, -5.0))
SIZE = np.full(3, 0.2)


def mug(place=(2.0, 0.0, 0.4), identity=7, label="mug", caption="red mug", size=SIZE):
    return Primitive(identity, label, np.array(place, float), np.array(size, float), caption, 400)


def memory(*things, identity=1, end=3.0, **fields):
    return Memory(identity, "words", end - 3.0, end, np.zeros(3), primitives=things, **fields)


def change(kind, thing, stamp, **fields):
    return remember_change(SceneChange(kind, stamp, thing, thing.caption, **fields), Place(np.zeros(3)))


def recall(places, *memories):
    """Add the memories of a former session."""
    for one in memories:
        places.take(one, former=True)


def scene(*entities):
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, entities))
    return mirror


def entity(thing, state=EntityState.ACTIVE, last_seen=0.0, identity=50):
    half = thing.size / 2.0
    return Entity(
        identity, thing.label, thing.caption, thing.centre, np.eye(3), thing.centre - half, thing.centre + half,
        state=state, last_seen=last_seen,
    )  # fmt: skip


EMPTY = scene()


def camera(x=0.0, y=0.0, yaw=0.0):
    return planar_transform(x, y, yaw, 0.45) @ BODY_FROM_OPTICAL


@pytest.fixture
def places():
    return LastSeenPlaces(LastSeenConfig())


def look(places, seconds=3, pose=None, mirror=EMPTY, grid=GRID, start=100.0):
    pose = camera() if pose is None else pose
    return [place for i in range(seconds) for place in places.look(start + i, pose, grid, mirror)]


def test_a_thing_that_the_scene_does_not_have_is_told_with_its_place_and_time(places):
    places.take(memory(mug()))
    (place,) = places.places(EMPTY)
    assert (place.stamp, place.thing.caption) == (3.0, "red mug")
    assert place.thing.centre == pytest.approx((2.0, 0.0, 0.4))


def test_a_later_sight_renews_the_place_and_another_place_is_another_one(places):
    places.take(memory(mug(), end=3.0))
    places.take(memory(mug((2.1, 0.0, 0.4)), end=9.0))
    assert [place.stamp for place in places.places(EMPTY)] == [9.0]
    places.take(memory(mug((-2.0, 0.0, 0.4), identity=8), end=12.0))
    assert [place.stamp for place in places.places(EMPTY)] == [12.0, 9.0], "the newest first"


def test_a_thing_of_this_session_is_at_one_place_only(places):
    places.take(memory(mug()))
    places.take(memory(mug((-2.0, 0.0, 0.4)), end=60.0))
    (place,) = places.places(EMPTY)
    assert place.thing.centre[0] == -2.0


def test_ids_of_former_sessions_are_no_names(places):
    recall(places, memory(mug()), memory(mug((-2.0, 0.0, 0.4)), identity=2))
    assert len(places.places(EMPTY)) == 2
    places.take(memory(mug((0.0, 3.0, 0.4))._replace(label="plant", caption="plant")))
    assert len(places.places(EMPTY)) == 3, "the id 7 is a plant's now, and the mugs stay where they were"


def test_what_the_scene_has_there_is_its_own_affair(places):
    places.take(memory(mug()))
    assert places.places(scene(entity(mug()))) == ()
    cup = mug()._replace(label="cup")
    assert places.places(scene(entity(cup))) == (), "a wider noun is the same thing"
    plate = mug()._replace(label="plate", caption="plate")
    assert len(places.places(scene(entity(plate)))) == 1
    assert len(places.places(scene(entity(mug((2.0, 1.5, 0.4)))))) == 1, "another mug, elsewhere"


def test_what_the_scene_gave_up_after_the_sight_is_not_told(places):
    places.take(memory(mug(), end=100.0))
    assert places.places(scene(entity(mug(), EntityState.ARCHIVED, last_seen=99.0))) == ()
    assert len(places.places(scene(entity(mug(), EntityState.ARCHIVED, last_seen=10.0)))) == 1


def test_a_place_that_was_looked_at_for_a_while_without_the_thing_is_empty_and_told_once(places):
    recall(places, memory(mug()))
    assert look(places, 1) == []
    (gone,) = look(places, 4, start=101.0)
    assert gone.thing.caption == "red mug"
    assert places.places(EMPTY) == ()


@pytest.mark.parametrize(
    ("pose", "why"),
    [
        (camera(yaw=np.pi), "it looks the other way"),
        (camera(-3.0), "it is too far away"),
        (camera(1.85), "it is too near to fit into the image"),
        (camera() * np.nan, "the pose is none"),
    ],
)
def test_a_look_elsewhere_shows_nothing(places, pose, why):
    recall(places, memory(mug()))
    look(places, 5, pose)
    assert len(places.places(EMPTY)) == 1, why


def test_a_small_thing_is_missed_only_from_near(places):
    recall(places, memory(mug(size=(0.1, 0.1, 0.1))))
    look(places, 5)
    assert len(places.places(EMPTY)) == 1, "from 2 m it may be there and not be seen"
    look(places, 5, camera(0.8), start=200.0)
    assert places.places(EMPTY) == ()


def test_a_look_through_a_wall_shows_nothing(places):
    cells = np.zeros((100, 100), np.int8)
    cells[:, 60] = 100
    recall(places, memory(mug()))
    look(places, 5, grid=replace(GRID, cells=cells))
    assert len(places.places(EMPTY)) == 1


def test_looks_within_a_second_are_one_and_a_clock_that_is_set_back_goes_on(places):
    recall(places, memory(mug()))
    for i in range(20):
        places.look(100.0 + 0.05 * i, camera(), GRID, EMPTY)
    assert len(places.places(EMPTY)) == 1
    look(places, 3, start=5.0)
    assert places.places(EMPTY) == ()


def test_a_thing_that_is_there_makes_no_place_empty(places):
    recall(places, memory(mug()))
    assert look(places, 6, mirror=scene(entity(mug()))) == []
    assert len(places.places(EMPTY)) == 1


def test_a_thing_that_is_seen_again_at_an_empty_place_is_there_again(places):
    recall(places, memory(mug()))
    look(places)
    places.take(memory(mug(), end=200.0))
    assert [place.stamp for place in places.places(EMPTY)] == [200.0]


def test_events_empty_places_also_where_clocks_of_sessions_disagree(places):
    first = memory(mug(), identity=1, end=5000.0)
    gone = replace(change(EventKind.VANISHED, mug(), 20.0), id=2)
    recall(places, first, gone)
    assert places.places(EMPTY) == (), "the later memory counts, though its clock says less"


def test_a_move_empties_the_place_before_and_makes_one_after(places):
    recall(places, memory(mug(identity=3)))
    there = mug((-2.0, 0.0, 0.4), identity=9)
    places.take(change(EventKind.MOVED, there, 50.0, before=np.array([2.0, 0.0, 0.4])))
    (place,) = places.places(EMPTY)
    assert place.thing.centre[0] == -2.0


def test_the_time_of_a_former_session_counts_only_on_a_wall_clock(places):
    recall(places, memory(mug(), end=5000.0))
    assert places.places(EMPTY)[0].stamp is None
    recall(places, memory(mug((0.0, 3.0, 0.4)), identity=2, end=WALL_TIME + 5.0))
    assert places.places(EMPTY)[0].stamp == WALL_TIME + 5.0


def test_no_more_places_than_allowed_are_kept_and_told_and_the_oldest_go_first(monkeypatch):
    monkeypatch.setattr("lodestar.memory.last_seen.LAST_SEEN_MAX_PLACES", 5)
    monkeypatch.setattr("lodestar.memory.last_seen.LAST_SEEN_TOLD", 2)
    places = LastSeenPlaces(LastSeenConfig())
    for i in range(9):
        places.take(memory(mug((float(i), 0.0, 0.4), identity=100 + i), end=10.0 * (i + 1)))
    assert len(places) == 5
    assert [place.thing.centre[0] for place in places.places(EMPTY)] == [8.0, 7.0]


def test_walls_and_boxes_that_make_no_sense_are_no_places(places):
    places.take(memory(mug()._replace(label="wall"), mug()._replace(label="")))
    places.take(memory(mug((np.nan, 0.0, 0.0)), mug(size=(-1.0, 0.1, 0.1))))
    assert len(places) == 0


def test_a_correction_of_the_map_moves_the_places_and_the_next_look_counts_anew(places):
    recall(places, memory(mug()))
    look(places, 1)
    places.move(MapCorrection(planar_transform(0.0, 1.0, np.pi / 2)))
    (place,) = places.places(EMPTY)
    assert place.thing.centre == pytest.approx((0.0, 3.0, 0.4))
    assert place.eye == pytest.approx((0.0, 1.0, 0.0))
    assert look(places, 1, camera(0.0, 1.0, np.pi / 2), start=200.0) == []
    places.clear()
    assert len(places) == 0


def test_a_closed_loop_moves_a_place_as_of_when_it_was_seen(places):
    moves = np.array([np.eye(4), planar_transform(0.0, 0.5, 0.0), planar_transform(0.0, 1.0, 0.0)])
    stamps = np.array([0.0, 50.0, 100.0])
    correction = MapCorrection(moves[-1], np.arange(3), stamps, np.zeros((3, 3)), moves)
    for number, end in enumerate((10.0, 60.0, 100.0)):
        places.take(memory(mug((2.0 * number, 0.0, 0.4), identity=20 + number), end=end))
    places.move(correction)
    found = sorted(
        (float(p.thing.centre[0]), round(float(p.thing.centre[1]), 6)) for p in places.places(EMPTY)
    )
    assert found == [(0.0, 0.0), (2.0, 0.5), (4.0, 1.0)]


def test_a_place_of_a_person_is_over_after_a_while_and_one_that_left_is_no_event():
    places = LastSeenPlaces(LastSeenConfig())
    walker = mug((2.0, 0.0, 0.9), label="person", caption="a person", size=(0.4, 0.4, 1.7))
    places.take(memory(walker, mug((2.0, 2.0, 0.4), identity=8)))
    places.look(100.0, camera(yaw=np.pi), GRID, EMPTY)
    assert {one.thing.label for one in places.places(EMPTY)} == {"person", "mug"}
    places.look(100.0 + LAST_SEEN_MOVER_AGE, camera(yaw=np.pi), GRID, EMPTY)
    assert {one.thing.label for one in places.places(EMPTY)} == {"mug"}
    former = LastSeenPlaces(LastSeenConfig())
    recall(former, memory(walker))
    assert [one for k in range(6) for one in former.look(float(k), camera(), GRID, EMPTY)] == []
