"""Search tasks with the target beside or beyond a drop-off, such as descending stairs or a hole."""

from __future__ import annotations

import math

import numpy as np

from lodestar_sim.tasks import MAX_PATH, MIN_PATH, Task, described
from lodestar_sim.worlds import World, WorldError, WorldObject
from lodestar_sim.worlds.truth import truth_of

PLACES = ("beside", "beyond")
BESIDE = 1.5  # m, greatest gap between the boxes of an object and the opening
_CLEAR = 0.5  # m, least distance of a start from obstacles


def opening_box(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest corner (2,) of a world's opening. Raises WorldError if there is none."""
    terrain = world.terrain
    if terrain is None or not terrain.drops.any():
        raise WorldError(f"{world.name}: its floor ends nowhere; ask for ?stairs=1 or ?hole=1")
    cells = np.argwhere(terrain.drops)[:, ::-1]
    size = (world.bounds[2] - world.bounds[0]) / terrain.height.shape[1]
    return cells.min(axis=0) * size + terrain.origin, (cells.max(axis=0) + 1) * size + terrain.origin


def drop_task(world: World, seed: int, place: str) -> Task:
    """Return a task whose target lies beside the floor opening or beyond it.

    place: "beside", or "beyond": the straight line from the start crosses the opening, and a path leads
    around it. Raises WorldError if the world has no such task.
    """
    low, high = opening_box(world)
    rng = np.random.default_rng([seed, 0xD20B])
    for thing, phrase in described(world, seed):
        if place == "beside" and _gap(world, thing, low, high) > BESIDE:
            continue
        start = _start(world, thing, low, high, place, rng)
        if start is not None:
            return Task(f"find the {phrase}", (thing.id,), start)
    raise WorldError(f"{world.name}, seed {seed}: nothing lies {place} the opening; take another seed")


def _gap(world: World, thing: WorldObject, low: np.ndarray, high: np.ndarray) -> float:
    """Return the horizontal distance, metres, between an object's box and the floor opening."""
    first, last = world.box(thing)
    apart = np.maximum(np.maximum(first[:2] - high, low - last[:2]), 0.0)
    return float(np.hypot(*apart))


def _start(
    world: World, thing: WorldObject, low: np.ndarray, high: np.ndarray, place: str, rng: np.random.Generator
) -> tuple[float, float, float] | None:
    truth = truth_of(world)
    lengths = truth.lengths(world.start[:2])
    roomy = np.argwhere(np.isfinite(lengths) & (truth.clearance >= _CLEAR) & ~truth.covered)
    places = truth.grid.points_of(roomy[rng.permutation(len(roomy))[:600]])
    if place == "beyond":
        places = places[_crosses(places, np.array(thing.xy), low, high)]
    for x, y in places[:40]:
        if MIN_PATH <= truth.shortest_path((float(x), float(y)), thing) <= MAX_PATH:
            yaw = float(rng.integers(8)) * math.pi / 4 - math.pi
            return round(float(x), 3), round(float(y), 3), round(yaw, 6)
    return None


def _crosses(starts: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return (N,) bool: whether the straight line from starts (N, 2) to an end (2,) crosses a rectangle."""
    shares = np.linspace(0.0, 1.0, 60)[:, None, None]
    points = starts + shares * (end - starts)
    return ((points > low) & (points < high)).all(axis=2).any(axis=0)
