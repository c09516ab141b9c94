"""Rooms with clusters of similar objects close together."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.furnish import Furnisher
from lodestar_sim.worlds.world import Room, World, WorldObject

PAINTS = ("alike", "colored")
_KINDS = ("chair", "stool", "box", "crate", "ottoman", "filing cabinet", "trash can", "armchair")
_CENTRES = ((-2.6, -1.9), (2.6, -1.9), (-2.6, 1.9), (2.6, 1.9))  # m, centres of the clusters
_HALF = (5.0, 4.0)  # m, half the sides of the room
_GAPS = (0.03, 0.25)  # m, least and greatest gap between neighbours
_ROWS, _COLUMNS = 2, (2, 4)  # rows of a cluster; least and most columns


def lookalike_room(paint: str, seed: int) -> World:
    """Return a room with four clusters of four to eight objects, each cluster of one kind, variant and size.

    paint: "alike", one colour per cluster, or "colored", a random colour of the kind per object. Raises ValueError
    for another value.
    """
    if paint not in PAINTS:
        raise ValueError(f"there is no paint {paint!r}; there are {', '.join(PAINTS)}")
    rng = np.random.default_rng([seed, 33])
    furnisher = Furnisher(rng)
    things: list[WorldObject] = []
    for name, centre in zip(rng.permutation(_KINDS), _CENTRES):
        things += _cluster(furnisher, str(name), centre, paint, len(things) + 1)
    x, y = _HALF
    walls = (
        Wall(-x - 0.1, -y - 0.1, x + 0.1, -y, 0.0, 2.6), Wall(-x - 0.1, y, x + 0.1, y + 0.1, 0.0, 2.6),
        Wall(-x - 0.1, -y, -x, y, 0.0, 2.6), Wall(x, -y, x + 0.1, y, 0.0, 2.6),
    )  # fmt: skip
    bounds = (-x - 0.1, -y - 0.1, x + 0.1, y + 0.1)
    outline = ((-x, -y), (x, -y), (x, y), (-x, y))
    slabs = (Slab(*bounds, 0.0, "beige", "wood"),)
    rooms = (Room(1, "storage room", outline),)
    name = f"{paint} {seed}"
    return World(name, "office", seed, bounds, (0.0, 0.0, 0.0), rooms, walls, slabs, tuple(things))


def _cluster(
    furnisher: Furnisher, name: str, centre: tuple[float, float], paint: str, first: int
) -> list[WorldObject]:
    """Return the objects of one cluster, in rows with different gaps. Positions do not depend on the paint."""
    rng = furnisher.rng
    model = furnisher.design(name)
    columns = int(rng.integers(_COLUMNS[0], _COLUMNS[1] + 1))
    side = max(model.size[:2])
    along_x = np.cumsum(side + rng.uniform(*_GAPS, _ROWS))
    along_y = np.cumsum(side + rng.uniform(*_GAPS, (_ROWS, columns)), axis=1)
    places = [
        (float(along_x[row]), float(along_y[row, column]), int(rng.integers(4)))
        for row in range(_ROWS)
        for column in range(columns)
    ]
    middle = np.mean([(x, y) for x, y, _ in places], axis=0)
    colors = [furnisher.design(name).color for _ in places]
    things = []
    for number, ((x, y, turns), color) in enumerate(zip(places, colors), first):
        own = model.color if paint == "alike" else color
        pose = (centre[0] + x - middle[0], centre[1] + y - middle[1], 0.0, turns * math.pi / 2)
        things.append(replace(model, id=number, color=own, caption=f"{own} {name}", pose=pose))
    return things
