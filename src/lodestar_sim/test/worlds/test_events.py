"""Tests of timed events in a world."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_sim.worlds import Event, World
from lodestar_sim.worlds.truth import obstacle_grid, truth_of


@pytest.fixture
def world(make_world) -> World:
    return make_world("apartment", 1)


def test_a_moved_object_stands_elsewhere_from_then_on(world):
    thing = next(t for t in world.objects if t.movable and not t.supported_by)
    pose = (1.0, 1.5, 0.0, 0.5)
    changed = replace(world, events=(Event(10.0, "move", thing.id, pose=pose),))
    before = {t.id: t.pose for t in changed.objects_at(9.99)}
    after = {t.id: t.pose for t in changed.objects_at(10.0)}
    assert before[thing.id] == thing.pose
    assert after[thing.id] == pose
    assert {i for i in after if after[i] != before[i]} == {thing.id}
    geometry = changed.geometry(10.0)
    mine = geometry.vertices[np.unique(geometry.triangles[geometry.object_of_triangle == thing.id])]
    assert np.abs(mine[:, :2].mean(axis=0) - [1.0, 1.5]).max() < 0.5


def test_removed_and_added(world):
    gone, template = world.objects[3], world.objects[5]
    new = replace(template, id=9000, pose=(0.0, 0.0, 0.0, 0.0), supported_by=0, contained_in=0)
    changed = replace(world, events=(Event(20.0, "add", 9000, object=new), Event(5.0, "remove", gone.id)))
    ids = [{t.id for t in changed.objects_at(t)} for t in (0.0, 5.0, 20.0)]
    assert gone.id in ids[0] and gone.id not in ids[1] and 9000 not in ids[1] and 9000 in ids[2]
    assert gone.id not in changed.labels(6.0)
    assert changed.labels(21.0)[9000]["class"] == template.category


def test_a_walk_follows_its_path_at_its_speed(world):
    thing = world.objects[0]
    path = ((0.0, 0.0), (2.0, 0.0), (2.0, 1.0))
    event = Event(10.0, "walk", thing.id, path=path, speed=0.5)
    changed = replace(world, events=(event,))
    assert event.end == pytest.approx(16.0)
    poses = {t: {o.id: o.pose for o in changed.objects_at(t)}[thing.id] for t in (5.0, 12.0, 15.0, 40.0)}
    assert poses[5.0] == thing.pose
    assert poses[12.0][:2] == pytest.approx((1.0, 0.0)) and poses[12.0][3] == pytest.approx(0.0)
    assert poses[15.0][:2] == pytest.approx((2.0, 0.5)) and poses[15.0][3] == pytest.approx(math.pi / 2)
    assert poses[40.0][:2] == pytest.approx((2.0, 1.0))


def test_when_the_next_change_comes(world):
    thing = world.objects[0]
    walk = Event(10.0, "walk", thing.id, path=((0.0, 0.0), (1.0, 0.0)), speed=1.0)
    changed = replace(world, events=(walk, Event(30.0, "remove", thing.id)))
    assert changed.next_change(0.0) == 10.0
    assert changed.next_change(10.5) == 10.5
    assert changed.next_change(12.0) == 30.0
    assert changed.next_change(30.0) == math.inf
    assert world.next_change(0.0) == math.inf


def test_happenings_of_a_specification_are_sound(make_world):
    for spec in ("apartment?events=1", "office?events=1"):
        world = make_world(spec, 2)
        kinds = [event.kind for event in world.events]
        assert set(kinds) == {"add", "walk", "remove", "move"}
        assert [e.time for e in world.events] == sorted(e.time for e in world.events)
        walk = next(e for e in world.events if e.kind == "walk")
        assert walk.end - walk.time > 3.0
        grid: OccupancyGrid2D = obstacle_grid(world)
        cells = grid.cells_of(np.array(walk.path))
        assert not grid.occupied[cells[:, 0], cells[:, 1]].any()
        person = next(t for t in world.objects_at(walk.time) if t.id == walk.object_id)
        assert person.category == "person"
        assert walk.object_id not in {t.id for t in world.objects_at(walk.end + 2.0)}


def test_the_wet_floor_is_a_decal_on_free_floor(make_world):
    found = 0
    for seed in range(1, 7):
        world = make_world("apartment", seed)
        for decal in world.decals:
            found += 1
            assert decal.category == "wet floor"
            geometry = world.geometry()
            mine = geometry.vertices[np.unique(geometry.triangles[geometry.object_of_triangle == decal.id])]
            assert 0.0 < mine[:, 2].max() < 0.01
            cell = truth_of(world).grid.cells_of(np.array([decal.center]))[0]
            assert not truth_of(world).grid.occupied[cell[0], cell[1]]
    assert found >= 5
