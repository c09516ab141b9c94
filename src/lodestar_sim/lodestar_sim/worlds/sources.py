"""Worlds by name: a generator, a world file, or a real occupancy map."""

from __future__ import annotations

import numpy as np

from lodestar_sim.worlds.apartment import apartment_plan
from lodestar_sim.worlds.build import Site, build_world
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.furnish import Furnisher
from lodestar_sim.worlds.world import World


def world_from_spec(spec: str, seed: int = 1) -> World:
    """The world that a specification names, the same for the same seed; raises WorldError for an unknown one."""
    rng = np.random.default_rng([seed, 0x10DE])
    if spec == "apartment":
        return build_world("apartment", "apartment", Site(apartment_plan(rng), Furnisher(rng)), seed)
    if spec.endswith(".json"):
        return World.load(spec)
    raise WorldError(f"unknown world {spec!r}")
