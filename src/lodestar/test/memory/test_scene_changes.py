"""Tests of scene events: objects that appeared at looked-at places, moved, or vanished."""

from __future__ import annotations

import math

import numpy as np
import pytest
from memory_builders import SceneFeed, entity

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.instances.records import Merge
from lodestar.memory.config import EventConfig
from lodestar.memory.looked_places import LookedPlaces
from lodestar.memory.records import EventKind
from lodestar.memory.scene_changes import SceneChanges
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState

CONFIG = EventConfig()


def camera(x=0.0, y=0.0, yaw=0.0):
    return planar_transform(x, y, yaw, 0.5) @ BODY_FROM_OPTICAL


def open_floor(wall_at=None):
    cells = np.zeros((100, 100), np.int8)
    if wall_at is not None:
        cells[:, int((wall_at + 5.0) * 10)] = 100
    return OccupancyGrid2D(cells, 0.1, np.array([-5.0, -5.0]))


class Stage:
    """Applies deltas to a mirror and collects the resulting changes."""

    def __init__(self):
        self.mirror = SceneMirror()
        self.looks = LookedPlaces(CONFIG)
        self.changes = SceneChanges(self.mirror, self.looks)
        self._feed = SceneFeed(self.mirror)

    def __call__(self, *updated, stamp=0.0, **changes):
        return self.changes.take(self._feed(*updated, stamp=stamp, **changes))

    def look(self, *stamps, **pose):
        for stamp in stamps:
            self.looks.look(stamp, camera(**pose), open_floor())


@pytest.fixture
def stage():
    return Stage()


def kinds(changes):
    return [(change.kind, change.thing.entity_id) for change in changes]


def mug(x=2.0, seen=0.0, **changes):
    return entity(1, "mug", (x, 0, 0.5), caption="red mug", first_seen=seen, **changes)


# --- appeared -----------------------------------------------------------------------------------------------


def test_a_thing_appears_where_the_robot_had_looked_before(stage):
    stage.look(0.0, 1.0, 2.0)
    assert stage(mug(seen=60.0), stamp=60.0) == []
    (change,) = stage(stamp=66.0)
    assert (change.kind, change.name, change.stamp) == (EventKind.APPEARED, "red mug", 60.0)
    assert stage(stamp=80.0) == []


@pytest.mark.parametrize(
    "looks, pose",
    [
        ((), {}),
        ((0.0, 1.0), {}),
        ((0.0, 0.2, 0.4, 0.6), {}),
        ((0.0, 1.0, 2.0), {"yaw": math.pi}),
        ((0.0, 1.0, 2.0), {"x": -4.0}),
    ],
    ids=["never", "too few", "within a second", "the other way", "from too far"],
)
def test_a_thing_at_a_place_that_was_not_looked_at_is_only_found(stage, looks, pose):
    stage.look(*looks, **pose)
    stage(mug(seen=60.0), stamp=60.0)
    assert stage(stamp=70.0) == []


def test_a_thing_seen_at_the_first_looks_did_not_appear(stage):
    stage.look(0.0, 1.0, 2.0)
    stage(mug(seen=5.0), stamp=5.0)
    assert stage(stamp=20.0) == []


def test_a_wall_hides_what_is_behind_it():
    looks = LookedPlaces(CONFIG)
    for stamp in (0.0, 1.0, 2.0):
        looks.look(stamp, camera(), open_floor(wall_at=1.0))
    assert looks.since(np.array([0.7, 0.0])) == 2.0
    assert looks.since(np.array([2.0, 0.0])) == math.inf


def test_a_new_id_of_an_old_thing_is_no_event(stage):
    stage(mug(), stamp=1.0)
    stage.look(2.0, 3.0, 4.0)
    stage(entity(2, "mug", (2.1, 0, 0.5), first_seen=60.0), stamp=60.0)
    assert stage(stamp=63.0, merges=(Merge(2, 1),)) == []
    assert stage(stamp=80.0) == []
    assert stage.changes.counts["merged"] == 1


# --- moved ----------------------------------------------------------------------------------------------------


def test_a_thing_that_lies_elsewhere_moved(stage):
    stage(mug(), stamp=1.0)
    assert stage(mug(x=4.0), stamp=10.0) == []
    (change,) = stage(stamp=16.0)
    assert change.kind is EventKind.MOVED
    np.testing.assert_allclose(change.before, (2.0, 0, 0.5))
    np.testing.assert_allclose(change.thing.centre, (4.0, 0, 0.5))
    assert stage(stamp=30.0) == []


def test_localisation_noise_and_small_shifts_are_no_motion(stage):
    stage(mug(), stamp=0.0)
    rng = np.random.default_rng(0)
    for stamp in np.arange(1.0, 60.0):
        assert stage(mug(x=2.0 + float(rng.uniform(-0.4, 0.4))), stamp=float(stamp)) == []


def test_a_motion_that_is_taken_back_is_none(stage):
    stage(mug(), stamp=0.0)
    stage(mug(x=4.0), stamp=1.0)
    stage(mug(), stamp=3.0)
    assert stage(stamp=30.0) == []
    assert stage.changes.counts["returned"] == 1


def test_a_shelf_of_which_more_is_seen_has_not_moved(stage):
    stage(entity(3, "shelf", (0.5, 0, 1), (1.0, 0.4, 2.0)), stamp=0.0)
    stage(entity(3, "shelf", (2.0, 0, 1), (4.0, 0.4, 2.0)), stamp=1.0)
    assert stage(stamp=30.0) == []


def test_a_part_of_a_rack_is_no_new_rack_and_a_box_beside_a_box_is_a_new_box(stage):
    stage.look(0.0, 1.0, 2.0)
    stage(
        entity(3, "pallet rack", (2.0, 1.0, 1), (2.7, 1.0, 2.0)),
        entity(4, "box", (1.5, 0, 1), 0.3),
        stamp=3.0,
    )
    stage(
        entity(5, "pallet rack", (1.5, 0.2, 1), (1.2, 0.5, 2.0), first_seen=60.0),
        entity(6, "box", (2.0, 0, 1), 0.3, first_seen=60.0),
        stamp=60.0,
    )
    assert kinds(stage(stamp=66.0)) == [(EventKind.APPEARED, 6)]
    assert stage.changes.counts["part"] == 1


def test_a_correction_of_the_map_moves_nothing(stage):
    stage(mug(), stamp=0.0)
    stage.changes.move(MapCorrection(planar_transform(2.0, 0.0, 0.0)))
    stage(mug(x=4.0), stamp=1.0)
    assert stage(stamp=30.0) == []


# --- vanished and back ----------------------------------------------------------------------------------------


def gone(x=2.0):
    return mug(x=x, state=EntityState.ARCHIVED, last_seen=30.0)


def test_an_archived_thing_vanished_and_may_come_back(stage):
    stage(mug(), stamp=0.0)
    stage(gone(), stamp=60.0)
    (change,) = stage(stamp=66.0)
    assert (change.kind, change.last_seen) == (EventKind.VANISHED, 30.0)
    stage(mug(), stamp=100.0)
    assert kinds(stage(stamp=106.0)) == [(EventKind.APPEARED, 1)]


def test_a_thing_that_is_found_elsewhere_after_it_vanished_moved(stage):
    stage(mug(), stamp=0.0)
    stage(gone(), stamp=60.0)
    stage(stamp=66.0)
    stage(mug(x=7.0), stamp=100.0)
    (change,) = stage(stamp=106.0)
    assert change.kind is EventKind.MOVED
    np.testing.assert_allclose(change.before, (2.0, 0, 0.5))


def test_a_false_instance_neither_was_nor_vanished(stage):
    stage(mug(), stamp=0.0)
    assert stage(removed=(1,), stamp=1.0) == []
    assert stage(stamp=30.0) == []


def test_what_a_saved_map_knows_is_no_news(stage):
    stage.look(0.0, 1.0, 2.0)
    stage.mirror.entities[1] = mug(seen=50.0)
    stage.changes.learn()
    stage(mug(seen=50.0), stamp=60.0)
    assert stage(stamp=70.0) == []


def test_another_map_forgets_all(stage):
    stage.look(0.0, 1.0, 2.0)
    stage(mug(), stamp=3.0)
    stage.changes.clear()
    stage(mug(x=4.0, seen=60.0), stamp=60.0)
    assert stage(stamp=70.0) == []


def test_the_record_of_places_is_bounded(stage, monkeypatch):
    monkeypatch.setattr("lodestar.memory.scene_changes.EVENT_MAX_KNOWN", 10)
    for n in range(50):
        stage(entity(n + 1, "box", (n, 0, 0)), stamp=float(n))
    assert len(stage.changes._known) <= 10


@pytest.mark.parametrize("stamp, x", [(math.nan, 0.0), (0.0, math.nan)])
def test_a_look_from_nowhere_is_dropped(stamp, x):
    looks = LookedPlaces(CONFIG)
    looks.look(stamp, camera(x=x), open_floor())
    assert looks.since(np.zeros(2)) == math.inf
