"""Searches for known objects, in buildings whose kind depends on the seed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar_sim.tasks import MAX_PATH, Task, described
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.obstructions import Doorway, doorways
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World, WorldObject

WORLDS = ("apartment", "office", "warehouse")
NEAREST = 1.3  # m, least distance of the robot from an obstacle when it appears
SHORTEST = 7.0  # m, least path to the object, so that there is time for an event
_STARTS = 60  # number of places tried as a start


@dataclass(frozen=True)
class Trip:
    """Search for a known object in an undisturbed building.

    path: (N, 4) stamp, x, y, yaw of the run without a failure event.
    """

    spec: str
    seed: int
    world: World
    task: Task
    path: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))

    @property
    def thing(self) -> WorldObject:
        """Return the object that is searched for."""
        return self.world.object(self.task.target_ids[0])


def trip_of(seed: int) -> Trip:
    """Return the search of a seed; its path leads through a doorway if possible. Raises WorldError."""
    spec = WORLDS[seed % len(WORLDS)]
    world = replace(world_from_spec(spec, seed), events=())
    rng = np.random.default_rng([seed, 0x4EC0])
    fallback: Trip | None = None
    for thing, phrase in described(world, seed, ("color",)):
        if not thing.movable or thing.contained_in or thing.supported_by or _carries(world, thing):
            continue
        for start in _starts(world, thing, rng):
            trip = Trip(spec, seed, world, Task(f"find the {phrase}", (thing.id,), start))
            if crossed(world, truth_of(world).way(start[:2], thing)) is not None:
                return trip
            fallback = fallback or trip
            break
    if fallback is None:
        raise WorldError(f"{spec}, seed {seed}: nothing in it can be carried away and is far enough off")
    return fallback


def _carries(world: World, thing: WorldObject) -> bool:
    return any(other.supported_by == thing.id for other in world.objects)


def _starts(
    world: World, thing: WorldObject, rng: np.random.Generator
) -> Iterator[tuple[float, float, float]]:
    """Yield start poses far enough from the object, which is not in view there."""
    truth = truth_of(world)
    roomy = np.isfinite(truth.lengths(world.start[:2])) & (truth.clearance >= 0.5) & ~truth.covered
    cells = np.argwhere(roomy)
    for x, y in truth.grid.points_of(cells[rng.permutation(len(cells))[:_STARTS]]):
        poses = np.column_stack([np.tile((x, y), (8, 1)), np.arange(8) * math.pi / 4])
        if not SHORTEST <= truth.shortest_path((float(x), float(y)), thing) <= MAX_PATH:
            continue
        if not (truth.seen(thing, poses) > 0.0).any():
            yield (
                round(float(x), 3),
                round(float(y), 3),
                round(float(rng.integers(8)) * math.pi / 4 - math.pi, 6),
            )


def crossed(world: World, way: np.ndarray) -> tuple[Doorway, int] | None:
    """Return the doorway on a path (N, 2) that is farthest from the path's ends, and its index on the path."""
    best: tuple[float, Doorway, int] | None = None
    for doorway in doorways(world):
        away = np.hypot(*(way - doorway.center).T)
        index = int(away.argmin()) if len(away) else 0
        if not len(away) or away[index] > doorway.width / 2:
            continue
        room = min(length_of(way[: index + 1]), length_of(way[index:]))
        if room >= 1.5 + NEAREST and (best is None or room > best[0]):
            best = room, doorway, index
    return None if best is None else best[1:]


def length_of(way: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
