"""Fixtures of worlds, created once per test run."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import pytest

from lodestar_sim.worlds import World, world_from_spec

CAMPUS_FLOOR = "floorplans_kth/50052751"
GENERATED = [
    (spec, seed)
    for spec, seeds in (("apartment", 6), ("office", 3), ("warehouse", 2))
    for seed in range(1, seeds + 1)
]


@lru_cache(maxsize=64)
def cached_world(spec: str, seed: int) -> World:
    """Return the world of a specification from a cache; worlds are immutable."""
    return world_from_spec(spec, seed)


@pytest.fixture(params=GENERATED, ids=lambda p: f"{p[0]}-{p[1]}")
def generated(request) -> World:
    """Return each kind of generated world, with several seeds."""
    return cached_world(*request.param)


@pytest.fixture
def make_world():
    """Return a function (spec, seed) -> world."""
    return cached_world


@pytest.fixture
def campus() -> World:
    """Return the world of a real campus floor; skip if LODESTAR_DATA does not contain it."""
    folder = Path(os.environ.get("LODESTAR_DATA", "")) / CAMPUS_FLOOR
    if not os.environ.get("LODESTAR_DATA") or not folder.is_dir():
        pytest.skip(f"LODESTAR_DATA is not set to a folder with {CAMPUS_FLOOR}")
    return cached_world(str(folder), 1)
