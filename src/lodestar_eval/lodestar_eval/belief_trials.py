"""Buildings of annotated rooms of which a part was seen, and what the room belief says of a hidden thing in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lodestar.experts.protocol import ProposalRequest
from lodestar.experts.room_belief import RoomBelief
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, Region, SceneDelta
from lodestar.scene.regions import RegionMap, label_region

if TYPE_CHECKING:
    from lodestar_sim.reference_truth import Scene
    from lodestar_sim.worlds.world import World, WorldObject

CELL = 0.4  # metres of a cell; the lattice of `BeliefConfig`
GAP = 6.0  # metres between rooms that are no neighbours
SEEN = 0.5  # share of the things that were seen
ROOMS = 6  # of a building that is made of scanned rooms
#: Parts of the building, and words for anything: nobody is sent for them.
PLAIN = frozenset(
    {"wall", "floor", "ceiling", "object", "door", "doors", "doorframe", "window", "windowsill", "ledge", "unknown",
     "structure", "pillar", "column", "board", "tube", "bar", "seat", "closet wall", "shower walls"}
)  # fmt: skip


@dataclass(frozen=True)
class AnnotatedRoom:
    """The things of a room, by their true labels, and its floor (least and greatest corner, (2,) each, metres)."""

    things: tuple[Entity, ...]
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Trial:
    """A thing called `target` is hidden at `place` (2,) in `room`. rooms: of the building. seen: per room."""

    target: str
    place: np.ndarray
    room: int
    rooms: tuple[AnnotatedRoom, ...]
    seen: tuple[tuple[Entity, ...], ...]


@dataclass(frozen=True)
class Told:
    """Probabilities that a belief gives in a trial. rooms: (K,) per room. room: the true one. cell: of the true cell,
    cells: their number. even: probability of the true room by area alone.
    """

    rooms: np.ndarray
    room: int
    cell: float
    cells: int
    even: float


def scanned_rooms(entities: dict[str, dict[int, Entity]]) -> list[AnnotatedRoom]:
    """Return the rooms of a scan each, by name."""
    found = []
    for scan in sorted(entities):
        things = tuple(entities[scan].values())
        low = np.min([thing.box_min[:2] for thing in things], axis=0)
        high = np.max([thing.box_max[:2] for thing in things], axis=0)
        found.append(AnnotatedRoom(things, low, high))
    return found


def world_rooms(world: World) -> list[AnnotatedRoom]:
    """Return the rooms of a simulated building with their things."""
    from lodestar_sim.reference_truth import Scene

    scene = Scene(world)
    found = []
    for room in world.rooms:
        x0, y0, x1, y1 = room.rect
        things = tuple(_entity(scene, thing) for thing in scene.things if scene.rooms[thing.id] == room.id)
        if things:
            found.append(AnnotatedRoom(things, np.array([x0, y0]), np.array([x1, y1])))
    return found


def _entity(scene: Scene, thing: WorldObject) -> Entity:
    low, high = scene.boxes[thing.id]
    return Entity(
        id=thing.id, label=thing.category, caption=thing.caption, mean=(low + high) / 2.0,
        covariance=np.diag(((high - low) / 4.0) ** 2), box_min=low, box_max=high,
    )  # fmt: skip


def mixed_trials(rooms: Sequence[AnnotatedRoom], count: int, rng: np.random.Generator) -> Iterator[Trial]:
    """Yield trials in buildings of rooms that are drawn at random and stand apart."""
    while count > 0:
        chosen = [rooms[int(k)] for k in rng.choice(len(rooms), min(ROOMS, len(rooms)), replace=False)]
        left, placed = 0.0, []
        for room in chosen:
            placed.append(_moved(room, np.array([left, 0.0]) - room.low))
            left += float((room.high - room.low)[0]) + GAP
        trial = hide(placed, int(rng.integers(len(placed))), rng)
        if trial is not None:
            count -= 1
            yield trial


def hide(rooms: Sequence[AnnotatedRoom], where: int, rng: np.random.Generator) -> Trial | None:
    """Return a trial with a thing of this room that nobody saw any of its kind of; None if there is none."""
    options = [thing for thing in rooms[where].things if thing.label not in PLAIN]
    if not options:
        return None
    target = options[int(rng.integers(len(options)))]
    seen = tuple(
        tuple(t for t in room.things if t.label != target.label and rng.random() < SEEN) for room in rooms
    )
    return Trial(target.label, target.mean[:2], where, tuple(rooms), seen)


def tell(trial: Trial, belief: RoomBelief) -> Told:
    """Return what the belief says if all of the floor may hide the target and there is no other floor."""
    low = np.min([room.low for room in trial.rooms], axis=0) - CELL
    high = np.max([room.high for room in trial.rooms], axis=0) + CELL
    columns, rows = np.ceil((high - low) / CELL).astype(int) + 1
    grid = OccupancyGrid2D(np.zeros((rows, columns), np.int8), CELL, (float(low[0]), float(low[1])))
    mask = np.zeros((rows, columns), np.int64)
    for number, room in enumerate(trial.rooms, start=1):
        (top, left), (bottom, right) = grid.cells_of(np.stack([room.low, room.high]))
        mask[top : bottom + 1, left : right + 1] = number
    found = belief.over(_request(trial.target), grid, _scene(trial, mask, grid))
    weights = np.ones(mask.shape) if found is None else found.weights.astype(np.float64)
    mass = np.where(mask > 0, weights, 0.0)
    mass /= mass.sum()
    row, column = grid.cells_of(trial.place)
    shares = np.array([mass[mask == number].sum() for number in range(1, len(trial.rooms) + 1)])
    own, cells = int((mask == trial.room + 1).sum()), int((mask > 0).sum())
    return Told(shares, trial.room, max(float(mass[row, column]), 1e-12), cells, own / cells)


def _scene(trial: Trial, mask: np.ndarray, grid: OccupancyGrid2D) -> SceneMirror:
    things: list[Entity] = []
    regions: dict[int, Region] = {}
    for number, (room, seen) in enumerate(zip(trial.rooms, trial.seen), start=1):
        for thing in seen:
            things.append(replace(thing, id=len(things) + 1, region_id=number))
        label, weight = label_region(seen)
        area = float(np.prod(room.high - room.low))
        regions[number] = Region(number, label, weight, area, (room.low + room.high) / 2.0)
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(things)))
    rooms = RegionMap(CELL)
    rooms.set_mask(mask, grid.origin, CELL)
    rooms.regions = regions
    mirror.regions, mirror.rooms = regions, rooms
    return mirror


def _request(target: str) -> ProposalRequest:
    item = Item(((QueryGraph((QueryVariable(target, target),)),),))
    directive = Directive(f"find the {target}", (Step(StepKind.FIND, item),))
    return ProposalRequest(1, 0.0, directive, 0, np.zeros(3))


def _moved(room: AnnotatedRoom, shift: np.ndarray) -> AnnotatedRoom:
    step = np.array([*shift, 0.0])
    things = tuple(
        replace(t, mean=t.mean + step, box_min=t.box_min + step, box_max=t.box_max + step)
        for t in room.things
    )
    return AnnotatedRoom(things, room.low + shift, room.high + shift)
