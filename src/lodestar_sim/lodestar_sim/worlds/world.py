"""A furnished building: structure, objects and timed events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np

from lodestar.geometry.poses import rotation_z
from lodestar_sim.worlds.elements import Decal, Ramp, Sign, Slab, Wall
from lodestar_sim.worlds.flights import LABEL, Flight
from lodestar_sim.worlds.geometry import Geometry, join
from lodestar_sim.worlds.mesh import Mesh, Shape
from lodestar_sim.worlds.references import load_shape
from lodestar_sim.worlds.structure import decal_mesh, ramp_mesh, slab_mesh, wall_mesh
from lodestar_sim.worlds.terrain import Terrain, is_level

EVENT_KINDS = ("move", "remove", "add", "walk", "relabel", "shift", "mend", "mute", "unmute")
SENSORS = ("camera", "ranges")  # sensors that events can mute
STRUCTURE = 0  # object id of walls, floors and ceilings


@dataclass(frozen=True)
class WorldObject:
    """An object in a world. id: 1..65535. pose: (x, y, z, yaw) of the centre of its base in map; its front faces +x.

    size: (3,) metres along its own axes, filled exactly by its mesh. mesh: "param:shape/variant?key=value" or a
    path relative to the world file. supported_by: id of its support, 0 = floor or wall. contained_in: id of the
    object in whose compartment it stands, 0 = none. sensed: whether camera, LiDAR and scanner see it; False
    for clean glass.
    """

    id: int
    category: str
    caption: str
    color: str
    material: str
    size: tuple[float, float, float]
    mesh: str
    pose: tuple[float, float, float, float]
    supported_by: int = STRUCTURE
    contained_in: int = 0
    movable: bool = False
    mounted: bool = False  # whether it hangs on a wall
    sensed: bool = True

    @property
    def xy(self) -> tuple[float, float]:
        """Return the horizontal position x, y, metres."""
        return self.pose[0], self.pose[1]


@dataclass(frozen=True)
class Room:
    """A room; polygon: outline ((x, y), ...), metres. `label` is plain English ("kitchen")."""

    id: int
    label: str
    polygon: tuple[tuple[float, float], ...]

    @property
    def rect(self) -> tuple[float, float, float, float]:
        """Return the bounding box x0, y0, x1, y1, metres."""
        xs, ys = [p[0] for p in self.polygon], [p[1] for p in self.polygon]
        return min(xs), min(ys), max(xs), max(ys)


@dataclass(frozen=True)
class Event:
    """A change of the world at `time` seconds.

    Kinds: move: to `pose`; remove; add: `object`; walk: along `path` at `speed` m/s; relabel: perception
    reports `category` and `caption` for the object; shift: adds a localisation error `pose` (x, y, 0, yaw), m
    and rad; mend: removes the error; mute, unmute: `sensor` (of SENSORS) stops or resumes.
    """

    time: float
    kind: str
    object_id: int = 0
    pose: tuple[float, float, float, float] | None = None
    object: WorldObject | None = None
    path: tuple[tuple[float, float], ...] = ()
    speed: float = 0.8
    category: str = ""
    caption: str = ""
    sensor: str = ""

    @property
    def end(self) -> float:
        """Return the time at which the event ends, seconds."""
        if self.kind != "walk":
            return self.time
        points = np.asarray(self.path, dtype=np.float64)
        return self.time + float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) / self.speed


@dataclass(frozen=True)
class Storey:
    """One storey of a building: a world whose floor is z = 0, and the height of that floor in the building, metres."""

    height: float
    world: World


@dataclass(frozen=True)
class World:
    """A building in `map`, metres.

    start: (x, y, yaw). bounds: x0, y0, x1, y1. charging_station: object id, 0 = none. storeys: lowest first, empty for
    a single storey; walls, slabs and objects comprise all storeys, rooms and start belong to the lowest.
    """

    name: str
    kind: str
    seed: int
    bounds: tuple[float, float, float, float]
    start: tuple[float, float, float]
    rooms: tuple[Room, ...] = ()
    walls: tuple[Wall, ...] = ()
    slabs: tuple[Slab, ...] = ()
    objects: tuple[WorldObject, ...] = ()
    decals: tuple[Decal, ...] = ()
    events: tuple[Event, ...] = ()
    charging_station: int = 0
    ramps: tuple[Ramp, ...] = ()
    signs: tuple[Sign, ...] = ()
    flights: tuple[Flight, ...] = ()
    storeys: tuple[Storey, ...] = ()
    folder: str = field(default="", compare=False)  # folder that mesh paths are relative to

    @classmethod
    def load(cls, path: str | Path) -> World:
        """Return the world of a JSON file; raises WorldError, which names the problems, if it is not valid."""
        from lodestar_sim.worlds.storage import load_world

        return load_world(path)

    def save(self, path: str | Path) -> None:
        """Write a JSON file at `path`, from which `load` returns an equal world."""
        from lodestar_sim.worlds.storage import save_world

        save_world(self, path)

    @cached_property
    def _by_id(self) -> dict[int, WorldObject]:
        return {thing.id: thing for thing in self.objects}

    @cached_property
    def terrain(self) -> Terrain | None:
        """Return the ground that a robot walks on; None if all of it is level."""
        if self.storeys:
            return self.grounds[0]
        if is_level(self.slabs, self.ramps, self.walls):
            return None
        return Terrain(self.bounds, self.start, self.slabs, self.ramps, self.walls)

    @cached_property
    def grounds(self) -> tuple[Terrain | None, ...]:
        """Return the ground of each storey and its stairs, with heights in the building."""
        if not self.storeys:
            return (self.terrain,)
        slopes = tuple(flight.slope for flight in self.flights)
        return tuple(
            Terrain(
                self.bounds, storey.world.start,
                [replace(slab, z=slab.z + storey.height) for slab in storey.world.slabs], slopes, (),
            )
            for storey in self.storeys
        )  # fmt: skip

    def object(self, object_id: int) -> WorldObject:
        """Return the object with this id as it is at the start; KeyError if there is none."""
        return self._by_id[object_id]

    def shape(self, thing: WorldObject) -> Shape:
        """Return the object's mesh and surfaces in its own frame."""
        return load_shape(thing.mesh, thing.size, thing.color, thing.material, self.folder)

    def placed_mesh(self, thing: WorldObject) -> Mesh:
        """Return the object's mesh in map."""
        return _place(self.shape(thing).mesh, thing.pose)

    def box(self, thing: WorldObject) -> tuple[np.ndarray, np.ndarray]:
        """Return the true axis-aligned box of an object in map: lowest and highest corner, (3,) float64 each."""
        low, high = _place(self.shape(thing).mesh, thing.pose).bounds
        return low.astype(np.float64), high.astype(np.float64)

    def objects_at(
        self, time: float, waited: Mapping[int, float] = MappingProxyType({})
    ) -> tuple[WorldObject, ...]:
        """Return the objects and their poses `time` seconds after the start. waited: s of waiting by walker id."""
        things = dict(self._by_id)
        for event in sorted(self.events, key=lambda e: e.time):
            if event.time > time:
                break
            if event.kind == "remove":
                things.pop(event.object_id, None)
            elif event.kind == "add" and event.object is not None:
                things[event.object.id] = event.object
            elif event.kind == "relabel" and event.object_id in things:
                thing = things[event.object_id]
                things[thing.id] = replace(thing, category=event.category, caption=event.caption)
            elif event.kind in ("move", "walk") and event.object_id in things:
                thing = things[event.object_id]
                walked = time - waited.get(thing.id, 0.0)
                pose = event.pose if event.kind == "move" else _walked(event, walked, thing.pose)
                things[event.object_id] = replace(
                    thing, pose=pose or thing.pose, supported_by=STRUCTURE, contained_in=0
                )
        return tuple(things.values())

    def at(self, time: float) -> World:
        """Return the world as it is at `time` seconds, without events."""
        return replace(self, objects=self.objects_at(time), events=()) if self.events else self

    def muted(self, time: float) -> frozenset[str]:
        """Return the sensors that are silent at `time`."""
        silent: set[str] = set()
        for event in sorted(self.events, key=lambda e: e.time):
            if event.time <= time and event.kind in ("mute", "unmute"):
                (silent.add if event.kind == "mute" else silent.discard)(event.sensor)
        return frozenset(silent)

    def shifts(self, since: float, until: float) -> tuple[Event, ...]:
        """Return the "shift" and "mend" events after `since` and up to `until` seconds."""
        return tuple(e for e in self.events if e.kind in ("shift", "mend") and since < e.time <= until)

    def next_change(self, time: float) -> float:
        """Return the time of the next event; `time` itself while somebody walks; inf if no event follows."""
        ahead = [e.time for e in self.events if e.time > time]
        walking = any(e.kind == "walk" and e.time <= time < e.end for e in self.events)
        return time if walking else min(ahead, default=math.inf)

    def labels(self, time: float = 0.0) -> dict[int, dict[str, str]]:
        """Return id -> {"class", "caption"} of all objects, decals and flights of stairs at `time`."""
        things: tuple[WorldObject | Decal, ...] = (*self.objects_at(time), *self.decals)
        named = {thing.id: {"class": thing.category, "caption": thing.caption} for thing in things}
        return named | {flight.id: {"class": LABEL, "caption": f"gray {LABEL}"} for flight in self.flights}

    def geometry(
        self,
        at_time: float = 0.0,
        *,
        ceiling: bool = True,
        without: frozenset[int] = frozenset(),
        sensed: bool = False,
    ) -> Geometry:
        """Return all triangles at `at_time`, except those of the objects in `without`.

        sensed: only objects visible to the sensors.
        """
        parts = [(STRUCTURE, wall_mesh(wall)) for wall in self.walls]
        parts += [(STRUCTURE, slab_mesh(slab)) for slab in self.slabs if ceiling or not slab.ceiling]
        parts += [(STRUCTURE, ramp_mesh(ramp)) for ramp in self.ramps]
        parts += [(flight.id, flight.mesh()) for flight in self.flights]
        parts += [(decal.id, decal_mesh(decal)) for decal in self.decals if decal.id not in without]
        things = (t for t in self.objects_at(at_time) if t.id not in without and (t.sensed or not sensed))
        parts += [(t.id, self.placed_mesh(t)) for t in things]
        return join(parts)


def _walked(event: Event, time: float, pose: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return the pose (x, y, z, yaw) of a walker at `time`, facing along its path."""
    points = np.asarray(event.path, dtype=np.float64)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    marks = np.concatenate([[0.0], np.cumsum(steps)])
    along = min(max(time - event.time, 0.0) * event.speed, marks[-1])
    index = min(int(np.searchsorted(marks, along, side="right")) - 1, len(steps) - 1)
    fraction = (along - marks[index]) / max(steps[index], 1e-9)
    delta = points[index + 1] - points[index]
    x, y = points[index] + fraction * delta
    return float(x), float(y), pose[2], math.atan2(delta[1], delta[0])


def _place(mesh: Mesh, pose: tuple[float, float, float, float]) -> Mesh:
    rotation = rotation_z(pose[3])
    vertices = (mesh.vertices.astype(np.float64) @ rotation.T + np.array(pose[:3])).astype(np.float32)
    return Mesh(vertices, mesh.triangles, mesh.colors, mesh.materials)
