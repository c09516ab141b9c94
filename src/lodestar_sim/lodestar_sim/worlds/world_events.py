"""Random events in a world: people walking through, and objects moved, removed or added."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np

from lodestar.grid.config import TravelConfig
from lodestar.grid.paths import NoPath, plan_path
from lodestar_sim.worlds.furnish import Furnisher, plan_box
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import Event, World

WALKER_CLEARANCE = 0.33  # metres between a walker's path and obstacles
FIRST, LAST = 20.0, 120.0  # seconds, range of event times


def with_happenings(world: World, rng: np.random.Generator) -> World:
    """Return the world with a walking person, and one object moved, one removed and one added."""
    furnisher = Furnisher(rng)
    following = max([t.id for t in world.objects] + [d.id for d in world.decals], default=0) + 1
    events: list[Event] = []
    path = _walk(world, rng)
    if path:
        person = furnisher.design("person")
        heading = math.atan2(path[1][1] - path[0][1], path[1][0] - path[0][0])
        person = replace(person, id=following, pose=(*path[0], 0.0, heading))
        begin = round(float(rng.uniform(5.0, FIRST)), 1)
        events += [
            Event(begin, "add", following, object=person),
            Event(begin, "walk", following, path=path, speed=0.9),
        ]
        events.append(Event(round(events[-1].end + 1.0, 1), "remove", following))
        following += 1
    loose = [t for t in world.objects if t.movable and not any(o.supported_by == t.id for o in world.objects)]
    chosen = [loose[int(i)] for i in rng.permutation(len(loose))]
    places = _places(world, rng)
    for thing in [t for t in chosen if not t.supported_by and max(t.size[:2]) < 0.7][:1]:
        pose = _fit(world, thing.size, places)
        if pose:
            events.append(Event(round(float(rng.uniform(FIRST, LAST)), 1), "move", thing.id, pose=pose))
    if len(chosen) > 1:
        gone = next((t for t in chosen if all(e.object_id != t.id for e in events)), None)
        if gone:
            events.append(Event(round(float(rng.uniform(FIRST, LAST)), 1), "remove", gone.id))
    left = furnisher.design("backpack")
    pose = _fit(world, left.size, places[::-1])
    if pose:
        left = replace(left, id=following, pose=pose)
        events.append(Event(round(float(rng.uniform(FIRST, LAST)), 1), "add", following, object=left))
    return replace(world, events=tuple(sorted(events, key=lambda e: e.time)))


def with_walkers(world: World, rng: np.random.Generator, count: int, begin: float, end: float) -> World:
    """Return the world with `count` people who walk to and fro from about `begin` until `end`, seconds."""
    furnisher = Furnisher(rng)
    following = max([t.id for t in world.objects] + [d.id for d in world.decals], default=0) + 1
    events = list(world.events)
    for identity in range(following, following + count):
        path, speed = _walk(world, rng), round(float(rng.uniform(0.5, 1.0)), 2)
        if not path:
            continue
        at = round(begin + float(rng.uniform(0.0, 5.0)), 1)
        person = replace(furnisher.design("person"), id=identity, pose=(*path[0], 0.0, 0.0))
        turns = math.ceil((end - at) * speed / max(_length(path), 0.1)) + 1
        there, back = path, path[::-1]
        route = [*there, *(point for i in range(turns) for point in (there, back)[(i + 1) % 2][1:])]
        events += [
            Event(at, "add", identity, object=person),
            Event(at, "walk", identity, path=tuple(route), speed=speed),
            Event(end, "remove", identity),
        ]
    return replace(world, events=tuple(sorted(events, key=lambda e: e.time)))


def _length(path: tuple[tuple[float, float], ...]) -> float:
    return sum(math.dist(a, b) for a, b in pairwise(path))


def _places(world: World, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Return places (x, y) on open floor connected to the start, in random order."""
    truth = truth_of(world)
    lengths = truth.lengths(world.start[:2])
    cells = np.argwhere(np.isfinite(lengths) & (truth.clearance >= 0.7) & (lengths > 2.0) & ~truth.covered)
    picked = cells[rng.permutation(len(cells))[:60]]
    return [(round(float(x), 3), round(float(y), 3)) for x, y in truth_of(world).grid.points_of(picked)]


def _fit(
    world: World, size: tuple[float, float, float], places: list[tuple[float, float]]
) -> tuple[float, float, float, float] | None:
    """Return the first pose (x, y, z, yaw) where a box of `size` is clear of objects and puddles, or None."""
    boxes = [world.box(thing) for thing in world.objects]
    low = np.array([b[0][:2] for b in boxes]).reshape(-1, 2) - 0.1
    high = np.array([b[1][:2] for b in boxes]).reshape(-1, 2) + 0.1
    for x, y in places:
        x0, y0, x1, y1 = plan_box(size, (x, y, 0.0, 0.0))
        apart = (low[:, 0] > x1) | (high[:, 0] < x0) | (low[:, 1] > y1) | (high[:, 1] < y0)
        dry = all((x - d.center[0]) ** 2 + (y - d.center[1]) ** 2 > 1.0 for d in world.decals)
        if dry and apart.all():
            return x, y, 0.0, 0.0
    return None


def _walk(world: World, rng: np.random.Generator) -> tuple[tuple[float, float], ...]:
    """Return the corners of a path across the building through open floor; empty if there is none."""
    places = _places(world, rng)
    pairs = [(a, b) for a in places[:8] for b in places[8:16]]
    pairs.sort(key=lambda pair: -math.dist(*pair))
    for a, b in pairs[:6]:
        try:
            points = plan_path(truth_of(world).grid, a, b, TravelConfig(clearance=WALKER_CLEARANCE))
        except NoPath:
            continue
        kept = [*points[:-1:8], points[-1]]
        return tuple((round(float(x), 3), round(float(y), 3)) for x, y in kept)
    return ()
