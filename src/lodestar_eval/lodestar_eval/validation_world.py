"""Hall with many objects, and action traces about them: consistent ones, and ones with a known fault."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.grid.energy import EnergyBudget
from lodestar.grid.footprint import footprints_free
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.worldmodel.records import (
    Action,
    Belief,
    Expectation,
    Phase,
    Skill,
    Trace,
    TraceError,
    entity_name,
    region_name,
)
from lodestar_eval.crowded_scenes import crowd

_SIDE = 40.0  # m, side of the hall
_RESOLUTION = 0.1  # m, cell of its grid
_NEAR = 1.5  # m between objects that a trace calls near; the validator allows 2.0
_BELIEFS = 5  # number of beliefs in a trace
_STAMP = 100.0  # s, stamp of every trace


@dataclass
class ValidationWorld:
    """Implements `worldmodel.validation.World`. cells: (x, y) of a 2-D cell -> ids of the objects in it."""

    entities: dict[int, Entity]
    regions: dict[int, Region]
    grid: OccupancyGrid2D | None
    pose: np.ndarray | None
    energy: EnergyBudget = field(default_factory=EnergyBudget)
    charger: np.ndarray | None = None
    map_id: int = 1
    cells: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    places: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))  # (N, 2) places that the robot fits

    def record(self, entity_id: int) -> Entity | None:
        """Return the entity with this id, None if unknown."""
        return self.entities.get(entity_id)

    def region(self, region_id: int) -> Region | None:
        """Return the region with this id, None if unknown."""
        return self.regions.get(region_id)


def make_world(size: int, kinds: int, rng: np.random.Generator) -> ValidationWorld:
    """Return a hall with `size` objects at random places; one is archived and one on another floor.

    The hall has pillars, and a closed closet that no path leads into.
    """
    things = {}
    for number, entity in enumerate(crowd(size, kinds, rng).values(), 1):
        centre = np.append(rng.uniform(1.0, _SIDE - 1.0, 2), 0.4)
        half = np.array([0.2, 0.2, 0.4])
        things[number] = replace(
            entity, id=number, mean=centre, covariance=np.eye(3) * 0.01, box_min=centre - half, box_max=centre + half,
            region_id=1, state=EntityState.ACTIVE, map_id=1,
        )  # fmt: skip
    things[1] = replace(things[1], state=EntityState.ARCHIVED)
    things[2] = replace(things[2], map_id=2)
    cells = np.full((round(_SIDE / _RESOLUTION),) * 2, FREE, np.int8)
    cells[[0, -1], :] = cells[:, [0, -1]] = OCCUPIED
    for row, column in rng.integers(20, len(cells) - 20, (100, 2)):
        cells[row : row + 3, column : column + 3] = OCCUPIED
    cells[10:41, 10:41] = OCCUPIED
    cells[12:39, 12:39] = FREE  # the closet
    keep_out = np.zeros(cells.shape, bool)
    keep_out[-60:-20, -60:-20] = True
    grid = OccupancyGrid2D(cells, _RESOLUTION, (0.0, 0.0), keep_out=keep_out)
    region = Region(1, "hall", 1.0, _SIDE**2, np.full(2, _SIDE / 2))
    world = ValidationWorld(things, {1: region}, grid, np.array([20.0, 20.0, 0.0]))
    for identity, entity in things.items():
        if identity > 2:
            world.cells.setdefault(_cell(entity.mean), []).append(identity)
    places = np.column_stack([rng.uniform(6.0, _SIDE - 7.0, (4000, 2)), np.zeros(4000)])
    clear = grid.clearance[tuple(grid.cells_of(places[:, :2]).T)] > 0.5
    world.places = places[clear & footprints_free(grid, places), :2]
    return world


def _cell(place: np.ndarray) -> tuple[int, int]:
    return math.floor(place[0]), math.floor(place[1])


def trace_of(world: ValidationWorld, rng: np.random.Generator) -> Trace:
    """Return a consistent trace: go to an object, which the beliefs identify by the objects near it."""
    while True:
        target = int(rng.integers(3, len(world.entities) + 1))
        around = _around(world, target)
        place = world.places[rng.integers(len(world.places))]
        if around or len(world.entities) < 1000:
            break
    names = [entity_name(i) for i in around[:_BELIEFS]]
    about = entity_name(target)
    beliefs = [Belief("Near", (about, name)) for name in names] or [
        Belief("InRegion", (about, region_name(1)))
    ]
    return Trace(
        id="x-t1",
        epoch=1,
        stamp=_STAMP,
        proposer="benchmark",
        action=Action(Skill.GO_TO, (about,), _facing(place, world.entities[target])),
        expectation=Expectation(Phase.AT, about, (Belief("InRegion", (about, region_name(1))),), (target,)),
        confidence=0.7,
        beliefs=tuple(beliefs),
    )


def _facing(place: np.ndarray, thing: Entity) -> np.ndarray:
    offset = thing.mean[:2] - place
    return np.array([place[0], place[1], math.atan2(offset[1], offset[0])])


def _around(world: ValidationWorld, identity: int) -> list[int]:
    thing = world.entities[identity]
    column, row = _cell(thing.mean)
    near = [i for dx in (-1, 0, 1) for dy in (-1, 0, 1) for i in world.cells.get((column + dx, row + dy), ())]
    return [i for i in near if i != identity and np.linalg.norm(world.entities[i].mean - thing.mean) < _NEAR]


def spoiled(trace: Trace, world: ValidationWorld, rng: np.random.Generator) -> tuple[Trace, int]:
    """Return the trace with one fault, and the code of that fault."""
    fault, code = _FAULTS[int(rng.integers(len(_FAULTS)))]
    return fault(trace, world), int(code)


def _with_goal(trace: Trace, goal: tuple[float, float, float]) -> Trace:
    return replace(trace, action=Action(Skill.GO_TO, (), np.array(goal)))


def _about(trace: Trace, identity: int) -> Trace:
    return replace(trace, expectation=replace(trace.expectation, visible=(identity,)))


def _contradicted(trace: Trace, world: ValidationWorld) -> Trace:
    """Return the trace with the belief that two objects on opposite sides are near each other."""
    ids = list(world.entities)[2:]
    places = np.array([world.entities[i].mean[0] for i in ids])
    names = entity_name(ids[int(places.argmin())]), entity_name(ids[int(places.argmax())])
    return replace(trace, beliefs=(*trace.beliefs, Belief("Near", names)))


_FAULTS: tuple[tuple[Callable[[Trace, ValidationWorld], Trace], TraceError], ...] = (
    (lambda trace, world: replace(trace, confidence=math.nan), TraceError.MALFORMED),
    (lambda trace, world: replace(trace, stamp=_STAMP - 100.0), TraceError.STALE),
    (lambda trace, world: _about(trace, 10**7), TraceError.UNKNOWN_ENTITY),
    (lambda trace, world: _about(trace, 1), TraceError.ARCHIVED),
    (lambda trace, world: _about(trace, 2), TraceError.OTHER_FLOOR),
    (lambda trace, world: _with_goal(trace, (0.05, 20.0, 0.0)), TraceError.UNREACHABLE),
    (lambda trace, world: _with_goal(trace, (2.5, 2.5, 0.0)), TraceError.UNREACHABLE),  # a goal in the closet
    (lambda trace, world: _with_goal(trace, (36.0, 36.0, 0.0)), TraceError.CONSTRAINT_VIOLATED),
    (_contradicted, TraceError.INCONSISTENT),
)
