"""Small buildings for whole stacks."""

from __future__ import annotations

from pathlib import Path

from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room, World, WorldObject


def room_with_a_chair(path: Path) -> Path:
    """Write the world file of a room of 5 x 4 m with a desk, and a red chair behind the robot; return its path."""
    walls = (
        Wall(-2.6, -2.1, 2.6, -2.0, 0.0, 2.5), Wall(-2.6, 2.0, 2.6, 2.1, 0.0, 2.5),
        Wall(-2.6, -2.0, -2.5, 2.0, 0.0, 2.5), Wall(2.5, -2.0, 2.6, 2.0, 0.0, 2.5),
    )  # fmt: skip
    things = (
        WorldObject(
            1, "desk", "brown desk", "brown", "wood", (1.2, 0.6, 0.75), "param:desk", (1.6, 1.6, 0.0, 0.0)
        ),
        WorldObject(
            2, "chair", "red chair", "red", "plastic", (0.5, 0.5, 0.9), "param:chair", (-1.6, -1.2, 0.0, 0.0)
        ),
    )
    bounds = (-2.6, -2.1, 2.6, 2.1)
    outline = ((-2.5, -2.0), (2.5, -2.0), (2.5, 2.0), (-2.5, 2.0))
    floor = Slab(*bounds, 0.0, "beige", "wood")
    ceiling = Slab(*bounds, 2.5, "white", "plaster", ceiling=True)
    World(
        "small", "apartment", 0, bounds, (0.5, 0.0, 0.0), (Room(1, "study", outline),), walls, (floor, ceiling),
        things, (), (),
    ).save(path)  # fmt: skip
    return path
