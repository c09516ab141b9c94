"""Tests of room names that an operator gives to a tour's map."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from small_building import small_world

from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap
from lodestar_eval.memory_qa.recording import Recording, Stream
from lodestar_eval.memory_qa.room_names import with_room_names


def _recording(world, split):
    """Return the tour of a building whose map has one region per room (`split`), or a single one."""
    x0, y0, x1, y1 = world.bounds
    mask = np.ones((int((y1 - y0) / 0.1), int((x1 - x0) / 0.1)), np.int64)
    if split:
        for index, room in enumerate(world.rooms, start=1):
            a, b, c, d = (round((v - o) / 0.1) for v, o in zip(room.rect, (x0, y0, x0, y0)))
            mask[b:d, a:c] = index
    rooms = RegionMap(1.0)
    rooms.set_mask(mask, (x0, y0), 0.1)
    scene = SceneMirror()
    ids = np.unique(mask[mask > 0]).tolist()
    scene.set_regions([Region(i, "living room", 0.5, 10.0, np.zeros(2)) for i in ids], rooms)
    stream = Stream((), (), SimpleNamespace(), scene, None)
    return Recording("office", 1, world, stream, ())


def test_every_room_goes_by_its_own_name():
    world = small_world()
    named = with_room_names(_recording(world, split=True)).stream.scene
    for room in world.rooms:
        x0, y0, x1, y1 = room.rect
        region = named.regions[named.region_at(np.array([(x0 + x1) / 2.0, (y0 + y1) / 2.0]))]
        assert region.label == room.label and region.named


def test_a_region_of_several_rooms_gets_the_name_of_most_of_it_or_none():
    world = small_world()
    given = _recording(world, split=False)
    found = with_room_names(given).stream.scene.regions[1]
    floor = (world.bounds[2] - world.bounds[0]) * (world.bounds[3] - world.bounds[1])
    sizes = {r.label: (r.rect[2] - r.rect[0]) * (r.rect[3] - r.rect[1]) / floor for r in world.rooms}
    large = [label for label, share in sizes.items() if share > 0.5]
    assert found.label == (large[0] if large else "living room")
    assert given.stream.scene.regions[1].label == "living room"  # the original recording is unchanged


def test_a_tour_without_a_map_of_rooms_stays():
    given = _recording(small_world(), split=True)
    bare = replace(given, stream=replace(given.stream, scene=SceneMirror()))
    assert with_room_names(bare) is bare
