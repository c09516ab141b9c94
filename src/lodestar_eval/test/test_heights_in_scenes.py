"""Tests that looked-at places agree with the ray caster, for objects on a shelf top and under a table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.experts.coverage import LookedAt
from lodestar.experts.heights import Lens
from lodestar.geometry.poses import yaw_of
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Entity
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room, World, WorldObject

SHELF = WorldObject(
    3, "shelf", "shelf", "brown", "wood", (0.3, 1.0, 1.8), "param:box", (2.3, 0.0, 0.0, math.pi)
)
TABLE = WorldObject(
    4, "table", "table", "brown", "wood", (0.8, 1.2, 0.75), "param:table", (0.0, 0.0, 0.0, 0.0)
)
ON_TOP = WorldObject(
    7, "vase", "red vase", "red", "ceramic", (0.15, 0.15, 0.2), "param:box", (2.3, 0.0, 1.8, 0.0)
)
BELOW = WorldObject(
    8, "ball", "red ball", "red", "plastic", (0.2, 0.2, 0.2), "param:ball", (0.0, 0.0, 0.0, 0.0)
)


def room(*objects: WorldObject) -> World:
    """Return a room of 6.5 x 6 m."""
    walls = (
        Wall(-4.1, -3.1, 2.6, -3.0, 0.0, 2.5), Wall(-4.1, 3.0, 2.6, 3.1, 0.0, 2.5),
        Wall(-4.1, -3.0, -4.0, 3.0, 0.0, 2.5), Wall(2.5, -3.0, 2.6, 3.0, 0.0, 2.5),
    )  # fmt: skip
    outline = ((-4.0, -3.0), (2.5, -3.0), (2.5, 3.0), (-4.0, 3.0))
    slabs = (Slab(-4.1, -3.1, 2.6, 3.1, 0.0, "beige", "wood"),)
    bounds, start = (-4.1, -3.1, 2.6, 3.1), (-3.0, 0.0, 0.0)
    return World("room", "apartment", 0, bounds, start, (Room(1, "study", outline),), walls, slabs, objects)


def entity_of(thing: WorldObject) -> Entity:
    """Return the exact entity of an object."""
    x, y, z, yaw = thing.pose
    wide, deep = (thing.size[:2]) if abs(math.cos(yaw)) > 0.5 else thing.size[1::-1]
    half = np.array([wide, deep, 0.0]) / 2
    low, high = np.array([x, y, z]) - half, np.array([x, y, z + thing.size[2]]) + half
    return Entity(thing.id, thing.category, thing.caption, (low + high) / 2, np.eye(3), low, high)


def grid_of(*solid: WorldObject) -> OccupancyGrid2D:
    """Return the room's grid, with the obstacles that a planar scan meets."""
    cells = np.zeros((124, 134), np.int8)
    cells[:2], cells[-2:], cells[:, :2], cells[:, -2:] = 100, 100, 100, 100
    grid = OccupancyGrid2D(cells, 0.05, (-4.1, -3.1))
    for one in map(entity_of, solid):
        low, high = grid.cells_of(np.stack([one.box_min, one.box_max]))
        cells[low[0] : high[0], low[1] : high[1]] = 100
    return grid


def shown_and_looked_at(world, grid, surface, target, x) -> tuple[int, bool]:
    """Return the target's visible pixels from (x, 0) along x, and whether its place counts as looked at from there."""
    simulator = Simulator(world, start=(x, 0.0, 0.0))
    image = simulator.render(rgb=False)
    known = {value: entry["class"] for value, entry in image.label_table.items()}
    pixels = sum(
        int((image.labels == value).sum()) for value, name in known.items() if name == target.category
    )
    looked = LookedAt(4.5)
    looked.set_grid(grid)
    looked.set_entities([entity_of(surface)])
    where = image.map_from_odom @ image.odom_from_camera
    lens = Lens.of(where, image.camera)
    looked.look(where[:2, 3], yaw_of(simulator.map_from_base), lens.fov, lens)
    row, column = grid.cells_of(np.array(target.pose[:2]))
    return pixels, not looked.unseen(4.5)[row, column]


@pytest.mark.parametrize("x", [1.4, 1.0, -0.5, -1.5])
def test_a_shelf_top_counts_as_looked_at_where_the_image_shows_what_stands_on_it(x):
    world = room(SHELF, ON_TOP)
    pixels, looked_at = shown_and_looked_at(world, grid_of(SHELF), SHELF, ON_TOP, x)
    assert looked_at == (pixels > 100), (pixels, looked_at)
    assert looked_at == (x < 0.0)


def test_the_floor_under_a_table_counts_as_looked_at_by_a_low_camera_that_shows_it():
    world = room(TABLE, BELOW)
    pixels, looked_at = shown_and_looked_at(world, grid_of(), TABLE, BELOW, -2.5)
    assert looked_at and pixels > 100
    pixels, looked_at = shown_and_looked_at(world, grid_of(), TABLE, BELOW, -0.75)
    assert not looked_at and pixels < 100, (pixels, "the near floor is below the image")
