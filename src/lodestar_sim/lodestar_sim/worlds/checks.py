"""Checks of a world: finite numbers, known ids, existing meshes, no overlaps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lodestar.grid.footprint import footprint_free
from lodestar_sim.worlds.elements import Decal, Ramp, Slab, Wall
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh import Mesh
from lodestar_sim.worlds.palette import material_index, rgb
from lodestar_sim.worlds.structure import wall_mesh
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import EVENT_KINDS, SENSORS, Event, World, WorldObject

TOLERANCE = 0.005  # m by which two objects may overlap
WALL_TOLERANCE = 0.05  # m by which an object may reach into a wall: the accuracy of measured homes
IN_WALLS = (
    "window",
    "door",
    "doorway",
    "gate",
    "shutter",
    "blind",
    "curtain",
    "radiator",
)  # last words of categories that may overlap walls
MAX_ID = 65535  # label images have 16 bits


def check_world(world: World) -> None:
    """Raise WorldError, which lists all problems, if the world is invalid."""
    problems = list(world_problems(world))
    if problems:
        raise WorldError.of(problems)


def world_problems(world: World) -> Iterator[str]:
    """Yield one sentence for each problem that makes the world invalid."""
    x0, y0, x1, y1 = world.bounds
    if not all(math.isfinite(v) for v in (*world.bounds, *world.start)) or x1 <= x0 or y1 <= y0:
        yield "bounds must be finite x0, y0, x1, y1 with x0 < x1 and y0 < y1, and start finite"
        return
    yield from _id_problems(world)
    broken = list(_structure_problems(world))
    usable = []
    for thing in world.objects:
        found = list(_object_problems(world, thing))
        broken += found
        if not found:
            usable.append(thing)
    yield from broken
    for event in world.events:
        yield from _event_problems(world, event)
    sound = replace(world, objects=tuple(usable))
    for a, b in overlaps(sound):
        yield f"{_name(world, a)} and {_name(world, b)} overlap; move one of them"
    if not (x0 < world.start[0] < x1 and y0 < world.start[1] < y1):
        yield f"start {list(world.start)} lies outside the bounds"
    elif not broken and not footprint_free(truth_of(world).grid, world.start):
        yield f"start {list(world.start)}: the robot does not fit there; 0.70 x 0.32 m must be free"


def _structure_problems(world: World) -> Iterator[str]:
    for index, wall in enumerate(world.walls):
        if wall.x1 <= wall.x0 or wall.y1 <= wall.y0 or wall.z1 <= wall.z0:
            yield f"walls[{index}] {wall}: its second corner must lie above its first in x, y and z"
        yield from _paint_problems(f"walls[{index}]", wall)
    for index, slab in enumerate(world.slabs):
        yield from _paint_problems(f"slabs[{index}]", slab)
    for index, ramp in enumerate(world.ramps):
        if ramp.x1 <= ramp.x0 or ramp.y1 <= ramp.y0:
            yield f"ramps[{index}] {ramp}: its second corner must lie above its first in x and y"
        if ramp.along not in ("x", "y"):
            yield f"ramps[{index}] {ramp}: along must be x or y"
        yield from _paint_problems(f"ramps[{index}]", ramp)
    for decal in world.decals:
        yield from _paint_problems(f"decal {decal.id} ({decal.category})", decal)


def _paint_problems(place: str, thing: Wall | Slab | Ramp | Decal) -> Iterator[str]:
    for check, value in ((rgb, thing.color), (material_index, thing.material)):
        try:
            check(value)
        except WorldError as error:
            yield f"{place}: {error}"


def _id_problems(world: World) -> Iterator[str]:
    seen: set[int] = set()
    added = [event.object for event in world.events if event.object is not None]
    numbered: tuple[WorldObject | Decal, ...] = (*world.objects, *world.decals, *added)
    for thing in numbered:
        if not 1 <= thing.id <= MAX_ID:
            yield f"id {thing.id} of a {thing.category} must lie in 1..{MAX_ID}"
        if thing.id in seen:
            yield f"id {thing.id} stands twice, at a {thing.category} too; every object and decal needs its own"
        seen.add(thing.id)
    for thing in world.objects:
        for other in (thing.supported_by, thing.contained_in):
            if other and other not in seen:
                yield f"object {thing.id} ({thing.category}) stands on or in {other}, which does not exist"
    if world.charging_station and world.charging_station not in seen:
        yield f"charging_station is {world.charging_station}, but no object has that id"


def _object_problems(world: World, thing: WorldObject) -> Iterator[str]:
    place = f"object {thing.id} ({thing.category})"
    if not thing.category.strip():
        yield f"object {thing.id}: category is empty"
    if not all(math.isfinite(v) for v in thing.pose):
        yield f"{place}: pose {list(thing.pose)} must be finite x, y, z, yaw"
        return
    try:
        world.shape(thing)
    except WorldError as error:
        yield f"{place}: {error}"
    if thing.pose[2] < -TOLERANCE:
        yield f"{place}: its foot lies {-thing.pose[2]:.2f} m below the floor"


def _event_problems(world: World, event: Event) -> Iterator[str]:
    place = f"event at {event.time} s ({event.kind})"
    if event.kind not in EVENT_KINDS:
        yield f"{place}: kind must be one of {', '.join(EVENT_KINDS)}"
        return
    if not math.isfinite(event.time) or event.time < 0.0:
        yield f"{place}: time must be finite and at least 0"
    if event.kind == "add":
        if event.object is None:
            yield f"{place}: give the object that is added"
        else:
            yield from _object_problems(world, event.object)
        return
    if event.kind == "shift":
        if event.pose is None or not all(math.isfinite(v) for v in event.pose):
            yield f"{place}: give a finite pose x, y, 0, yaw by which localisation jumps"
        return
    if event.kind == "mend":
        return
    if event.kind in ("mute", "unmute"):
        if event.sensor not in SENSORS:
            yield f"{place}: sensor must be one of {', '.join(SENSORS)}"
        return
    if event.kind == "relabel" and not (event.category.strip() and event.caption.strip()):
        yield f"{place}: give the category and the caption that perception shall give"
    known = {t.id for t in world.objects} | {e.object.id for e in world.events if e.object is not None}
    if event.object_id not in known:
        yield f"{place}: there is no object {event.object_id}"
    if event.kind == "move" and (event.pose is None or not all(math.isfinite(v) for v in event.pose)):
        yield f"{place}: give a finite pose x, y, z, yaw to move to"
    if event.kind == "walk":
        finite = all(math.isfinite(v) for point in event.path for v in point)
        if len(event.path) < 2 or not finite or not 0.0 < event.speed < 10.0:
            yield f"{place}: give a path of two points or more and a speed of 0..10 m/s"


def belongs_in_wall(thing: WorldObject) -> bool:
    """Return whether an object may overlap walls: it is mounted or of a category that is built into walls."""
    return thing.mounted or thing.category.split()[-1:] in [[word] for word in IN_WALLS]


def overlaps(world: World, tolerance: float = TOLERANCE) -> Iterator[tuple[int, int]]:
    """Yield pairs of ids (0 = wall) whose meshes overlap by more than `tolerance`.

    Objects may reach into walls by WALL_TOLERANCE, and objects that belong in walls by any depth.

    Two objects also overlap if one encloses the other, unless one stands on or in the other: a box may stand
    between the legs of a table, but not in the body of a sofa.
    """
    things = world.objects
    meshes = [world.placed_mesh(thing) for thing in things]
    ids = [thing.id for thing in things] + [0] * len(world.walls)
    meshes += [wall_mesh(wall) for wall in world.walls]
    low = np.array([m.bounds[0] for m in meshes]).reshape(-1, 3)
    high = np.array([m.bounds[1] for m in meshes]).reshape(-1, 3)
    for i, thing in enumerate(things):
        apart = (low[i + 1 :] > high[i] - tolerance) | (high[i + 1 :] < low[i] + tolerance)
        for j in i + 1 + np.flatnonzero(~apart.any(axis=1)):
            if ids[j] == 0 and belongs_in_wall(thing):
                continue
            if meshes_meet(meshes[i], meshes[j], tolerance if ids[j] else max(tolerance, WALL_TOLERANCE)):
                yield thing.id, ids[j]
            elif ids[j] == 0 or not _related(thing, things[j]):
                within = (low[i] >= low[j]) & (high[i] <= high[j])
                around = (low[i] <= low[j]) & (high[i] >= high[j])
                outer, inner = (j, i) if within.all() else (i, j)
                if (within.all() or around.all()) and shuts_in(meshes[outer], meshes[inner]):
                    yield thing.id, ids[j]


def _related(a: WorldObject, b: WorldObject) -> bool:
    """Return whether one of two objects stands on or in the other."""
    return bool({a.id} & {b.supported_by, b.contained_in} or {b.id} & {a.supported_by, a.contained_in})


def meshes_meet(a: Mesh, b: Mesh, tolerance: float) -> bool:
    """Return whether two surfaces cross after the smaller is shrunk by `tolerance` on all sides."""
    import open3d

    if np.prod(np.subtract(*a.bounds)) < np.prod(np.subtract(*b.bounds)):  # swap so that `a` is the smaller
        a, b = b, a
    low, high = a.bounds
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-6)
    shrunk = middle + (a.vertices - middle) * np.maximum(1.0 - tolerance / half, 0.1)
    legacy = []
    for vertices, triangles in ((shrunk, a.triangles), (b.vertices, b.triangles)):
        legacy.append(
            open3d.geometry.TriangleMesh(
                open3d.utility.Vector3dVector(np.asarray(vertices, np.float64)),
                open3d.utility.Vector3iVector(triangles.astype(np.int32)),
            )
        )
    return bool(legacy[0].is_intersecting(legacy[1]))


def shuts_in(outer: Mesh, inner: Mesh) -> bool:
    """Return whether `outer` encloses `inner`.

    All rays from the middle of `inner` along axes and diagonals must hit `outer`.
    """
    import open3d

    scene = open3d.t.geometry.RaycastingScene()
    scene.add_triangles(np.asarray(outer.vertices, np.float32), np.asarray(outer.triangles, np.uint32))
    ways = np.array([w for w in np.ndindex(3, 3, 3) if w != (1, 1, 1)], np.float32) - 1.0
    low, high = inner.bounds
    middle = np.tile((low + high) / 2, (len(ways), 1)).astype(np.float32)
    return bool(scene.test_occlusions(np.hstack([middle, ways])).numpy().all())


def _name(world: World, object_id: int) -> str:
    if object_id == 0:
        return "a wall"
    thing = world.object(object_id)
    return f"object {thing.id} ({thing.caption} at {thing.pose[0]:.2f}, {thing.pose[1]:.2f})"
