"""Trials of the room belief: partly seen buildings of annotated rooms, each with one hidden object."""

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

CELL = 0.4  # metres, side of a cell; as in `BeliefConfig`
GAP = 6.0  # metres between two rooms of a mixed building
SEEN = 0.5  # share of the objects that count as seen
ROOMS = 6  # number of rooms in a building composed of scanned rooms
#: Structural parts and placeholder labels, which are never search targets.
PLAIN = frozenset(
    {"wall", "floor", "ceiling", "object", "door", "doors", "doorframe", "window", "windowsill", "ledge", "unknown",
     "structure", "pillar", "column", "board", "tube", "bar", "seat", "closet wall", "shower walls"}
)  # fmt: skip


@dataclass(frozen=True)
class AnnotatedRoom:
    """Objects of a room with their true labels, and its floor: least and greatest corner, (2,) each, metres."""

    things: tuple[Entity, ...]
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Trial:
    """Search trial: an object labelled `target` is hidden at `place` (2,), metres, in room number `room`.

    rooms: all rooms of the building. seen: the objects already seen, per room.
    """

    target: str
    place: np.ndarray
    room: int
    rooms: tuple[AnnotatedRoom, ...]
    seen: tuple[tuple[Entity, ...], ...]


@dataclass(frozen=True)
class Told:
    """Probabilities that a room belief gives for the target's place in a trial with K rooms.

    rooms: (K,) probability per room. room: index of the true room. cell: probability of the true grid cell.
    cells: number of grid cells in all rooms. even: share of these cells that lie in the true room.
    """

    rooms: np.ndarray
    room: int
    cell: float
    cells: int
    even: float


def scanned_rooms(entities: dict[str, dict[int, Entity]]) -> list[AnnotatedRoom]:
    """Return one room per scan, ordered by the scans' names."""
    found = []
    for scan in sorted(entities):
        things = tuple(entities[scan].values())
        low = np.min([thing.box_min[:2] for thing in things], axis=0)
        high = np.max([thing.box_max[:2] for thing in things], axis=0)
        found.append(AnnotatedRoom(things, low, high))
    return found


def world_rooms(world: World) -> list[AnnotatedRoom]:
    """Return the rooms of a simulated building with their objects; empty rooms are left out."""
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
    """Yield `count` trials in buildings composed of randomly drawn rooms, `GAP` metres apart."""
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
    """Return a trial whose target lies in room number `where` and has a label that no seen object has.

    Returns None if the room has no suitable object.
    """
    options = [thing for thing in rooms[where].things if thing.label not in PLAIN]
    if not options:
        return None
    target = options[int(rng.integers(len(options)))]
    seen = tuple(
        tuple(t for t in room.things if t.label != target.label and rng.random() < SEEN) for room in rooms
    )
    return Trial(target.label, target.mean[:2], where, tuple(rooms), seen)


def tell(trial: Trial, belief: RoomBelief) -> Told:
    """Return the belief's probabilities, normalised over the grid cells inside the trial's rooms."""
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
