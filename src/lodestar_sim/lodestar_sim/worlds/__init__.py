"""Furnished worlds: buildings, objects and their shapes."""

from lodestar_sim.worlds.elements import Decal, Wall
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.geometry import Geometry
from lodestar_sim.worlds.sources import world_from_spec
from lodestar_sim.worlds.world import Event, Room, World, WorldObject

__all__ = [
    "Decal",
    "Event",
    "Geometry",
    "Room",
    "Wall",
    "World",
    "WorldError",
    "WorldObject",
    "world_from_spec",
]
