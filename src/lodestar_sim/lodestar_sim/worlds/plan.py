"""Floor plans on a lattice, and their walls, floors and ceilings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room

CELL = 0.1  # metres, cell size of plans; walls, rooms and doors align to it


@dataclass(frozen=True)
class Door:
    """An opening between two rooms: rectangle x0, y0, x1, y1 in the wall, metres. along: the wall's axis."""

    rect: tuple[float, float, float, float]
    along: str
    rooms: tuple[int, int]
    locked: bool = False
    lintel: bool = True  # the wall continues above the opening

    @property
    def center(self) -> tuple[float, float]:
        """Return the middle of the opening."""
        return (self.rect[0] + self.rect[2]) / 2, (self.rect[1] + self.rect[3]) / 2


@dataclass
class Plan:
    """Rooms on a lattice. rooms: (rows, columns) uint16, 0 = solid or opening, else the room's id.

    free: (rows, columns) bool, cells without wall, openings included. origin: (x, y) of cell (0, 0)'s corner.
    labels: room id -> label. finishes: room id -> floor (colour, material).
    """

    rooms: np.ndarray
    free: np.ndarray
    origin: tuple[float, float]
    labels: dict[int, str]
    doors: list[Door] = field(default_factory=list)
    finishes: dict[int, tuple[str, str]] = field(default_factory=dict)
    wall_colors: tuple[str, ...] = ("white",)
    ceiling: float = 2.6  # metres, height of rooms
    lintel: float = 2.1  # metres, height of an opening

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Return the bounding box x0, y0, x1, y1, metres."""
        rows, columns = self.free.shape
        x, y = self.origin
        return x, y, round(x + columns * CELL, 3), round(y + rows * CELL, 3)

    @classmethod
    def empty(cls, width: int, depth: int) -> Plan:
        """Return a plan without rooms, `width` x `depth` cells about the origin of `map`."""
        shape = (depth, width)
        origin = (round(-CELL * (width // 2), 3), round(-CELL * (depth // 2), 3))
        return cls(np.zeros(shape, np.uint16), np.zeros(shape, bool), origin, {})

    def carve(self, label: str, column: int, row: int, width: int, depth: int) -> int:
        """Add a room of `width` x `depth` cells whose lowest cell is (row, column); returns its id."""
        room = len(self.labels) + 1
        self.rooms[row : row + depth, column : column + width] = room
        self.free[row : row + depth, column : column + width] = True
        self.labels[room] = label
        return room

    def open(
        self, column: int, row: int, width: int, depth: int, rooms: tuple[int, int], locked: bool = False
    ) -> None:
        """Add a doorway through a wall; a locked one stays solid."""
        x, y = self.origin
        rect = (
            round(x + column * CELL, 3),
            round(y + row * CELL, 3),
            round(x + (column + width) * CELL, 3),
            round(y + (row + depth) * CELL, 3),
        )
        self.doors.append(Door(rect, "x" if width > depth else "y", rooms, locked))
        if not locked:
            self.free[row : row + depth, column : column + width] = True

    def unlocked(self) -> Plan:
        """Return the plan with every door open."""
        opened = replace(
            self, free=self.free.copy(), doors=[replace(door, locked=False) for door in self.doors]
        )
        for door in self.doors:
            opened.free[self._cells(door)] = True
        return opened

    def _cells(self, door: Door) -> tuple[slice, slice]:
        """Return the slices of rows and columns of a door's opening."""
        (x, y), (x0, y0, x1, y1) = self.origin, door.rect
        return slice(round((y0 - y) / CELL), round((y1 - y) / CELL)), slice(
            round((x0 - x) / CELL), round((x1 - x) / CELL)
        )

    def is_free(self, x: float, y: float) -> bool:
        """Return whether a point (metres) lies in a room or a doorway."""
        column, row = int((x - self.origin[0]) // CELL), int((y - self.origin[1]) // CELL)
        rows, columns = self.free.shape
        return bool(0 <= row < rows and 0 <= column < columns and self.free[row, column])

    def close(self, door: Door) -> None:
        """Make the door's opening solid."""
        self.free[self._cells(door)] = False

    def rectangle(self, column: int, row: int, width: int, depth: int) -> tuple[float, float, float, float]:
        """Return x0, y0, x1, y1, metres, of a rectangle of cells."""
        x, y = self.origin
        return (
            round(x + column * CELL, 3),
            round(y + row * CELL, 3),
            round(x + (column + width) * CELL, 3),
            round(y + (row + depth) * CELL, 3),
        )

    def walls(self) -> list[Wall]:
        """Return wall boxes around all free space, and lintels above the openings."""
        near = _dilate(self.free, 2)
        walls = [
            Wall(*self.rectangle(*r), 0.0, self.ceiling, self.wall_colors[0], "plaster")
            for r in rectangles(near & ~self.free)
        ]
        for door in self.doors:
            if door.locked:
                walls.append(Wall(*_shrunk(door), 0.0, self.lintel, "brown", "wood"))
            elif door.lintel:
                walls.append(Wall(*door.rect, self.lintel, self.ceiling, self.wall_colors[0], "plaster"))
        return walls

    def slabs(self, holes: np.ndarray | None = None) -> list[Slab]:
        """Return the floors of all rooms and one ceiling. holes: (rows, columns) bool, cells without floor."""
        solid = np.ones(self.free.shape, bool) if holes is None else ~holes
        slabs = [Slab(*self.rectangle(*r), -0.002, "gray", "concrete") for r in rectangles(solid)]
        for room in self.labels:
            color, material = self.finishes.get(room, ("beige", "wood"))
            floor = rectangles((self.rooms == room) & solid)
            slabs += [Slab(*self.rectangle(*r), 0.0, color, material) for r in floor]
        slabs.append(Slab(*self.bounds, self.ceiling, "white", "plaster", ceiling=True))
        return slabs

    def outlines(self) -> list[Room]:
        """Return the rooms with their outlines."""
        return [Room(room, label, self._outline(room)) for room, label in self.labels.items()]

    def _outline(self, room: int) -> tuple[tuple[float, float], ...]:
        import cv2

        mask = np.kron(self.rooms == room, np.ones((2, 2))).astype(np.uint8)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        contour = max(contours, key=cv2.contourArea)[:, 0, :].astype(np.float64)
        x, y = self.origin
        middle = contour.mean(axis=0)  # extend the outline to the far edge of each pixel
        contour += np.where(contour > middle, 1.0, 0.0)
        return tuple((round(x + c * CELL / 2, 3), round(y + r * CELL / 2, 3)) for c, r in contour)


def rectangles(mask: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Return disjoint rectangles (column, row, width, depth) that cover a mask (rows, columns) bool.

    Runs of True cells that are equal in consecutive rows form one rectangle.
    """
    found: list[tuple[int, int, int, int]] = []
    running: dict[tuple[int, int], int] = {}
    for row in range(mask.shape[0] + 1):
        runs: set[tuple[int, int]] = set()
        if row < mask.shape[0]:
            edges = np.flatnonzero(np.diff(np.concatenate([[0], mask[row].astype(np.int8), [0]])))
            runs = {(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])}
        for run in [r for r in running if r not in runs]:
            start = running.pop(run)
            found.append((run[0], start, run[1] - run[0], row - start))
        for run in runs:
            running.setdefault(run, row)
    return sorted(found)


def _dilate(mask: np.ndarray, cells: int) -> np.ndarray:
    import cv2

    kernel = np.ones((2 * cells + 1, 2 * cells + 1), np.uint8)
    return cv2.dilate(mask.astype(np.uint8), kernel).astype(bool)


def _shrunk(door: Door) -> tuple[float, float, float, float]:
    """Return x0, y0, x1, y1 of a locked door's leaf, thicker than the wall and so visible from both sides."""
    x0, y0, x1, y1 = door.rect
    return (x0, y0 - 0.01, x1, y1 + 0.01) if door.along == "x" else (x0 - 0.01, y0, x1 + 0.01, y1)
