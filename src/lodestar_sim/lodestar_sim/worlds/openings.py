"""Openings in the floor (descending stairs, holes), and sills in doorways."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.plan import CELL, Plan
from lodestar_sim.worlds.space import RoomSpace

RISE = 0.17  # m, height of a step of stairs (DIN 18065)
TREAD = 3  # cells, depth of a step
STEPS = 8
STAIRS = (12, TREAD * STEPS)  # cells, width and length of a flight
HOLE = (9, 12)  # cells, sides of a hole
HOLE_DEPTH = 1.5  # m below the floor
SILL = 0.03  # m, height of a door sill
WALK_AROUND = 9  # cells kept free between an opening and a doorway


@dataclass(frozen=True)
class Opening:
    """A rectangle of cells without floor. down: (columns, rows), direction in which stairs descend; (0, 0) = hole."""

    column: int
    row: int
    width: int
    depth: int
    down: tuple[int, int] = (0, 0)

    def rect(self, plan: Plan) -> tuple[float, float, float, float]:
        """Return the opening's rectangle x0, y0, x1, y1, metres."""
        return plan.rectangle(self.column, self.row, self.width, self.depth)

    def mask(self, plan: Plan) -> np.ndarray:
        """Return the opening's cells, (rows, columns) bool on the plan's lattice."""
        mask = np.zeros(plan.free.shape, bool)
        mask[self.row : self.row + self.depth, self.column : self.column + self.width] = True
        return mask

    def treads(self, plan: Plan) -> list[tuple[tuple[float, float, float, float], float]]:
        """Return the treads, or a hole's bottom: ((x0, y0, x1, y1), height) in metres, highest first."""
        if self.down == (0, 0):
            return [(self.rect(plan), -HOLE_DEPTH)]
        along_x = self.down[0] != 0
        length = self.width if along_x else self.depth
        found = []
        for step in range(length // TREAD):
            first = step * TREAD if sum(self.down) > 0 else length - (step + 1) * TREAD
            if along_x:
                cells = (self.column + first, self.row, TREAD, self.depth)
            else:
                cells = (self.column, self.row + first, self.width, TREAD)
            found.append((plan.rectangle(*cells), round(-RISE * (step + 1), 3)))
        return found


def opening_slabs(plan: Plan, opening: Opening) -> list[Slab]:
    """Return the floor slabs of the treads, or of the bottom of a hole."""
    return [Slab(*rect, z, "gray", "concrete") for rect, z in opening.treads(plan)]


def opening_walls(plan: Plan, opening: Opening) -> list[Wall]:
    """Return the walls below the floor: the sides of the shaft, and the risers."""
    x0, y0, x1, y1 = opening.rect(plan)
    treads, thin = opening.treads(plan), 0.02
    bottom = treads[-1][1] - 0.05
    sides = [
        (x0 - thin, y0 - thin, x0, y1 + thin), (x1, y0 - thin, x1 + thin, y1 + thin),
        (x0, y0 - thin, x1, y0), (x0, y1, x1, y1 + thin),
    ]  # fmt: skip
    walls = [Wall(*side, bottom, -0.003, "gray", "concrete") for side in sides]
    for (rect, z), (_, below) in itertools.pairwise(treads):
        walls.append(Wall(*rect, below, z - 0.001, "gray", "concrete"))
    return walls


def opened(plan: Plan, spaces: dict[int, RoomSpace], kind: str, rng: np.random.Generator) -> Opening:
    """Place an opening ("stairs", "hole") in one of the largest rooms and return it; its cells stay unfurnished.

    All doors of the room stay connected. Raises WorldError if no room has enough space.
    """
    for room in sorted(plan.labels, key=lambda r: -int((plan.rooms == r).sum()))[:4]:
        space = spaces[room]
        rows, columns = np.nonzero(plan.rooms == room)
        for _ in range(200):
            opening = _drawn(
                kind,
                rng,
                (int(columns.min()), int(columns.max()) + 1),
                (int(rows.min()), int(rows.max()) + 1),
            )
            if opening is None or not (plan.rooms[opening.mask(plan)] == room).all():
                continue
            box = opening.rect(plan)
            if not space.fits(box):
                continue
            space.block(box)
            if space.walkable().any() and space.reachable([box], space.walkable()):
                return opening
            space.unblock(box)
    raise WorldError(f"no room of this building has the place for {kind}; take another seed")


def _drawn(
    kind: str, rng: np.random.Generator, columns: tuple[int, int], rows: tuple[int, int]
) -> Opening | None:
    """Return a random opening within a room's columns and rows, away from its walls; None if the room is too small."""
    down = (0, 0)
    width, depth = (int(v) for v in rng.integers(HOLE[0], HOLE[1] + 1, 2))
    if kind == "stairs":
        down = ((1, 0), (-1, 0), (0, 1), (0, -1))[int(rng.integers(4))]
        width, depth = STAIRS[::-1] if down[0] else STAIRS
    spare_x, spare_y = columns[1] - columns[0] - width, rows[1] - rows[0] - depth
    if spare_x < WALK_AROUND or spare_y < WALK_AROUND:
        return None
    column = int(columns[0] + rng.integers(0, spare_x + 1))
    row = int(rows[0] + rng.integers(0, spare_y + 1))
    return Opening(column, row, width, depth, down)


def sills(plan: Plan) -> list[Wall]:
    """Return a sill of 3 cm across every open doorway."""
    doors = [door for door in plan.doors if not door.locked]
    return [Wall(*_middle(door.rect, door.along), -0.001, SILL, "brown", "wood") for door in doors]


def _middle(rect: tuple[float, float, float, float], along: str) -> tuple[float, float, float, float]:
    """Return a strip of one cell across the middle of a doorway."""
    x0, y0, x1, y1 = rect
    if along == "x":
        middle = round((y0 + y1) / 2.0, 3)
        return x0, middle - CELL / 2.0, x1, middle + CELL / 2.0
    middle = round((x0 + x1) / 2.0, 3)
    return middle - CELL / 2.0, y0, middle + CELL / 2.0, y1
