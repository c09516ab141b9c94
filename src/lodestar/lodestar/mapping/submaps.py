"""The submaps of a map's blocks, so that a loop closure moves each with its part of the way (ADR 0095).

A map has one content per block, as it is read. While the robot drives on, a block that was begun more than a submap
ago is copied before it is changed again. The copies and the content differ by what one submap has seen each; after a
loop closure these differences are moved apart and added.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numba import njit

from lodestar.geometry.map_correction import MapCorrection, displacement
from lodestar.mapping.blocks import CELLS, SIDE
from lodestar.mapping.cell_packs import CellPack
from lodestar.mapping.voxel_kernels import cell

# copies of blocks beyond which the oldest are dropped; chosen: 40 MB of log-odds
MOST = 32_768
_TOGETHER = 64  # rows that are copied in one call of numpy; chosen: others get their turn in between


class Copy(NamedTuple):
    """Copy of a block as a submap saw it: the serial number of its node, and the row in packs, of each array one."""

    serial: int
    packs: tuple[CellPack, ...]
    row: int


class BlockSubmaps:
    """For each block of a pool the node at which its content was begun, and its copies. tags: (capacity,) int32, serial
    number of the node + 1, 0 = not known. copies: by place, the oldest first.
    empty: what is in a cell that nobody saw.
    """

    def __init__(self, capacity: int, empty: float, most: int = MOST) -> None:
        self.tags = np.zeros(capacity, np.int32)
        self.copies: OrderedDict[int, list[Copy]] = OrderedDict()
        self._empty, self._most, self._count = empty, most, 0
        self._found = np.empty((2, 1024), np.int32)

    def copied(self) -> BlockSubmaps:
        """Return a copy without its tags; contents are shared, and never change."""
        copy = BlockSubmaps(0, self._empty, self._most)
        copy.copies = OrderedDict((place, list(kept)) for place, kept in self.copies.items())
        copy._count = self._count
        return copy

    def begun_before(self, voxels: np.ndarray, serial: int, submap: int) -> tuple[np.ndarray, np.ndarray]:
        """Note that voxels (N,) int64, place * CELLS + cell, are about to change at a node; return the places (B,) of
        those blocks that were begun before a submap, and the nodes (B,) at which they were; they begin anew.

        serial, submap: of the trajectory.
        """
        if self._found.shape[1] < len(self.tags):
            self._found = np.empty((2, len(self.tags)), np.int32)
        count = _begin(voxels, self.tags, serial + 1, submap + 1, self._found)
        return self._found[0, :count], self._found[1, :count]

    def keep(self, places: np.ndarray, serials: np.ndarray, *contents: np.ndarray) -> None:
        """Keep blocks at places (B,) as they were at the end of their submaps. contents: (B, 512, ...) each."""
        packs = tuple(CellPack(one, self._empty) for one in contents)
        for row, (place, serial) in enumerate(zip(places.tolist(), serials.tolist())):
            self.copies.setdefault(place, []).append(Copy(serial, packs, row))
        self._count += len(places)
        while self._count > self._most:
            _, dropped = self.copies.popitem(last=False)
            self._count -= len(dropped)

    def told_apart(self, correction: MapCorrection, coords: np.ndarray, side: float, within: float) -> Sides:
        """Return what several submaps have seen of the blocks that these move apart, by more than `within` metres.

        correction: seen from the frame of the blocks. coords: (capacity, 3). side: of a block, metres.
        """
        kept = list(self.copies.items())
        if not kept:
            return Sides(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool), [])
        counts = np.array([len(copies) + 1 for _, copies in kept])
        places = np.repeat(np.array([place for place, _ in kept], np.int64), counts)
        nodes = [
            serial for place, copies in kept for serial in (*(c.serial for c in copies), self.tags[place] - 1)
        ]
        serials = np.array(nodes, np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        ends = displacement(correction.of_serials(serials), (coords[places] + 0.5) * side)
        gaps = np.linalg.norm(ends - np.repeat(ends[starts], counts, axis=0), axis=1)
        apart = np.maximum.reduceat(gaps, starts) > within
        rows, first = np.repeat(apart, counts), np.zeros(len(places), bool)
        first[starts] = True
        contents = [copies for (_, copies), yes in zip(kept, apart) if yes]
        return Sides(places[rows], serials[rows], first[rows], contents)

    def drop(self, place: int) -> None:
        """Forget the copies of a block."""
        self._count -= len(self.copies.pop(place, ()))

    def clear(self) -> None:
        """Forget all copies; what is there belongs to no known node."""
        self.tags[:] = 0
        self.copies.clear()
        self._count = 0

    @property
    def memory(self) -> int:
        """Return the number of copies."""
        return self._count


@dataclass(frozen=True)
class Sides:
    """Contents of blocks by K submaps, block by block, the oldest first. places, serials: (K,), of the block and the
    node; first: (K,) bool, of its block. copies: of each block all contents but the newest, which the pool has.
    """

    places: np.ndarray
    serials: np.ndarray
    first: np.ndarray
    copies: list[list[Copy]]

    @property
    def blocks(self) -> np.ndarray:
        """Return the places (B,) of the blocks."""
        return self.places[self.first]

    def states(self, *newest: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return (K, ...) each of what `keep` was given; newest: (B, ...) each, of the blocks in the pool.

        Some rows at a time: as one call of numpy it would keep other threads waiting for tenths of a second.
        """
        found = tuple(np.empty((len(self.places), *one.shape[1:]), one.dtype) for one in newest)
        is_newest = np.roll(self.first, -1)
        last_rows = np.flatnonzero(is_newest)
        for start in range(0, len(last_rows), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            for one, last in zip(found, newest):
                one[last_rows[part]] = last[part]
        there = np.flatnonzero(~is_newest).tolist()
        of_packs: dict[int, list[tuple[int, Copy]]] = {}
        for row, copy in zip(there, chain.from_iterable(self.copies)):
            of_packs.setdefault(id(copy.packs), []).append((row, copy))
        for members in of_packs.values():
            rows = np.array([copy.row for _, copy in members])
            at = np.array([row for row, _ in members])
            for pack, one in zip(members[0][1].packs, found):
                pack.write(rows, one, at)
        return found

    def before(self, offset: int) -> np.ndarray:
        """Return (K,) int64 the row of the state before each of the same block, -1 = it is the first; `offset` rows lie
        before all of them.
        """
        rows = np.arange(len(self.places)) + offset - 1
        return np.where(self.first, -1, rows)


@njit(cache=True, nogil=True)
def _begin(voxels, tags, tag, submap, found):
    """Tag the blocks of voxels, place * CELLS + cell; list those of an older submap with the nodes that they had."""
    count, last = 0, np.int64(-1)
    for n in range(len(voxels)):
        block = voxels[n] >> 9
        if block == last:
            continue
        last = block
        if tags[block] == 0:
            tags[block] = tag
        elif tags[block] < submap:
            found[0, count], found[1, count] = block, tags[block] - 1
            count += 1
            tags[block] = tag
    return count


assert CELLS == 1 << 9


def is_still(moves: np.ndarray) -> np.ndarray:
    """Return (N,) bool: which of moves (N, 4, 4) move nothing."""
    return np.asarray((moves == np.eye(4)).all(axis=(1, 2)))


@njit(cache=True, nogil=True, inline="always")
def bounds(coords, move, resolution, low, high):
    """Write the first and last voxel that a moved block may reach; move: (4, 4), metres."""
    half = SIDE * resolution / 2.0
    for a in range(3):
        middle, reach = move[a, 3], 0.0
        for b in range(3):
            middle += move[a, b] * (coords[b] * SIDE * resolution + half)
            reach += abs(move[a, b]) * half
        low[a] = math.floor((middle - reach) / resolution)
        high[a] = math.floor((middle + reach) / resolution)


@njit(cache=True, nogil=True, inline="always")
def is_planar(move):
    """Return whether a move (4, 4) keeps the vertical."""
    return max(abs(move[2, 0]), abs(move[2, 1]), abs(move[0, 2]), abs(move[1, 2])) < 1e-9


@njit(cache=True, nogil=True, inline="always")
def source_levels(coords, move, resolution, low, high, levels):
    """Write for voxels at heights low to high the level 0 to 7 of a block from which they come by a planar move (4, 4),
    metres; -1 = none of the block.
    """
    for z in range(low, high + 1):
        k = math.floor(((z + 0.5) * resolution - move[2, 3]) / resolution + 1e-9)
        levels[z - low] = k & 7 if k >> 3 == coords[2] else -1


@njit(cache=True, nogil=True, inline="always")
def source_column(coords, move, resolution, x, y):
    """Return the lowest cell of a block's column from which column (x, y) comes by a planar move (4, 4); -1 = none."""
    u, v = (x + 0.5) * resolution - move[0, 3], (y + 0.5) * resolution - move[1, 3]
    i = math.floor((move[0, 0] * u + move[1, 0] * v) / resolution)
    j = math.floor((move[0, 1] * u + move[1, 1] * v) / resolution)
    return cell(i, j, 0) if i >> 3 == coords[0] and j >> 3 == coords[1] else -1


@njit(cache=True, nogil=True, inline="always")
def source_cell(coords, move, resolution, x, y, z):
    """Return the cell of a block from which voxel (x, y, z) comes by a move (4, 4), metres; -1 = none of the block."""
    u, v, w = (
        (x + 0.5) * resolution - move[0, 3],
        (y + 0.5) * resolution - move[1, 3],
        (z + 0.5) * resolution - move[2, 3],
    )
    i = math.floor((move[0, 0] * u + move[1, 0] * v + move[2, 0] * w) / resolution)
    j = math.floor((move[0, 1] * u + move[1, 1] * v + move[2, 1] * w) / resolution)
    k = math.floor((move[0, 2] * u + move[1, 2] * v + move[2, 2] * w) / resolution)
    if i >> 3 != coords[0] or j >> 3 != coords[1] or k >> 3 != coords[2]:
        return -1
    return cell(i, j, k)


def cells_after(
    rows: np.ndarray, moves: np.ndarray, first: np.ndarray, resolution: float, weight: np.ndarray
) -> np.ndarray:
    """Return for each cell the flat index of the cell that has moved there, (rows, columns) int64, -1 = none.

    rows: (rows, columns) int32, the move of each cell, -1 = there is nothing. moves: (N, 4, 4), in map. first: (column,
    row) of cell (0, 0), in multiples of the resolution. weight: (rows, columns); of several, the largest counts.
    """
    return _cells_after(
        rows, np.ascontiguousarray(moves), np.asarray(first, np.int64), resolution, weight.astype(np.float32)
    )


@njit(cache=True, nogil=True)
def _cells_after(which, moves, first, resolution, weight):
    rows, columns = which.shape
    came = np.full((rows, columns), -1, np.int64)
    for row in range(rows):
        for column in range(columns):
            k = which[row, column]
            if k < 0:
                continue
            m, own = moves[k], weight[row, column]
            for part in range(
                5
            ):  # the middles of its quarters, so that no cell between two is left out; the middle
                du, dv = 0.5, 0.5
                if part < 4:
                    du, dv = 0.25 + 0.5 * (part % 2), 0.25 + 0.5 * (part // 2)
                x, y = (column + first[0] + du) * resolution, (row + first[1] + dv) * resolution
                to_column = math.floor((m[0, 0] * x + m[0, 1] * y + m[0, 3]) / resolution) - first[0]
                to_row = math.floor((m[1, 0] * x + m[1, 1] * y + m[1, 3]) / resolution) - first[1]
                if not (0 <= to_row < rows and 0 <= to_column < columns):
                    continue
                other = came[to_row, to_column]
                if other < 0 or own > weight[other // columns, other % columns]:
                    came[to_row, to_column] = row * columns + column
    return came
