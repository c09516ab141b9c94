"""Whether a world can be: finite numbers, known ids, meshes that exist, nothing inside another thing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lodestar.grid.footprint import footprint_free
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh import Mesh
from lodestar_sim.worlds.palette import material_index, rgb
from lodestar_sim.worlds.structure import wall_mesh
from lodestar_sim.worlds.world import EVENT_KINDS, Decal, Event, World, WorldObject

TOLERANCE = 0.005  # m that two things may overlap
MAX_ID = 65535  # label images have 16 bits


def check_world(world: World) -> None:
    """Returns where the world can be used; raises WorldError with what to change where it cannot."""
    x0, y0, x1, y1 = world.bounds
    if not all(math.isfinite(v) for v in (*world.bounds, *world.start)) or x1 <= x0 or y1 <= y0:
        raise WorldError("bounds must be finite x0, y0, x1, y1 with x0 < x1 and y0 < y1, and start finite")
    _check_ids(world)
    for wall in world.walls:
        if wall.x1 <= wall.x0 or wall.y1 <= wall.y0 or wall.z1 <= wall.z0:
            raise WorldError(f"wall {wall}: its second corner must lie above its first in x, y and z")
        rgb(wall.color), material_index(wall.material)
    for slab in world.slabs:
        rgb(slab.color), material_index(slab.material)
    for decal in world.decals:
        rgb(decal.color), material_index(decal.material)
    for thing in world.objects:
        _check_object(world, thing)
    for event in world.events:
        _check_event(world, event)
    pair = next(overlaps(world), None)
    if pair:
        raise WorldError(f"{_name(world, pair[0])} and {_name(world, pair[1])} overlap; move one of them")
    if not (x0 < world.start[0] < x1 and y0 < world.start[1] < y1):
        raise WorldError(f"start {list(world.start)} lies outside the bounds")
    if not footprint_free(world.truth.grid, world.start):
        raise WorldError(
            f"start {list(world.start)}: the robot does not fit there; 0.70 x 0.32 m must be free"
        )


def _check_ids(world: World) -> None:
    seen: set[int] = set()
    added = [event.object for event in world.events if event.object is not None]
    numbered: tuple[WorldObject | Decal, ...] = (*world.objects, *world.decals, *added)
    for thing in numbered:
        if not 1 <= thing.id <= MAX_ID:
            raise WorldError(f"id {thing.id} of a {thing.category} must lie in 1..{MAX_ID}")
        if thing.id in seen:
            raise WorldError(f"id {thing.id} stands twice; every object and decal needs its own")
        seen.add(thing.id)
    for thing in world.objects:
        for other in (thing.supported_by, thing.contained_in):
            if other and other not in seen:
                raise WorldError(
                    f"object {thing.id} ({thing.category}) stands on or in {other}, which does not exist"
                )
    if world.charging_station and world.charging_station not in seen:
        raise WorldError(f"charging_station is {world.charging_station}, but no object has that id")


def _check_object(world: World, thing: WorldObject) -> None:
    place = f"object {thing.id} ({thing.category})"
    if not thing.category.strip():
        raise WorldError(f"object {thing.id}: category is empty")
    if not all(math.isfinite(v) for v in thing.pose):
        raise WorldError(f"{place}: pose {list(thing.pose)} must be finite x, y, z, yaw")
    try:
        world.shape(thing)
    except WorldError as error:
        raise WorldError(f"{place}: {error}") from error
    if thing.pose[2] < -TOLERANCE:
        raise WorldError(f"{place}: its foot lies {-thing.pose[2]:.2f} m below the floor")


def _check_event(world: World, event: Event) -> None:
    place = f"event at {event.time} s ({event.kind})"
    if event.kind not in EVENT_KINDS:
        raise WorldError(f"{place}: kind must be one of {', '.join(EVENT_KINDS)}")
    if not math.isfinite(event.time) or event.time < 0.0:
        raise WorldError(f"{place}: time must be finite and at least 0")
    if event.kind == "add":
        if event.object is None:
            raise WorldError(f"{place}: give the object that is added")
        _check_object(world, event.object)
        return
    known = {t.id for t in world.objects} | {e.object.id for e in world.events if e.object is not None}
    if event.object_id not in known:
        raise WorldError(f"{place}: there is no object {event.object_id}")
    if event.kind == "move" and (event.pose is None or not all(math.isfinite(v) for v in event.pose)):
        raise WorldError(f"{place}: give a finite pose x, y, z, yaw to move to")
    if event.kind == "walk":
        finite = all(math.isfinite(v) for point in event.path for v in point)
        if len(event.path) < 2 or not finite or not 0.0 < event.speed < 10.0:
            raise WorldError(f"{place}: give a path of two points or more and a speed of 0..10 m/s")


def overlaps(world: World, tolerance: float = TOLERANCE) -> Iterator[tuple[int, int]]:
    """Pairs of ids (0 = wall) that share space by more than `tolerance`, by their meshes.

    Of two things whose boxes overlap while neither stands on or in the other, the meshes must not touch, and
    none may be shut in by the other: a box fits between the legs of a table, not in the body of a sofa.
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
            if meshes_meet(meshes[i], meshes[j], tolerance):
                yield thing.id, ids[j]
            elif ids[j] == 0 or not _related(thing, things[j]):
                within = (low[i] >= low[j]) & (high[i] <= high[j])
                around = (low[i] <= low[j]) & (high[i] >= high[j])
                outer, inner = (j, i) if within.all() else (i, j)
                if (within.all() or around.all()) and shuts_in(meshes[outer], meshes[inner]):
                    yield thing.id, ids[j]


def _related(a: WorldObject, b: WorldObject) -> bool:
    """Whether one stands on or in the other, or both in one compartmented thing."""
    return bool({a.id} & {b.supported_by, b.contained_in} or {b.id} & {a.supported_by, a.contained_in})


def meshes_meet(a: Mesh, b: Mesh, tolerance: float) -> bool:
    """Whether two surfaces cross once the smaller is shrunk by `tolerance` on all sides."""
    import open3d

    if np.prod(np.subtract(*a.bounds)) < np.prod(np.subtract(*b.bounds)):  # both negative: a is the larger
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
    """Whether every way out of the middle of `inner`, along axes and diagonals, meets `outer`."""
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
