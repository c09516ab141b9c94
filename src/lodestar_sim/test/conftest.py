"""Fixtures for tests of the simulator: a small room with exactly known geometry."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lodestar_sim.worlds import world_from_spec
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Event, Room, World, WorldObject

sys.path.insert(0, str(Path(__file__).parent))  # for navigator_drives, ground_scenes

RED_CHAIR = WorldObject(
    7, "chair", "red chair", "red", "plastic", (0.5, 0.5, 0.9), "param:chair", (1.5, 0.0, 0.0, 3.14159)
)
BLUE_CABINET = WorldObject(
    3, "cabinet", "blue cabinet", "blue", "wood", (0.4, 0.8, 1.0), "param:cabinet", (3.5, 1.2, 0.0, 3.14159)
)
PERSON = WorldObject(
    40, "person", "person in green", "green", "fabric", (0.4, 0.5, 1.7), "param:person", (-2.0, 2.0, 0.0, 0.0)
)


def box_room(objects=(), events=(), decals=()) -> World:
    """Return a world of one room, 8 x 6 m, centred on the origin, with walls 0.1 m thick and 2.5 m high."""
    walls = (
        Wall(-4.1, -3.1, 4.1, -3.0, 0.0, 2.5), Wall(-4.1, 3.0, 4.1, 3.1, 0.0, 2.5),
        Wall(-4.1, -3.0, -4.0, 3.0, 0.0, 2.5), Wall(4.0, -3.0, 4.1, 3.0, 0.0, 2.5),
    )  # fmt: skip
    slabs = (
        Slab(-4.1, -3.1, 4.1, 3.1, 0.0, "beige", "wood"),
        Slab(-4.1, -3.1, 4.1, 3.1, 2.5, "white", "plaster", ceiling=True),
    )
    outline = ((-4.0, -3.0), (4.0, -3.0), (4.0, 3.0), (-4.0, 3.0))
    return World(
        "box", "apartment", 0, (-4.1, -3.1, 4.1, 3.1), (0.0, 0.0, 0.0), (Room(1, "study", outline),), walls, slabs,
        tuple(objects), tuple(decals), tuple(events),
    )  # fmt: skip


@pytest.fixture
def empty_room() -> World:
    return box_room()


@pytest.fixture
def furnished_room() -> World:
    return box_room((RED_CHAIR, BLUE_CABINET))


@pytest.fixture
def eventful_room() -> World:
    """Return a room with events: chair moved at 1 s, cabinet removed at 2 s, box added at 3 s, walker from 4 s."""
    box = replace(RED_CHAIR, id=9, caption="box", category="box", mesh="param:box", pose=(1.5, 0.0, 0.0, 0.0))
    events = (
        Event(1.0, "move", 7, pose=(1.5, 2.0, 0.0, 0.0)),
        Event(2.0, "remove", 3),
        Event(3.0, "add", 9, object=box),
        Event(4.0, "walk", 40, path=((-2.0, 2.0), (-2.0, -2.0)), speed=1.0),
    )
    return box_room((RED_CHAIR, BLUE_CABINET, PERSON), events)


@pytest.fixture(scope="module")
def ramp():
    return world_from_spec("ramp")


@pytest.fixture(scope="module")
def stairs():
    return world_from_spec("apartment?stairs=1", 3)
