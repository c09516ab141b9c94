"""Two furnished rooms and a short tour through them, for tests of questions to a memory."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import numpy as np

from lodestar_eval.memory_qa.recorder import glance_of
from lodestar_eval.memory_qa.recording import Glance
from lodestar_eval.memory_qa.route import laps
from lodestar_eval.tour import Tour, TourConfig
from lodestar_sim.worlds import Event, Room, Wall, World, WorldObject
from lodestar_sim.worlds.elements import Slab
from lodestar_sim.worlds.furnish import Furnisher

TOUR = TourConfig(limit=150.0, spacing=1.6, frame_interval=0.5, most_stops=30, width=160, height=120)
DESK, MUG, LAPTOP, RED_BOX, BLUE_BOX, PLANT, BIN, CHAIR_A, CHAIR_B, SINK, CART = range(1, 12)
TAKEN, MOVED = 60.3, 75.3  # seconds at which the bin is removed and the cart moved
_NAMES = {
    DESK: ("desk", "white", (1.0, 0.5, 0.0, 1.5708)),
    MUG: ("mug", "red", (0.9, 0.5, 0.0, 0.0)),
    LAPTOP: ("laptop", "gray", (1.3, 0.5, 0.0, 1.5708)),
    RED_BOX: ("box", "red", (3.5, 0.5, 0.0, 0.0)),
    BLUE_BOX: ("box", "blue", (3.5, 3.5, 0.0, 0.0)),
    PLANT: ("plant", "green", (0.5, 3.5, 0.0, 0.0)),
    BIN: ("trash can", "black", (2.3, 3.6, 0.0, 0.0)),
    CHAIR_A: ("chair", "blue", (5.0, 0.6, 0.0, 1.5708)),
    CHAIR_B: ("chair", "blue", (7.3, 3.4, 0.0, 3.1416)),
    SINK: ("sink", "white", (7.6, 1.0, 0.0, 3.1416)),
    CART: ("suitcase", "orange", (5.0, 3.5, 0.0, 0.0)),
}


@lru_cache(maxsize=1)
def small_world() -> World:
    """Return an office and a kitchen of 4 m x 4 m side by side, joined by a doorway."""
    furnisher = Furnisher(np.random.default_rng(5))
    things = {i: _thing(furnisher, i, *made) for i, made in _NAMES.items()}
    for small in (MUG, LAPTOP):
        x, y, _, yaw = things[small].pose
        things[small] = replace(things[small], pose=(x, y, things[DESK].size[2], yaw), supported_by=DESK)
    rooms = (
        Room(1, "office", ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))),
        Room(2, "kitchen", ((4.0, 0.0), (8.0, 0.0), (8.0, 4.0), (4.0, 4.0))),
    )
    outside = [(-0.1, -0.1, 8.1, 0.0), (-0.1, 4.0, 8.1, 4.1), (-0.1, 0.0, 0.0, 4.0), (8.0, 0.0, 8.1, 4.0)]
    between = [(3.98, 0.0, 4.02, 1.3), (3.98, 2.7, 4.02, 4.0)]
    walls = tuple(Wall(*w, 0.0, 2.4) for w in (*outside, *between))
    return World(
        "office", "office", 1, (-0.1, -0.1, 8.1, 4.1), (2.0, 2.0, 0.0), rooms, walls,
        (Slab(-0.1, -0.1, 8.1, 4.1, 0.0, "gray", "concrete"),), tuple(things.values()),
    )  # fmt: skip


def _thing(
    furnisher: Furnisher, identity: int, name: str, color: str, pose: tuple[float, float, float, float]
) -> WorldObject:
    made = furnisher.design(name, color)
    return replace(made, id=identity, pose=pose)


@lru_cache(maxsize=1)
def changing_world() -> World:
    """Return the same rooms; the bin is taken away and the suitcase moved while the robot drives around."""
    events = (Event(TAKEN, "remove", BIN), Event(MOVED, "move", CART, pose=(6.2, 0.5, 0.0, 0.0)))
    return replace(small_world(), events=events)


@lru_cache(maxsize=1)
def glances() -> tuple[Glance, ...]:
    """Return the ground truth of a tour of the changing rooms."""
    world = changing_world()
    tour = Tour(world, 1, TOUR, laps(world, TOUR))
    found = []
    for _ in tour.moments():
        simulator = tour.simulator
        ids, depth, _ = simulator.view_truth(320, 240)
        image = SimpleNamespace(stamp=simulator.time)
        found.append(glance_of(SimpleNamespace(ids=ids, depth=depth, image=image), simulator.true_pose))
    return tuple(found)
