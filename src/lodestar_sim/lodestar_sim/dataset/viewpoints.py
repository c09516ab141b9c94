"""Random robot poses for images of a building: on paths, facing objects, and anywhere on the free floor."""

from __future__ import annotations

import math

import numpy as np

from lodestar.grid.config import TravelConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import NoPath, plan_path
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.truth import INFLATION, truth_of
from lodestar_sim.worlds.world import World

VIEW_ON_WAYS = 0.45  # share of poses on the shortest way between two places, looking along it; chosen
# share of poses that face a thing; the others are anywhere, with any heading; chosen
VIEW_BEFORE_THINGS = 0.4
VIEW_PER_WAY = 6  # poses of one way; chosen
VIEW_TURN = math.radians(20.0)  # rad, standard deviation of the heading on a way and before a thing; chosen
VIEW_NEAREST = 0.4  # m, least distance between the robot's front and a thing that it faces; chosen
VIEW_FARTHEST = 3.5  # m, largest such distance; chosen


def sample_poses(world: World, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return poses (count, 3) x, y, yaw in free space that the robot reaches from the world's start.

    Raises WorldError for a world without free floor at its start.
    """
    truth = truth_of(world)
    lengths = truth.lengths(world.start[:2])
    cells = np.argwhere(np.isfinite(lengths) & (truth.clearance >= INFLATION))
    if not len(cells):
        raise WorldError(f"{world.name}: there is no free floor to look from")
    floor = truth.grid.points_of(cells)
    kinds = rng.random(count)
    poses: list[np.ndarray] = []
    on_way: list[np.ndarray] = []
    for kind in kinds:
        if kind < VIEW_ON_WAYS:
            if not on_way:
                on_way = _along(truth.grid, floor, rng)
            poses.append(on_way.pop() if on_way else _anywhere(floor, rng))
        elif kind < VIEW_ON_WAYS + VIEW_BEFORE_THINGS and world.objects:
            poses.append(_before(world, floor, rng))
        else:
            poses.append(_anywhere(floor, rng))
    return np.array(poses).reshape(-1, 3)


def _anywhere(floor: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([*floor[rng.integers(len(floor))], rng.uniform(-math.pi, math.pi)])


def _along(grid: OccupancyGrid2D, floor: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return poses (3,) along the shortest path between two random places; empty without a path."""
    start, goal = floor[rng.integers(len(floor), size=2)]
    try:
        way = plan_path(grid, tuple(start), tuple(goal), TravelConfig(clearance=INFLATION))
    except NoPath:
        return []
    if len(way) < 2:
        return []
    poses = []
    for place in rng.random(VIEW_PER_WAY) * (len(way) - 1):
        index = int(place)
        step = way[index + 1] - way[index]
        heading = math.atan2(step[1], step[0]) + rng.normal() * VIEW_TURN
        poses.append(np.array([*(way[index] + (place - index) * step), heading]))
    return poses


def _before(world: World, floor: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a pose (3,) that faces a random object at a distance of VIEW_NEAREST to VIEW_FARTHEST.

    Falls back to a random pose if no free floor lies at that distance.
    """
    thing = world.objects[int(rng.integers(len(world.objects)))]
    away = np.hypot(*(floor - thing.xy).T)
    reach = max(thing.size[:2]) / 2.0
    near = np.flatnonzero((away > reach + VIEW_NEAREST) & (away < reach + VIEW_FARTHEST))
    if not len(near):
        return _anywhere(floor, rng)
    place = floor[near[rng.integers(len(near))]]
    heading = math.atan2(thing.xy[1] - place[1], thing.xy[0] - place[0]) + rng.normal() * VIEW_TURN
    return np.array([*place, heading])
