"""Build a furnished world from a plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from lodestar_sim.worlds.catalogue import CATALOGUE, Category
from lodestar_sim.worlds.elements import Decal
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.flights import Flight
from lodestar_sim.worlds.furnish import Furnisher, Made
from lodestar_sim.worlds.openings import opened, opening_slabs, opening_walls, sills
from lodestar_sim.worlds.plan import Plan
from lodestar_sim.worlds.programs import ANY, PROGRAMS, PlacementRule
from lodestar_sim.worlds.space import RoomSpace
from lodestar_sim.worlds.truth import Truth
from lodestar_sim.worlds.world import World, WorldObject

STATION = "charging station"
STATION_ROOMS = ("hall", "corridor", "reception", "warehouse")
WET_ROOMS = ("bathroom", "kitchen", "kitchenette", "toilets", "corridor", "laundry room", "warehouse", "hall")


@dataclass
class Site:
    """A floor plan that is being furnished. spaces: free floor by room id, created on first use."""

    plan: Plan
    furnisher: Furnisher
    spaces: dict[int, RoomSpace] = field(default_factory=dict)

    @property
    def rng(self) -> np.random.Generator:
        """Return the furnisher's random generator, the only source of randomness."""
        return self.furnisher.rng

    def space(self, room: int) -> RoomSpace:
        """Return the record of a room's free floor, created at the first call."""
        if room not in self.spaces:
            self.spaces[room] = RoomSpace(self.plan, room)
        return self.spaces[room]


def build_world(name: str, kind: str, site: Site, seed: int, ground: frozenset[str] = frozenset()) -> World:
    """Return the furnished building, without objects that cannot be approached and seen.

    ground: features of the floor, any of "stairs" (leading down), "hole" and "sills".
    """
    station = place_station(site)
    found = [
        opened(site.plan, {room: site.space(room) for room in site.plan.labels}, what, site.rng)
        for what in ("stairs", "hole")
        if what in ground
    ]
    for room in site.plan.labels:
        furnish_room(site, room)
    plan = site.plan
    holes = np.logical_or.reduce([one.mask(plan) for one in found]) if found else None
    below = [wall for one in found for wall in opening_walls(plan, one)]
    below += sills(plan) if "sills" in ground else []
    world = World(
        name=name,
        kind=kind,
        seed=seed,
        bounds=plan.bounds,
        start=(0.0, 0.0, 0.0),
        rooms=tuple(plan.outlines()),
        walls=(*plan.walls(), *below),
        slabs=(*plan.slabs(holes), *(slab for one in found for slab in opening_slabs(plan, one))),
        objects=site.furnisher.objects,
    )
    start = _in_front(station) if station else roomiest(plan, site.furnisher.made)
    unlocked = replace(  # objects behind a locked door are checked with the door open
        world,
        start=start,
        charging_station=station.thing.id if station else 0,
        walls=(*plan.unlocked().walls(), *below),
    )
    return _with_decal(replace(prune(unlocked), walls=world.walls), site)


def furnished_storey(
    name: str,
    kind: str,
    site: Site,
    seed: int,
    flight: Flight,
    start: tuple[float, float, float] | None = None,
    holes: np.ndarray | None = None,
) -> World:
    """Return a furnished storey with its floor at z = 0, without objects that cannot be approached and seen.

    start: pose (x, y, yaw) of a robot that enters the storey; None = in front of a new charging station.
    holes: (rows, columns) bool on the plan, cells without floor.
    """
    plan, station = site.plan, place_station(site) if start is None else None
    for room in plan.labels:
        furnish_room(site, room)
    world = World(
        name=name,
        kind=kind,
        seed=seed,
        bounds=plan.bounds,
        start=start or (_in_front(station) if station else roomiest(plan, site.furnisher.made)),
        rooms=tuple(plan.outlines()),
        walls=tuple(plan.walls()),
        slabs=tuple(plan.slabs(holes)),
        objects=site.furnisher.objects,
        charging_station=station.thing.id if station else 0,
        flights=(flight,),
    )
    return prune(world) if start is not None else _with_decal(prune(world), site)


def furnish_room(site: Site, room: int) -> None:
    """Place the objects of the room's furnishing program, as far as they fit."""
    space, placed = site.space(room), dict[str, list[Made]]()
    for put in PROGRAMS.get(space.label, ()):
        if site.rng.random() >= put.chance:
            continue
        low, high = put.count
        share = space.area / 10.0 if put.per_area else 1.0
        number = min(round(int(site.rng.integers(low, high + 1)) * share), 40)
        for _ in range(number):
            made = _place(site, space, put, placed)
            if made:
                placed.setdefault(put.key or put.name, []).append(made)


def _place(site: Site, space: RoomSpace, put: PlacementRule, placed: dict[str, list[Made]]) -> Made | None:
    furnisher, rng = site.furnisher, site.rng
    name = put.name
    if name == ANY:
        choices = _at_home(space.label, ("top", "shelf") if put.how == "on" else ("shelf",))
        name = choices[int(rng.integers(len(choices)))].name
    thing = furnisher.design(name, word=put.word)
    if put.how in ("wall", "corner"):
        return furnisher.against_wall(space, thing, corner=put.how == "corner")
    if put.how in ("centre", "free"):
        return furnisher.free_standing(space, thing, centre=put.how == "centre")
    if put.how == "rows":
        return furnisher.in_rows(space, thing)
    if put.how == "mount":
        return furnisher.mount(space, thing, CATALOGUE[name].mount_height)
    anchors = [made for key in put.of.split("|") for made in placed.get(key, [])]
    if not anchors:
        return None
    for index in rng.permutation(len(anchors))[:4]:
        made = _relate(furnisher, space, put.how, thing, anchors[int(index)])
        if made:
            return made
    return None


def _relate(
    furnisher: Furnisher, space: RoomSpace, how: str, thing: WorldObject, anchor: Made
) -> Made | None:
    if how == "before":
        return furnisher.before(space, thing, anchor)
    if how == "beside":
        return furnisher.beside(space, thing, anchor)
    if how == "around":
        return furnisher.around(space, thing, anchor)
    return furnisher.put_on(thing, anchor)


def _at_home(label: str, places: tuple[str, ...]) -> list[Category]:
    """Return the categories of small objects that belong in a room with this label."""
    kinds = [c for c in CATALOGUE.values() if c.place in places and max(c.size_high) <= 0.4]
    return [c for c in kinds if label in c.rooms] or [c for c in kinds if not c.rooms]


def place_station(site: Site) -> Made | None:
    """Place and return the charging station, with free floor in front of it; None if no room has space."""
    plan = site.plan
    order = sorted(plan.labels, key=lambda r: (plan.labels[r] not in STATION_ROOMS, -site.space(r).area))
    for room in order[:4]:
        made = site.furnisher.against_wall(site.space(room), site.furnisher.design(STATION))
        if made:
            x, y, _ = _in_front(made)
            site.space(room).keep_clear((x - 0.5, y - 0.5, x + 0.5, y + 0.5))
            return made
    return None


def _in_front(station: Made) -> tuple[float, float, float]:
    """Return the pose of a robot that has just left the station."""
    x, y, _, yaw = station.thing.pose
    away = station.thing.size[0] / 2 + 0.55
    return round(x + away * np.cos(yaw), 3), round(y + away * np.sin(yaw), 3), yaw


def prune(world: World) -> World:
    """Return the world without objects that the robot cannot approach and see, and those standing on them.

    Only poses that the robot can reach from the world's start count.
    """
    for _ in range(3):
        truth = Truth(world)
        lost = {thing.id for thing in world.objects if not len(truth.views(thing))}
        lost.discard(world.charging_station)
        if not lost:
            return world
        before = -1
        while before != len(lost):
            before = len(lost)
            lost |= {t.id for t in world.objects if t.supported_by in lost}
        world = replace(world, objects=tuple(t for t in world.objects if t.id not in lost))
    return world


def _with_decal(world: World, site: Site) -> World:
    """Return the world with a puddle on free floor of a suitable room, clear of doorways, if there is space."""
    rooms = [r for r, label in site.plan.labels.items() if label in WET_ROOMS]
    for index in site.rng.permutation(len(rooms)):
        space = site.space(rooms[int(index)])
        x0, y0, x1, y1 = space.rect
        for _ in range(30):
            size = (round(site.rng.uniform(0.6, 0.9), 2), round(site.rng.uniform(0.5, 0.8), 2))
            x, y = round(site.rng.uniform(x0, x1), 2), round(site.rng.uniform(y0, y1), 2)
            box = (x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2)
            if space.fits(box) and np.hypot(x - world.start[0], y - world.start[1]) > 1.2:
                decal = Decal(
                    site.furnisher.new_id(), "wet floor", "wet floor", "#7fa8c9", "water", (x, y), size
                )
                return replace(world, decals=(decal,))
    return world


def roomiest(plan: Plan, made: list[Made]) -> tuple[float, float, float]:
    """Return a start pose (x, y, yaw) clear of obstacles and near the middle, heading along the longer side.

    Raises WorldError if no free place is 0.9 m wide.
    """
    x0, y0, x1, y1 = plan.bounds
    free = np.kron(plan.free & (plan.rooms > 0), np.ones((2, 2), np.uint8)).astype(np.uint8)
    res = (x1 - x0) / free.shape[1]
    for entry in made:
        columns = [int((v - x0) / res) for v in (entry.box[0], entry.box[2])]
        rows = [int((v - y0) / res) for v in (entry.box[1], entry.box[3])]
        free[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1] = 0
    distance = np.minimum(cv2.distanceTransform(np.pad(free, 1), cv2.DIST_L2, 5)[1:-1, 1:-1] * res, 0.8)
    down, along = np.indices(free.shape)
    away = np.hypot(down - free.shape[0] / 2, along - free.shape[1] / 2) * res
    row, column = np.unravel_index(int(np.argmax(distance - 0.02 * away)), free.shape)
    if distance[row, column] < 0.45:
        raise WorldError("the building has no free place of 0.9 m width for the robot's start")
    yaw = 0.0 if x1 - x0 >= y1 - y0 else round(np.pi / 2, 6)
    return round(x0 + (column + 0.5) * res, 3), round(y0 + (row + 0.5) * res, 3), yaw
