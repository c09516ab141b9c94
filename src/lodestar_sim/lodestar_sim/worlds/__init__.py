"""Furnished worlds: buildings, objects and their shapes."""

from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.geometry import Geometry
from lodestar_sim.worlds.sources import world_from_spec
from lodestar_sim.worlds.world import Decal, Event, Room, Wall, World, WorldObject

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
